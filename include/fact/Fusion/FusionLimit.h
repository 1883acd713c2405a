//===- FusionLimit.h - How much the rules fuse ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_FUSIONLIMIT_H
#define FACT_FUSION_FUSIONLIMIT_H

#include "fact/Fusion/Agent.h"

namespace fact {
/// How much the rules may fuse. Less than all gives other forms of a kernel,
/// which are measured against it.
enum class FusionLimit {
  none,
  /// A kernel has at most one contraction: no gated, no grouped products.
  oneContraction,
  /// Contractions have kernels of their own, with the views that they read
  /// through and without prologue and epilogue.
  contractionsAlone,
  /// A 16-bit product that is read in f32 stays in its own kernel until it is
  /// rounded again.
  productsUnrounded,
};

/// Whether a cast reads a 16-bit float in a wider one.
bool isWideningOf16Bits(CastOp cast);

/// The embedded rules under a limit.
std::unique_ptr<Agent> createRulesAgent(const Retrieval &retrieval,
                                        FusionLimit limit);
} // namespace fact

#endif // FACT_FUSION_FUSIONLIMIT_H
