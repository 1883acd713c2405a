//===- FoldedProgram.cpp - A program with norms in its products -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FoldedProgram.h"
#include "fact/Driver/Pipelines.h"
#include "fact/Program/Kernels.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

using namespace mlir;
using namespace fact;

/// Microseconds that a race of programs can see; to gain less is not worth the
/// tuning of another program.
static constexpr double leastGain = 1;

static unsigned countNorms(ModuleOp module) {
  unsigned count = 0;
  module.walk([&](NormOp) { ++count; });
  return count;
}

/// The sum over the kernels that run on each call.
static double predictProgram(ModuleOp module, const Target &target) {
  double us = 0;
  module.walk([&](FusedOp fused) {
    if (!fused->getParentOfType<PrepareOp>())
      us += predictKernel(fused, target);
  });
  return us;
}

/// Folds the norms of a module and groups it; null if there are none.
static OwningOpRef<ModuleOp> fold(ModuleOp module,
                                  const DiscoveryOptions &options) {
  OwningOpRef<ModuleOp> folded = module.clone();
  PassManager manager(module.getContext());
  buildFoldPipeline(manager);
  DiscoveryReport ignored;
  if (failed(manager.run(*folded)) ||
      countNorms(*folded) == countNorms(module) ||
      failed(discover(*folded, options, ignored)))
    return {};
  return folded;
}

OwningOpRef<ModuleOp> fact::foldNorms(ModuleOp raised, ModuleOp grouped,
                                      const DiscoveryOptions &options,
                                      const Target &target, double factor) {
  DiscoveryOptions rules = options;
  rules.agent = "rules";
  rules.memory = nullptr;
  // What the norm takes from a product cancels only before it is rounded.
  rules.limit = FusionLimit::productsUnrounded;
  // No folded program is no error.
  ScopedDiagnosticHandler silence(grouped.getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> best;
  double least = factor * predictProgram(grouped, target) - leastGain;
  // A kernel without a prediction leaves nothing to compare.
  if (!std::isfinite(least))
    return {};
  // Of the graph, statistics can be epilogues of the products before them; of
  // the kernels, all others stay as they are.
  for (ModuleOp module : {raised, grouped})
    if (OwningOpRef<ModuleOp> folded = fold(module, rules)) {
      double predicted = predictProgram(*folded, target);
      if (predicted > least)
        continue;
      least = predicted;
      best = std::move(folded);
    }
  return best;
}
