//===- Target.cpp - The target for a machine ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Target.h"

using namespace mlir;
using namespace fact;

LogicalResult Realiser::checkSchedule(FusedOp fused,
                                      ScheduleAttr schedule,
                                      const MachineDescription &machine,
                                      EmitError emitError) const {
  std::vector<const ScheduleKind *> kinds = getScheduleKinds();
  if (llvm::is_contained(kinds, schedule.getKind()))
    return schedule.verifySchedule(fused, machine, emitError);
  // A schedule of another kind may be legal for the region, and yet it is not
  // one that this realiser reads.
  InFlightDiagnostic diagnostic = emitError() << "'" << getRule() << "' on '"
                                              << machine.name << "' takes ";
  llvm::interleave(
      kinds, [&](const ScheduleKind *kind) { diagnostic << kind->name; },
      [&] { diagnostic << " or "; });
  return diagnostic << " schedules, not " << schedule.getKind()->name;
}

std::vector<const ScheduleKind *> Target::getScheduleKinds() const {
  std::vector<const ScheduleKind *> kinds;
  for (const std::unique_ptr<Realiser> &realiser : realisers)
    for (const ScheduleKind *kind : realiser->getScheduleKinds())
      if (!llvm::is_contained(kinds, kind))
        kinds.push_back(kind);
  return kinds;
}

std::vector<StringRef> Target::getRules(const ScheduleKind &kind) const {
  std::vector<StringRef> rules;
  for (const std::unique_ptr<Realiser> &realiser : realisers)
    if (llvm::is_contained(realiser->getScheduleKinds(), &kind))
      rules.push_back(realiser->getRule());
  return rules;
}

void fact::registerSchedules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, FactDialect *dialect) {
    for (const std::unique_ptr<Target> &target : createTargetsOfEachKind())
      for (const ScheduleKind *kind : target->getScheduleKinds())
        dialect->addScheduleKind(*kind);
  });
}

std::vector<std::unique_ptr<Target>> fact::createTargetsOfEachKind() {
  std::vector<std::unique_ptr<Target>> targets;
  for (StringRef machine : {"h200", "host"})
    targets.push_back(createTarget(*findMachine(machine)));
  return targets;
}

std::unique_ptr<Target> fact::createTarget(const MachineDescription &machine) {
  return machine.isHost() ? createHostTarget(machine)
                          : createCutlassTarget(machine);
}
