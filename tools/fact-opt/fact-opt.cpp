//===- fact-opt.cpp - Run FACT's passes on text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FailedInput.h"
#include "Tool.h"
#include "fact/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

static const char overview[] = R"(FACT: runs passes on MLIR text

Named pipelines, each from the text that `python -m fact export` writes:
  fact-opt model.mlir --fact-raise    the FACT graph, views folded, attention and norms recognized
  fact-opt model.mlir --fact-host     and grouped into kernels for this machine
  fact-opt model.mlir --fact-cuda     and grouped into kernels for an H200
Passes also run alone, in the order given; docs/reference/Passes.md describes each.
`-` reads standard input, and without -o the result is printed.
)";

/// Runs mlir-opt's main function. Where a pass fails or crashes, the module and
/// the passes are saved, and the command that repeats the failure is printed,
/// even if what the pass has broken crashes the tool later.
static bool runPasses(int argc, char **argv, mlir::DialectRegistry &registry) {
  std::vector<char *> words(argv, argv + argc);
  // Tests of diagnostics expect those of passes only.
  bool saves = llvm::none_of(words, [](llvm::StringRef word) {
    return word.contains("-reproducer") || word.contains("-verify-diagnostics");
  });
  fact::FailedInput *input =
      saves ? fact::FailedInput::create("fact-opt") : nullptr;
  std::string option;
  if (input) {
    option =
        ("--mlir-pass-pipeline-crash-reproducer=" + input->getFile()).str();
    words.push_back(option.data());
    std::vector<std::string> command = fact::getLoadOptions(argc, argv);
    command.insert(command.begin(), argv[0]);
    command.push_back("--run-reproducer");
    command.push_back(input->getFile().str());
    input->setCommand(command);
  }
  words.push_back(nullptr);
  bool succeeded = mlir::succeeded(
      mlir::MlirOptMain(words.size() - 1, words.data(), overview, registry));
  llvm::errs().flush();
  if (input)
    input->printIfSaved();
  return succeeded;
}

int main(int argc, char **argv) {
  fact::initTool("fact-opt");
  mlir::DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerAllPasses();
  mlir::registerTransformsPasses();
  return fact::runWithOutputAside(argc, argv, [&](int count, char **words) {
    return runPasses(count, words, registry);
  });
}
