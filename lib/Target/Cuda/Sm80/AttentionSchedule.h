//===- AttentionSchedule.h - Schedules of sm_80's attention -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM80_ATTENTIONSCHEDULE_H
#define FACT_LIB_TARGET_CUDA_SM80_ATTENTIONSCHEDULE_H

#include "fact/Kernel/ScheduleOf.h"

namespace fact {
/// An attention by mma.sync.
class Sm80AttentionAttr
    : public ScheduleOf<Sm80AttentionAttr, Extents, int64_t, int64_t, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  Extents getTile() const { return getValues()[0]; }
  int64_t getWarps() const { return getSize(1); }
  int64_t getStages() const { return getSize(2); }
  int64_t getSplits() const { return getSize(3); }

  /// Bands of 16 queries per warp, or 0 if the queries do not divide so.
  int64_t getBands() const {
    int64_t rows = 16 * getWarps();
    return getTile()[0] % rows ? 0 : getTile()[0] / rows;
  }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM80_ATTENTIONSCHEDULE_H
