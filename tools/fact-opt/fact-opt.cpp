//===- fact-opt.cpp - Run FACT's passes on text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

static const char overview[] = R"(FACT: runs passes on MLIR text

Named pipelines, each from the text that `python -m fact export` writes:
  fact-opt model.mlir --fact-raise    the FACT graph, views folded, attention and norms recognized
  fact-opt model.mlir --fact-host     and grouped into kernels for this machine
  fact-opt model.mlir --fact-cuda     and grouped into kernels for an H200
Passes also run alone, in the order given; docs/reference/Passes.md describes each.
`-` reads standard input, and without -o the result is printed.
)";

/// The file that MLIR saves where a pass fails or crashes, and what is then
/// printed; never freed, for the handler of signals.
struct Reproducer {
  llvm::SmallString<128> file;
  std::string line;

  /// Prints once, and allocates nothing: the heap may be what is broken.
  void printIfSaved() {
    if (line.empty() || ::access(file.c_str(), F_OK) != 0)
      return;
    (void)!::write(STDERR_FILENO, line.data(), line.size());
    line.clear();
  }
};

/// Runs mlir-opt's main function. Where a pass fails or crashes, the module and
/// the passes are saved, and the command that repeats the failure is printed,
/// even if what the pass has broken crashes the tool later.
static bool runPasses(int argc, char **argv, mlir::DialectRegistry &registry) {
  std::vector<char *> words(argv, argv + argc);
  // Tests of diagnostics expect those of passes only.
  bool saves = llvm::none_of(words, [](llvm::StringRef word) {
    return word.contains("-reproducer") || word.contains("-verify-diagnostics");
  });
  static auto *reproducer = new Reproducer;
  std::string option;
  if (saves && !llvm::sys::fs::getPotentiallyUniqueTempFileName(
                   "fact-opt", "mlir", reproducer->file)) {
    option =
        ("--mlir-pass-pipeline-crash-reproducer=" + reproducer->file).str();
    words.push_back(option.data());
    reproducer->line = std::string("to repeat the failure: ") + argv[0];
    for (llvm::StringRef word : llvm::ArrayRef(argv + 1, argc - 1))
      if (word.ltrim('-').starts_with("load-"))
        reproducer->line += (" " + word).str();
    reproducer->line += (" --run-reproducer " + reproducer->file + "\n").str();
    llvm::sys::AddSignalHandler([](void *) { reproducer->printIfSaved(); },
                                nullptr);
  }
  words.push_back(nullptr);
  bool succeeded = mlir::succeeded(
      mlir::MlirOptMain(words.size() - 1, words.data(), overview, registry));
  llvm::errs().flush();
  reproducer->printIfSaved();
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
