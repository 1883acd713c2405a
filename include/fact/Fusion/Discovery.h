//===- Discovery.h - From a graph to kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_DISCOVERY_H
#define FACT_FUSION_DISCOVERY_H

#include "fact/Fusion/FusionLimit.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
struct DiscoveryOptions : AgentOptions {
  /// A machine's name, architecture or file; empty: the module's `fact.target`,
  /// else the host.
  std::string target;
  /// Folders of the registry, upper layers first.
  std::vector<std::string> patterns;
  /// How much the rules may fuse.
  FusionLimit limit = FusionLimit::none;
  /// Whether kernels write their parts of a concatenation in place.
  bool placeParts = true;
  /// Whether rows of factors and results of products begin at multiples of 16
  /// bytes.
  bool padRows = true;
};

/// Groups the ops of a module into `fact.fused`: as the agent proposes where
/// that is legal, by the rules elsewhere. An op without a kernel is an error.
mlir::LogicalResult discover(mlir::ModuleOp module,
                             const DiscoveryOptions &options,
                             DiscoveryReport &report);
} // namespace fact

#endif // FACT_FUSION_DISCOVERY_H
