//===- Compile.h - All stages in order --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_COMPILE_H
#define FACT_DRIVER_COMPILE_H

#include "fact/Agent/Refinement.h"
#include "fact/Fusion/Discovery.h"
#include "fact/Target/Bundle.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>
#include <optional>

namespace fact {
/// The last stage to run. Each stage's result is text from which a later run
/// resumes.
enum class Stage { import, raise, discover, bundle, library };

struct CompileOptions {
  /// A machine's name, architecture or file; empty: the module's, else host.
  std::string target;
  /// The agent and its options; its `target` is the one above.
  DiscoveryOptions discovery;
  /// Rounds of refinement after the first tuning, and when a kernel is done.
  unsigned refine = 0;
  double refineEps = RefinementOptions().eps;
  unsigned refineWindow = RefinementOptions().window;
  Stage stopAfter = Stage::library;
  std::string output;
  /// Empty: beside the output.
  std::string bundle;
  std::string summary;
  std::string name;
  /// Of a kernel, at most: in the bundle, and of those the ones that are tried;
  /// none: as many as the tuner tries by default.
  unsigned candidates = 16;
  std::optional<unsigned> tried;
  /// How much longer an alternative of a kernel may be predicted to take; 0:
  /// no alternatives.
  double alternatives = 1;
  /// Writes plain products also where an object serves one size only.
  bool products = false;
  /// The tuner, and arguments passed on to it.
  std::string tuner = "fact-tune";
  std::vector<std::string> tunerArguments;
  /// The words of the command that compiles, and the one that is its input: for
  /// the command that is printed after a failure. Empty: none is printed.
  std::vector<std::string> command;
  std::string input;
};

/// Runs the stages that `module` has not gone through yet.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options);
} // namespace fact

#endif // FACT_DRIVER_COMPILE_H
