//===- Spaces.h - Spaces from lists of words ----------------------*- C++ -*-===//

#ifndef FACT_AGENT_SPACES_H
#define FACT_AGENT_SPACES_H

#include "Chat/Answer.h"
#include "fact/Target/Target.h"

namespace fact {
/// The lists of a space that is a product, in the words of its text; empty for
/// one that is not.
chat::SpaceLists getLists(SpaceAttrInterface space);

/// Of all spaces of an answer together: more would take longer to check than to
/// search.
constexpr size_t maxPointsOfAnswer = 1 << 16;

/// The points of a space, legal or not, without making them.
size_t countPoints(SpaceAttrInterface space);

/// `base` with lists replaced. The words are checked by the attribute's own
/// parser and go nowhere else; a product beyond some thousands is refused.
mlir::FailureOr<SpaceAttrInterface> replaceLists(SpaceAttrInterface base,
                                                 const chat::SpaceLists &lists,
                                                 EmitError emitError);

/// The schedules that differ from `schedule` in one parameter, by the value
/// before or after it in the lists of `space`.
llvm::SmallVector<ScheduleAttrInterface>
getNeighbours(ScheduleAttrInterface schedule, SpaceAttrInterface space);

/// The schedules that differ from `schedule` in one number, which is halved or
/// doubled, whether or not `space` has it.
llvm::SmallVector<ScheduleAttrInterface>
getStepsAway(ScheduleAttrInterface schedule, SpaceAttrInterface space);

/// The lists of `space` with the values of one schedule.
chat::SpaceLists getPoint(SpaceAttrInterface space,
                          ScheduleAttrInterface schedule);

/// The schedule of a key, as bundles and registries keep it; null: not one.
ScheduleAttrInterface parseSchedule(mlir::MLIRContext *context,
                                    llvm::StringRef key);

/// The name of a space's family of schedules: "sm90_gemm".
llvm::StringRef getFamily(SpaceAttrInterface space);
} // namespace fact

#endif // FACT_AGENT_SPACES_H
