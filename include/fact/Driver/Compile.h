//===- Compile.h - All stages in order ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_COMPILE_H
#define FACT_DRIVER_COMPILE_H

#include "fact/Agent/Refinement.h"
#include "fact/Target/Bundle.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>

namespace fact {
/// Where to stop; each stage's result is text that a later run resumes from.
enum class Stage { import, raise, discover, bundle, library };

struct CompileOptions {
  /// A machine's name, architecture or file; empty: what the text names, else
  /// host.
  std::string target;
  /// Who groups ops, and by which means; its `target` is the one above.
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
  unsigned candidates = 16;
  /// The tuner and words passed on to it.
  std::string tuner = "fact-tune";
  std::vector<std::string> tunerArguments;
};

/// Runs the stages that `module` has not been through yet.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options);
} // namespace fact

#endif // FACT_DRIVER_COMPILE_H
