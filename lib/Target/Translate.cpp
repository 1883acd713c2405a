//===- Translate.cpp - Kernels as text ------------------------------------===//

#include "fact/Target/Translate.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace fact;

/// The op's own schedule, or the legal one of its space that promises most.
static ScheduleAttrInterface chooseSchedule(FusedOp fused,
                                            const Realiser &realiser,
                                            const MachineDescription &machine) {
  if (auto chosen = fused.getSchedule())
    return cast<ScheduleAttrInterface>(*chosen);
  auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                : realiser.getDefaultSpace(fused);
  if (!space)
    return {};
  ScopedDiagnosticHandler quiet(fused.getContext(),
                                [](Diagnostic &) { return success(); });
  ScheduleAttrInterface best;
  double bestTime = 0;
  for (ScheduleAttrInterface schedule : space.enumerate()) {
    if (failed(realiser.checkSchedule(fused, schedule, machine,
                                      [&] { return fused.emitError(); })))
      continue;
    double time = realiser.predictMicroseconds(fused, schedule);
    if (!best || time < bestTime)
      std::tie(best, bestTime) = std::tuple(schedule, time);
  }
  return best;
}

static LogicalResult emitCandidate(FusedOp fused, const Target &target,
                                   StringRef symbol, KernelCode &code) {
  auto emitError = [&] { return fused.emitError(); };
  const Realiser *realiser = target.findRealiser(fused.getRule());
  if (!realiser)
    return fused.emitError("no realiser of '")
           << target.getMachine().name << "' has the rule '" << fused.getRule()
           << "'";
  if (failed(realiser->canRealise(fused, emitError)))
    return failure();
  ScheduleAttrInterface schedule =
      chooseSchedule(fused, *realiser, target.getMachine());
  if (!schedule)
    return fused.emitError("its space has no legal schedule");
  if (failed(realiser->checkSchedule(fused, schedule, target.getMachine(),
                                     emitError)))
    return failure();
  return realiser->emit(fused, schedule, symbol, code);
}

LogicalResult fact::translateKernels(ModuleOp module, raw_ostream &os,
                                     StringRef defaultMachine,
                                     KernelText text) {
  MachineDescription machine = *findMachine(defaultMachine);
  MachineAttr named = getTargetMachine(module);
  if (named && named.getDescription().isHost() != machine.isHost())
    return module.emitError("its kernels are for '")
           << named.getName() << "', and this translation is for '"
           << defaultMachine << "'";
  if (named)
    machine = named.getDescription();
  std::unique_ptr<Target> target = createTarget(machine);
  unsigned next = 0;
  WalkResult result = module.walk([&](FusedOp fused) {
    KernelCode code;
    std::string symbol = fused.getRule().str() + "_" + std::to_string(next++);
    LogicalResult emitted =
        text == KernelText::candidate
            ? emitCandidate(fused, *target, symbol, code)
            : target->emitReference(fused, symbol + "_reference", code);
    if (failed(emitted))
      return WalkResult::interrupt();
    os << (code.isObject ? code.listing : code.text) << '\n';
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
