//===- SpaceLists.h - Spaces from lists of words ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_SPACELISTS_H
#define FACT_AGENT_SPACELISTS_H

#include "Chat/Answer.h"
#include "fact/Kernel/Target.h"

namespace fact {
/// The lists of a product space, as text; empty for a list of schedules.
chat::SpaceLists getLists(SpaceAttrInterface space);

/// Limit on the points of all spaces of an answer: checking more would take
/// longer than searching them.
constexpr size_t maxPointsOfAnswer = 1 << 16;

/// The number of points of a space, legal or not, without enumerating them.
size_t countPoints(SpaceAttrInterface space);

/// `base` with lists replaced. Unknown parameters and values are errors, as is
/// a product of more than some thousand points.
mlir::FailureOr<SpaceAttrInterface> replaceLists(SpaceAttrInterface base,
                                                 const chat::SpaceLists &lists,
                                                 EmitError emitError);

/// The lists of `space`, each reduced to the value of one schedule.
chat::SpaceLists getPoint(SpaceAttrInterface space, ScheduleAttr schedule);
} // namespace fact

#endif // FACT_AGENT_SPACELISTS_H
