//===- CutlassTarget.cpp - NVIDIA GPUs by CUTLASS -------------------------===//

#include "Emission.h"
#include "KernelHeaders.h.inc"
#include "RuntimeHeaders.h.inc"
#include "RuntimeSources.h.inc"
#include "ScalarHeaders.h.inc"
#include "fact/Target/Cutlass.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
class CutlassTarget : public Target {
public:
  explicit CutlassTarget(const MachineDescription &machine) : Target(machine) {
    realisers.push_back(createGemmEpilogueRealiser(machine));
    realisers.push_back(createGatedGemmRealiser(machine));
    realisers.push_back(createAttentionRealiser(machine));
    realisers.push_back(createRowwiseRealiser(machine));
    realisers.push_back(createPointwiseRealiser(machine));
  }

  StringRef getKind() const override { return "cuda"; }
  StringRef getCandidateSuffix() const override { return ".cu"; }
  StringRef getReferenceSuffix() const override { return ".cu"; }

  LogicalResult emitReference(FusedOp fused, StringRef symbol,
                              KernelCode &code) const override {
    return emitReferenceKernel(fused, symbol, code);
  }

  Commands getCommands() const override;
  std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const override;
};
} // namespace

/// Without -DNDEBUG the tensor cores are serialised. `{cutlass}` is where CUTLASS
/// lies on the machine that compiles; fact-tune adds what every object needs.
Target::Commands CutlassTarget::getCommands() const {
  StringRef number = machine.architecture.drop_front(strlen("sm_"));
  std::string architecture = llvm::formatv(
      "-gencode=arch=compute_{0},code=sm_{0}", number);
  Commands commands;
  commands.compile = {"nvcc",
                      "-std=c++17",
                      "-O3",
                      "-DNDEBUG",
                      architecture,
                      "--expt-relaxed-constexpr",
                      "-I{cutlass}/include",
                      "-I{cutlass}/tools/util/include",
                      "-I{cutlass}/examples",
                      "{flags}",
                      "-c",
                      "{source}",
                      "-o",
                      "{output}"};
  commands.link = {"nvcc",     "-shared", "-cudart", "static", "-Xcompiler",
                   "-fPIC",    "{inputs}", "{link}", "-o",     "{output}"};
  commands.linkProgram = {"nvcc", "-cudart", "static",  "{inputs}",
                          "{link}", "-o",    "{output}"};
  return commands;
}

std::vector<std::pair<std::string, std::string>>
CutlassTarget::getBundleFiles() const {
  std::vector<std::pair<std::string, std::string>> files;
  auto add = [&](StringRef folder, auto embedded) {
    for (auto [path, text] : embedded)
      files.emplace_back((folder + path).str(), text.str());
  };
  add("include/fact/cutlass/", getKernelHeaders());
  add("include/fact/cutlass/", getScalarHeaders());
  add("include/", getRuntimeHeaders());
  add("runtime/", getRuntimeSources());
  return files;
}

std::unique_ptr<Target>
fact::createCutlassTarget(const MachineDescription &machine) {
  return std::make_unique<CutlassTarget>(machine);
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// The op's schedule, or the legal one of its space (or of the default space)
/// that promises most.
static ScheduleAttrInterface chooseSchedule(FusedOp fused,
                                            const Realiser &realiser,
                                            const MachineDescription &machine) {
  if (fused.getSchedule())
    return cast<ScheduleAttrInterface>(*fused.getSchedule());
  auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                : realiser.getDefaultSpace(fused);
  if (!space)
    return {};
  ScopedDiagnosticHandler quiet(fused.getContext(),
                                [](Diagnostic &) { return success(); });
  ScheduleAttrInterface best;
  double bestTime = 0;
  for (ScheduleAttrInterface schedule : space.enumerate()) {
    if (failed(schedule.verifySchedule(fused, machine,
                                       [&] { return fused.emitError(); })))
      continue;
    double time = realiser.predictMicroseconds(fused, schedule);
    if (!best || time < bestTime) {
      best = schedule;
      bestTime = time;
    }
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
  if (failed(schedule.verifySchedule(fused, target.getMachine(), emitError)))
    return failure();
  return realiser->emit(fused, schedule, symbol, code);
}

static LogicalResult
translate(ModuleOp module, raw_ostream &os,
          function_ref<LogicalResult(FusedOp, const Target &, StringRef,
                                     KernelCode &)>
              emit) {
  const MachineDescription *machine = findMachine("h200");
  if (MachineAttr named = getTargetMachine(module))
    machine = &named.getDescription();
  if (machine->isHost())
    return module.emitError("'host' is no target of CUTLASS");
  std::unique_ptr<Target> target = createCutlassTarget(*machine);
  unsigned next = 0;
  WalkResult result = module.walk([&](FusedOp fused) {
    KernelCode code;
    std::string symbol = llvm::formatv("{0}_{1}", fused.getRule(), next++);
    if (failed(emit(fused, *target, symbol, code)))
      return WalkResult::interrupt();
    os << code.text << '\n';
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult fact::translateToCutlass(ModuleOp module, raw_ostream &os) {
  return translate(module, os, emitCandidate);
}

LogicalResult fact::translateToCutlassReference(ModuleOp module,
                                                raw_ostream &os) {
  return translate(module, os,
                   [](FusedOp fused, const Target &target, StringRef symbol,
                      KernelCode &code) {
                     return target.emitReference(
                         fused, (symbol + "_reference").str(), code);
                   });
}
