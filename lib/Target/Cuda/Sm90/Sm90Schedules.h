//===- Sm90Schedules.h - Schedules of Hopper's kernels ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM90SCHEDULES_H
#define FACT_LIB_TARGET_CUDA_SM90SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// How consumer warpgroups share a tile; in the order of the parameter's words.
enum class KernelSchedule { cooperative, pingpong, stream_k };

/// A warp-specialized Hopper GEMM.
class Sm90GemmAttr : public ScheduleOf<Sm90GemmAttr, Extents, Extents,
                                       KernelSchedule, int64_t> {
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
};

/// A warp-specialized Hopper attention.
class Sm90AttentionAttr
    : public ScheduleOf<Sm90AttentionAttr, Extents, KernelSchedule, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  KernelSchedule getKernel() const { return KernelSchedule(getSize(1)); }
  int64_t getStages() const { return getSize(2); }
};

/// An attention of strict f32 by wgmma.
class Sm90StrictAttentionAttr
    : public ScheduleOf<Sm90StrictAttentionAttr, Extents, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  int64_t getStages() const { return getSize(1); }
  int64_t getSplits() const { return getSize(2); }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM90SCHEDULES_H
