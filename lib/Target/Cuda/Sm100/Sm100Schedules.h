//===- Sm100Schedules.h - Schedules of Blackwell's kernels ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM100SCHEDULES_H
#define FACT_LIB_TARGET_CUDA_SM100SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// How many multiprocessors multiply together; in the order of the parameter's
/// words.
enum class Sm100Kernel { one_sm, two_sm };

/// A GEMM through tcgen05.
class Sm100GemmAttr
    : public ScheduleOf<Sm100GemmAttr, Extents, Extents, Sm100Kernel, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  Extents getCluster() const { return getValues()[1]; }
  bool isPaired() const {
    return Sm100Kernel(getSize(2)) == Sm100Kernel::two_sm;
  }
  int64_t getSwizzle() const { return getSize(3); }
  Sm100GemmAttr withSwizzle(int64_t swizzle) const {
    return llvm::cast<Sm100GemmAttr>(with(3, {swizzle}));
  }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM100SCHEDULES_H
