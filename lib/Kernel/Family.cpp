//===- Family.cpp - A family of kernels, and its plan of a region ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Family.h"

using namespace mlir;
using namespace fact;

Plan::~Plan() = default;
Family::~Family() = default;

LogicalResult Plan::check(ScheduleAttr schedule, EmitError emitError) const {
  ArrayRef<const ScheduleKind *> kinds = family.getScheduleKinds();
  if (llvm::is_contained(kinds, schedule.getKind())) {
    if (failed(schedule.checkValues(emitError)))
      return failure();
    return checkLimits(schedule, emitError);
  }
  InFlightDiagnostic diagnostic = emitError()
                                  << "'" << family.getRule().name << "' on '"
                                  << machine.name << "' takes ";
  llvm::interleave(
      kinds, [&](const ScheduleKind *kind) { diagnostic << kind->name; },
      [&] { diagnostic << " or "; });
  return diagnostic << " schedules, not " << schedule.getKind()->name;
}

bool Plan::isLegal(ScheduleAttr schedule) const {
  return succeeded(check(schedule, Silence(fused)));
}

/// The best of the legal schedules, the first of equals.
static std::optional<Plan::Prediction>
findBestOf(const Plan &plan, ArrayRef<ScheduleAttr> schedules) {
  std::optional<Plan::Prediction> best;
  for (ScheduleAttr schedule : schedules) {
    if (!plan.isLegal(schedule))
      continue;
    double microseconds = plan.predict(schedule);
    if (!best || microseconds < best->microseconds)
      best = Plan::Prediction{schedule, microseconds};
  }
  return best;
}

std::optional<Plan::Prediction> Plan::findBest(SpaceAttrInterface space) const {
  return findBestOf(*this, space.enumerate());
}

std::optional<Plan::Prediction> Plan::findBest() const {
  if (auto chosen = fused.getSchedule())
    return findBestOf(*this, cast<ScheduleAttr>(*chosen));
  auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                : getSpace();
  std::vector<ScheduleAttr> schedules = space.enumerate();
  llvm::append_range(schedules, getFixedSchedules());
  return findBestOf(*this, schedules);
}

LogicalResult Plan::checkSpace(SpaceAttrInterface space,
                               EmitError emitError) const {
  Location loc = fused->getLoc();
  std::string reason;
  {
    ScopedDiagnosticHandler handler(loc.getContext(), [&](Diagnostic &why) {
      reason = why.str();
      return success();
    });
    auto isLegal = [&](ScheduleAttr schedule) {
      return succeeded(check(schedule, [&] {
        return mlir::emitError(loc) << schedule.getKey() << ": ";
      }));
    };
    SpaceAttrInterface usual = getSpace();
    SpaceAttrInterface searched = space ? space : usual;
    if (llvm::any_of(searched.enumerate(), isLegal) ||
        (searched == usual && llvm::any_of(getFixedSchedules(), isLegal)))
      return success();
  }
  return emitError() << "its space has no legal schedule"
                     << (reason.empty() ? "" : "; last tried ") << reason;
}

LogicalResult fact::requireElements(FusedOp fused, EmitError emitError) {
  auto check = [&](Type type) -> LogicalResult {
    auto tensor = cast<RankedTensorType>(type);
    if (!tensor.hasStaticShape())
      return emitError() << "needs static shapes, not " << tensor;
    if (tensor.getNumElements() == 0)
      return emitError() << "needs tensors with elements, not " << tensor
                         << "; --canonicalize removes empty tensors";
    return success();
  };
  for (Type type : fused.getInputs().getTypes())
    if (failed(check(type)))
      return failure();
  for (Operation &op : fused.getBodyOps())
    for (Type type : op.getResultTypes())
      if (failed(check(type)))
        return failure();
  return success();
}
