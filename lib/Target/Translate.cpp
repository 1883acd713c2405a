//===- Translate.cpp - Kernels as text ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Translate.h"
#include "fact/Kernel/SchedulePage.h"
#include "fact/Target/Reference.h"
#include "fact/Target/Targets.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fact;

/// The op's schedule, else the best predicted legal one of its space.
static ScheduleAttr chooseSchedule(const Plan &plan) {
  FusedOp fused = plan.getRegion();
  if (auto chosen = fused.getSchedule())
    return cast<ScheduleAttr>(*chosen);
  auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                : plan.getSpace();
  std::optional<Plan::Prediction> best = plan.findBest(space);
  return best ? best->schedule : ScheduleAttr();
}

static LogicalResult emitCandidate(FusedOp fused, const Target &target,
                                   StringRef symbol, KernelCode &code) {
  auto emitError = [&] { return fused.emitError(); };
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, emitError);
  if (failed(plan))
    return failure();
  ScheduleAttr schedule = chooseSchedule(**plan);
  if (!schedule)
    return fused.emitError("its space has no legal schedule");
  if (failed((*plan)->check(schedule, emitError)))
    return failure();
  return (*plan)->emit(KernelVariant{schedule, symbol.str()}, code);
}

FailureOr<std::unique_ptr<Target>>
fact::createTranslationTarget(ModuleOp module, StringRef defaultMachine) {
  MachineDescription machine = *findMachine(defaultMachine);
  MachineAttr named = getTargetMachine(module);
  if (named && named.getDescription().isHost() != machine.isHost())
    return module.emitError("the module's kernels are for '")
           << named.getName() << "', but this translation is for '"
           << defaultMachine << "'";
  if (named)
    machine = named.getDescription();
  return createTarget(module.getContext(), machine);
}

LogicalResult fact::emitKernels(
    ModuleOp module, const Target &target, KernelText text,
    function_ref<void(FusedOp, StringRef, const KernelCode &)> receive) {
  unsigned next = 0;
  WalkResult result = module.walk([&](FusedOp fused) {
    KernelCode code;
    std::string symbol = fused.getRule().str() + "_" + std::to_string(next++);
    LogicalResult emitted =
        text == KernelText::candidate
            ? emitCandidate(fused, target, symbol, code)
            : emitReference(fused, symbol + "_reference", code);
    if (failed(emitted))
      return WalkResult::interrupt();
    receive(fused, symbol, code);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult fact::translateKernels(ModuleOp module, raw_ostream &os,
                                     StringRef defaultMachine,
                                     KernelText text) {
  auto target = createTranslationTarget(module, defaultMachine);
  if (failed(target))
    return failure();
  auto print = [&](FusedOp, StringRef symbol, const KernelCode &code) {
    os << (code.isObject ? code.listing : code.text);
    if (!code.sizes.empty()) {
      os << "// sizes of " << symbol << ": ";
      llvm::interleaveComma(code.sizes.front(), os);
      os << '\n';
    }
    os << '\n';
  };
  return emitKernels(module, **target, text, print);
}

void fact::printSchedulePage(MLIRContext *context, raw_ostream &os) {
  os << "<!-- Made by `ninja -C build fact-docs`; change the declarations of "
        "the schedules instead. -->\n\n# Kinds of schedules\n";
  llvm::SmallPtrSet<const ScheduleKind *, 16> printed;
  for (StringRef machine : {"h200", "b200", "host"}) {
    std::unique_ptr<Target> target =
        createTarget(context, *findMachine(machine));
    for (const ScheduleKind *kind : target->getScheduleKinds())
      if (printed.insert(kind).second)
        os << '\n' << describeSchedule(*target, *kind);
  }
}

void fact::registerAllTargets(DialectRegistry &registry) {
  registry.insert<FactDialect>();
  registerCudaTarget(registry);
  registerHostTarget(registry);
}
