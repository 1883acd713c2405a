//===- Schedules.h - Schedules of CUDA kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each class reads the parameters of one kind of schedule by name; `kind` is
// the table that declares them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TARGET_CUDA_SCHEDULES_H
#define FACT_LIB_TARGET_CUDA_SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// How consumer warpgroups share a tile; in the order of the parameter's words.
enum class KernelSchedule { cooperative, pingpong, stream_k };

/// A warp-specialized Hopper GEMM.
class Sm90GemmAttr : public ScheduleOf<Sm90GemmAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  Extents getCluster() const { return getValues()[1]; }
  KernelSchedule getKernel() const { return KernelSchedule(getSize(2)); }
  int64_t getSwizzle() const { return getSize(3); }
  Sm90GemmAttr withSwizzle(int64_t swizzle) const {
    return llvm::cast<Sm90GemmAttr>(with(3, {swizzle}));
  }

  static SpaceAttr getSpace(mlir::MLIRContext *context,
                            llvm::ArrayRef<Extents> tiles,
                            llvm::ArrayRef<Extents> clusters,
                            llvm::ArrayRef<KernelSchedule> kernels,
                            llvm::ArrayRef<int64_t> swizzles);
};

/// The vendor's GEMM, for plain contractions.
class CublasGemmAttr : public ScheduleOf<CublasGemmAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;
  static CublasGemmAttr get(mlir::MLIRContext *context);
};

/// A warp-specialized Hopper attention.
class Sm90AttentionAttr : public ScheduleOf<Sm90AttentionAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  KernelSchedule getKernel() const { return KernelSchedule(getSize(1)); }
  int64_t getStages() const { return getSize(2); }

  static SpaceAttr getSpace(mlir::MLIRContext *context,
                            llvm::ArrayRef<Extents> tiles,
                            llvm::ArrayRef<KernelSchedule> kernels,
                            llvm::ArrayRef<int64_t> stages);
};

/// One pass over rows that stay in registers.
class CudaRowAttr : public ScheduleOf<CudaRowAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getRows() const { return getSize(1); }

  static SpaceAttr getSpace(mlir::MLIRContext *context,
                            llvm::ArrayRef<int64_t> threads,
                            llvm::ArrayRef<int64_t> rows);
};

/// One pass over elements.
class CudaPointwiseAttr : public ScheduleOf<CudaPointwiseAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getVector() const { return getSize(1); }

  static SpaceAttr getSpace(mlir::MLIRContext *context,
                            llvm::ArrayRef<int64_t> threads,
                            llvm::ArrayRef<int64_t> vectors);
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SCHEDULES_H
