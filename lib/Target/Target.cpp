//===- Target.cpp - The target for a machine ------------------------------===//

#include "fact/Target/Target.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fact;

LogicalResult Realiser::checkSchedule(FusedOp fused,
                                      ScheduleAttrInterface schedule,
                                      const MachineDescription &machine,
                                      EmitError emitError) const {
  // A schedule of another family may be legal for the region, and yet it is
  // not one that this realiser reads.
  SmallVector<ScheduleAttrInterface> own = getFixedSchedules(fused);
  if (SpaceAttrInterface space = getDefaultSpace(fused))
    llvm::append_range(own, space.enumerate());
  if (llvm::none_of(own, [&](ScheduleAttrInterface known) {
        return known.getTypeID() == schedule.getTypeID();
      })) {
    auto family = [](ScheduleAttrInterface attr) {
      return StringRef(attr.getAbstractAttribute().getName())
          .rsplit('.')
          .second;
    };
    InFlightDiagnostic diagnostic = emitError() << "'" << getRule() << "' on '"
                                                << machine.name << "' takes ";
    llvm::SmallSetVector<StringRef, 4> families;
    for (ScheduleAttrInterface known : own)
      families.insert(family(known));
    llvm::interleave(families, diagnostic, " or ");
    diagnostic << " schedules, not " << family(schedule);
    // A vendor's library is among them for some regions.
    std::string reason;
    ScopedDiagnosticHandler handler(fused.getContext(), [&](Diagnostic &why) {
      reason = why.str();
      return success();
    });
    if (failed(schedule.verifySchedule(
            fused, machine, [&] { return mlir::emitError(fused.getLoc()); })))
      diagnostic << "; " << family(schedule) << " " << reason;
    return diagnostic;
  }
  return schedule.verifySchedule(fused, machine, emitError);
}

std::unique_ptr<Target> fact::createTarget(const MachineDescription &machine) {
  return machine.isHost() ? createHostTarget(machine)
                          : createCutlassTarget(machine);
}
