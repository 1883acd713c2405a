//===- fact-translate.cpp - Prints kernels and their speed of light -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/InitAll.h"
#include "fact/Target/Translate.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  fact::registerAllDialects(registry);
  fact::registerPlugins(registry);
}

static llvm::cl::opt<std::string> splitTo(
    "split-to",
    llvm::cl::desc("For --fact-to-cutlass: write one source per kernel, the "
                   "headers they include and a CMakeLists.txt to a folder"),
    llvm::cl::value_desc("folder"));

static void registerTranslation(StringRef name, StringRef description,
                                StringRef machine, fact::KernelText text) {
  TranslateFromMLIRRegistration(
      name, description,
      [=](ModuleOp module, raw_ostream &output) -> LogicalResult {
        if (splitTo.empty())
          return fact::translateKernels(module, output, machine, text);
        if (name == "fact-to-cutlass")
          return fact::splitKernels(module, splitTo, machine);
        return module.emitError("--split-to writes what --fact-to-cutlass "
                                "prints, not what --")
               << name << " does";
      },
      registerDialects);
}

static llvm::cl::opt<std::string>
    solTarget("sol-target",
              llvm::cl::desc("Machine for --fact-to-sol, or a .json file that "
                             "describes one (default: the module's "
                             "fact.target, else host)"),
              llvm::cl::value_desc("machine"));

static void registerSpeedOfLight(StringRef name, StringRef description,
                                 void (*print)(const fact::SpeedOfLightReport &,
                                               llvm::raw_ostream &)) {
  TranslateFromMLIRRegistration(
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
      },
      registerDialects);
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
  registerTranslation("fact-to-cutlass", "Print the CUTLASS C++ of each kernel",
                      "h200", KernelText::candidate);
  registerTranslation("fact-to-cutlass-reference",
                      "Print the naive CUDA reference of each kernel", "h200",
                      KernelText::reference);
  registerTranslation("fact-to-host", "Print the IR of each host kernel",
                      "host", KernelText::candidate);
  registerTranslation("fact-to-host-reference",
                      "Print the IR of each host kernel's naive reference",
                      "host", KernelText::reference);
  registerSpeedOfLight("fact-to-sol", "Print the speed of light as a table",
                       fact::printTable);
  registerSpeedOfLight("fact-to-sol-json", "Print the speed of light as JSON",
                       fact::printJson);
  TranslateFromMLIRRegistration(
      "fact-schedules",
      "Print the schedule kinds and their parameters (reads no input)",
      [](ModuleOp module, raw_ostream &output) {
        fact::printSchedulePage(module.getContext(), output);
        return success();
      },
      registerDialects);
  return fact::runWithOutputAside(argc, argv, [](int count, char **words) {
    return succeeded(mlirTranslateMain(count, words, overview));
  });
}
