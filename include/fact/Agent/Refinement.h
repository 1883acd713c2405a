//===- Refinement.h - Search again where there is most to gain --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_REFINEMENT_H
#define FACT_AGENT_REFINEMENT_H

#include "fact/Fusion/Agent.h"

namespace fact {
struct RefinementOptions {
  AgentOptions agent;
  /// The bundle that was tuned, and the tuning.json of another run of it
  /// (empty: the bundle's own).
  std::string bundle;
  std::string results;
  /// A kernel is done within (1 + eps) of the least time, or after `window`
  /// attempts without gain.
  double eps = 0.25;
  unsigned window = 12;
  /// Maximum kernels per round, those with the most to gain, and new schedules
  /// per kernel.
  unsigned kernels = 4;
  unsigned points = 6;
};

struct RefinementReport {
  /// The agent's requests, tokens and rejected proposals.
  DiscoveryReport agent;
  /// Kernels with measurements, and those of them within eps, without gain in
  /// the window, with no schedule left to try, and searched again.
  unsigned measured = 0;
  unsigned withinEps = 0;
  unsigned withoutGain = 0;
  unsigned exhausted = 0;
  unsigned nominated = 0;
  /// New schedules.
  unsigned points = 0;
};

/// Measures, analyzes, nominates, triages: kernels that are done get their best
/// schedule, nominated ones a space of schedules that were not tried.
mlir::LogicalResult refine(mlir::ModuleOp module,
                           const RefinementOptions &options,
                           RefinementReport &report);
} // namespace fact

#endif // FACT_AGENT_REFINEMENT_H
