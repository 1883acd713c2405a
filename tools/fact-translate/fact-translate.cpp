//===- fact-translate.cpp - Prints kernels and their speed of light -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FailedInput.h"
#include "Tool.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/InitAll.h"
#include "fact/Target/Translate.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <string>
#include <vector>

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  fact::registerAllDialects(registry);
  fact::registerPlugins(registry);
}

/// Null where a failure is expected.
static fact::FailedInput *failedInput = nullptr;
/// The command that repeats a failure, but for the translation's own options.
static std::vector<std::string> repeatCommand;

static llvm::cl::opt<std::string> splitTo(
    "split-to",
    llvm::cl::desc("For --fact-to-cutlass: write one source per kernel, the "
                   "headers they include and a CMakeLists.txt to a folder"),
    llvm::cl::value_desc("folder"));

static llvm::cl::opt<std::string>
    solTarget("sol-target",
              llvm::cl::desc("Machine for --fact-to-sol, or a .json file that "
                             "describes one (default: the module's "
                             "fact.target, else host)"),
              llvm::cl::value_desc("machine"));

/// Saves the module of a translation that fails or crashes, for the command
/// that repeats it.
static LogicalResult runTranslation(StringRef name, ModuleOp module,
                                    llvm::function_ref<LogicalResult()> run) {
  if (!failedInput)
    return run();
  OwningOpRef<ModuleOp> before = module.clone();
  LogicalResult result = failure();
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  recovery.DumpStackAndCleanupOnFailure = true;
  if (recovery.RunSafely([&] { result = run(); }) && succeeded(result))
    return success();
  // Of several inputs, the first that fails.
  if (failedInput->isSaved())
    return failure();
  std::vector<std::string> command = repeatCommand;
  command.push_back(failedInput->getFile().str());
  command.push_back(("--" + name).str());
  if (!splitTo.empty())
    command.push_back("--split-to=" + splitTo);
  if (!solTarget.empty())
    command.push_back("--sol-target=" + solTarget);
  failedInput->setCommand(command);
  failedInput->save(*before);
  return failure();
}

static void registerTranslation(
    StringRef name, StringRef description,
    std::function<LogicalResult(ModuleOp, raw_ostream &)> translate) {
  TranslateFromMLIRRegistration(
      name, description,
      [=](ModuleOp module, raw_ostream &output) -> LogicalResult {
        return runTranslation(name, module,
                              [&] { return translate(module, output); });
      },
      registerDialects);
}

static void registerKernels(StringRef name, StringRef description,
                            StringRef machine, fact::KernelText text) {
  registerTranslation(
      name, description,
      [=](ModuleOp module, raw_ostream &output) -> LogicalResult {
        if (splitTo.empty())
          return fact::translateKernels(module, output, machine, text);
        if (name == "fact-to-cutlass")
          return fact::splitKernels(module, splitTo, machine);
        return module.emitError("--split-to writes what --fact-to-cutlass "
                                "prints, not what --")
               << name << " does";
      });
}

static void registerSpeedOfLight(StringRef name, StringRef description,
                                 void (*print)(const fact::SpeedOfLightReport &,
                                               llvm::raw_ostream &)) {
  registerTranslation(
      name, description,
      [=](ModuleOp module, raw_ostream &output) -> LogicalResult {
        // Input without FACT ops has not loaded the dialect.
        module.getContext()->loadDialect<fact::FactDialect>();
        FailureOr<fact::MachineAttr> machine =
            fact::chooseMachine(module, solTarget);
        if (failed(machine))
          return failure();
        print(fact::reportSpeedOfLight(module, machine->getDescription()),
              output);
        return success();
      });
}

static const char overview[] = R"(FACT: prints the kernels of fused text

  fact-opt model.mlir --fact-cuda | fact-translate --fact-to-cutlass
  fact-opt model.mlir --fact-host | fact-translate --fact-to-host
prints the candidate of each kernel that is predicted to be the fastest, or the
one that its schedule names; -reference prints the kernel's reference.
  fact-translate fused.mlir --fact-to-cutlass --split-to=kernels
writes a CMake project that builds these kernels with CUTLASS alone.
  fact-opt model.mlir --fact-cuda | fact-translate --fact-to-sol
prints the speed of light of each kernel and of each of its ops alone.
)";

int main(int argc, char **argv) {
  using fact::KernelText;
  fact::initTool("fact-translate");
  fact::declarePluginOption();
  registerKernels("fact-to-cutlass", "Print the CUTLASS C++ of each kernel",
                  "h200", KernelText::candidate);
  registerKernels("fact-to-cutlass-reference",
                  "Print the naive CUDA reference of each kernel", "h200",
                  KernelText::reference);
  registerKernels("fact-to-host", "Print the IR of each host kernel", "host",
                  KernelText::candidate);
  registerKernels("fact-to-host-reference",
                  "Print the IR of each host kernel's naive reference", "host",
                  KernelText::reference);
  registerSpeedOfLight("fact-to-sol", "Print the speed of light as a table",
                       fact::printTable);
  registerSpeedOfLight("fact-to-sol-json", "Print the speed of light as JSON",
                       fact::printJson);
  registerTranslation(
      "fact-schedules",
      "Print the schedule kinds and their parameters (reads no input)",
      [](ModuleOp module, raw_ostream &output) {
        fact::printSchedulePage(module.getContext(), output);
        return success();
      });
  // Tests of diagnostics expect those of translations only.
  if (llvm::none_of(llvm::ArrayRef(argv, argc), [](StringRef word) {
        return word.contains("-verify-diagnostics");
      }))
    failedInput = fact::FailedInput::create("fact-translate");
  repeatCommand = fact::getLoadOptions(argc, argv);
  repeatCommand.insert(repeatCommand.begin(), argv[0]);
  int status =
      fact::runWithOutputAside(argc, argv, [](int count, char **words) {
        return succeeded(mlirTranslateMain(count, words, overview));
      });
  if (failedInput)
    failedInput->printIfSaved();
  return status;
}
