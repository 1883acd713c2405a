//===- Sm80Schedules.h - Schedules of mma.sync kernels ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H
#define FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// A GEMM of warps that multiply by mma.sync.
class Sm80GemmAttr
    : public ScheduleOf<Sm80GemmAttr, Extents, Extents, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  Extents getWarps() const { return getValues()[1]; }
  int64_t getStages() const { return getSize(2); }
  int64_t getSplitK() const { return getSize(3); }
  int64_t getThreads() const { return 32 * getWarps()[0] * getWarps()[1]; }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H
