//===- Sm80Schedules.h - Schedules of sm_80's GEMMs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H
#define FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// The units that multiply: matrix units, or those of f32.
enum class GemmMath { mma, simt };

/// A GEMM of warps that copy their tiles asynchronously.
class Sm80GemmAttr : public ScheduleOf<Sm80GemmAttr, Extents, Extents, int64_t,
                                       int64_t, GemmMath> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  Extents getWarps() const { return getValues()[1]; }
  int64_t getStages() const { return getSize(2); }
  int64_t getSplitK() const { return getSize(3); }
  bool isSimt() const { return GemmMath(getSize(4)) == GemmMath::simt; }
  int64_t getThreads() const { return 32 * getWarps()[0] * getWarps()[1]; }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM80SCHEDULES_H
