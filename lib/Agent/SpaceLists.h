//===- SpaceLists.h - Spaces from lists of words ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_SPACELISTS_H
#define FACT_AGENT_SPACELISTS_H

#include "Chat/Answer.h"
#include "fact/Kernel/Target.h"

namespace fact {
/// The lists of a space that is a product, in the words of its text; empty for
/// one that is not.
chat::SpaceLists getLists(SpaceAttrInterface space);

/// Of all spaces of an answer together: more would take longer to check than to
/// search.
constexpr size_t maxPointsOfAnswer = 1 << 16;

/// The points of a space, legal or not, without making them.
size_t countPoints(SpaceAttrInterface space);

/// `base` with lists replaced. Words that the parameters do not know are
/// refused, as is a product beyond some thousands.
mlir::FailureOr<SpaceAttrInterface> replaceLists(SpaceAttrInterface base,
                                                 const chat::SpaceLists &lists,
                                                 EmitError emitError);

/// The lists of `space` with the values of one schedule.
chat::SpaceLists getPoint(SpaceAttrInterface space, ScheduleAttr schedule);
} // namespace fact

#endif // FACT_AGENT_SPACELISTS_H
