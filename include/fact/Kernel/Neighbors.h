//===- Neighbors.h - Schedules near a schedule ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_KERNEL_NEIGHBORS_H
#define FACT_KERNEL_NEIGHBORS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// The schedules that differ from `schedule` in one parameter, by the value
/// before or after it in the lists of `space`.
llvm::SmallVector<ScheduleAttr> getNeighbors(ScheduleAttr schedule,
                                             SpaceAttrInterface space);

/// The schedules that differ from `schedule` in one number, which is halved or
/// doubled, whether or not `space` has it.
llvm::SmallVector<ScheduleAttr> getStepsAway(ScheduleAttr schedule,
                                             SpaceAttrInterface space);

/// Parses a schedule's key, as bundles and the registry store it; null:
/// invalid.
ScheduleAttr parseSchedule(mlir::MLIRContext *context, llvm::StringRef key);
} // namespace fact

#endif // FACT_KERNEL_NEIGHBORS_H
