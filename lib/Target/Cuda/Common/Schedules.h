//===- Schedules.h - Schedules of kernels for all GPUs ----------*- C++ -*-===//
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
/// The vendor's GEMM, for plain contractions.
class CublasGemmAttr : public ScheduleOf<CublasGemmAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;
  static CublasGemmAttr get(mlir::MLIRContext *context);
};

/// One pass over rows that stay in registers.
class CudaRowAttr : public ScheduleOf<CudaRowAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getRows() const { return getSize(1); }
};

/// One pass over elements.
class CudaPointwiseAttr
    : public ScheduleOf<CudaPointwiseAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getVector() const { return getSize(1); }
};

/// One pass over tiles that pass through shared memory.
class CudaTileAttr
    : public ScheduleOf<CudaTileAttr, int64_t, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getRows() const { return getSize(0); }
  int64_t getColumns() const { return getSize(1); }
  int64_t getThreads() const { return getSize(2); }
};

/// Thin products by plain multiplications.
class CudaThinAttr : public ScheduleOf<CudaThinAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getLanes() const { return getSize(0); }
  int64_t getSplits() const { return getSize(1); }
};

/// Many rows times few filters, whose sums are in registers.
class CudaThinRowsAttr : public ScheduleOf<CudaThinRowsAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getRows() const { return getSize(0); }
  int64_t getTerms() const { return getSize(1); }
};

/// Running reductions in one or two passes.
class CudaScanAttr : public ScheduleOf<CudaScanAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getLanes() const { return getSize(0); }
  int64_t getSplits() const { return getSize(1); }
};

/// Sorting networks in registers, and merges.
class CudaSortAttr : public ScheduleOf<CudaSortAttr, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getTile() const { return getSize(0); }
  int64_t getItems() const { return getSize(1); }
};

/// The first places of rows, by counts of digits.
class CudaSelectAttr
    : public ScheduleOf<CudaSelectAttr, int64_t, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getRows() const { return getSize(1); }
  int64_t getSplits() const { return getSize(2); }
};

/// Whether a reduction keeps its operands on the chip.
enum class ReductionOperands { read, held, shared };

/// Reductions over any dimension.
class CudaReductionAttr : public ScheduleOf<CudaReductionAttr, int64_t, int64_t,
                                            int64_t, ReductionOperands> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getColumns() const { return getSize(0); }
  int64_t getLanes() const { return getSize(1); }
  int64_t getSplits() const { return getSize(2); }
  bool isHeld() const {
    return ReductionOperands(getSize(3)) == ReductionOperands::held;
  }
  bool isShared() const {
    return ReductionOperands(getSize(3)) == ReductionOperands::shared;
  }
};

/// Windows of neighboring elements.
class CudaWindowsAttr
    : public ScheduleOf<CudaWindowsAttr, int64_t, int64_t, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getThreads() const { return getSize(0); }
  int64_t getVector() const { return getSize(1); }
  int64_t getColumns() const { return getSize(2); }
  int64_t getRows() const { return getSize(3); }
};

/// How a scatter finds the updates of a row.
enum class ScatterMethod { search, last, sort };

/// Rows and the updates that go to them.
class CudaScatterAttr
    : public ScheduleOf<CudaScatterAttr, ScatterMethod, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  ScatterMethod getMethod() const { return ScatterMethod(getSize(0)); }
  int64_t getChunk() const { return getSize(1); }
};

/// Plain kernels for any region.
class CudaGenericAttr : public ScheduleOf<CudaGenericAttr> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SCHEDULES_H
