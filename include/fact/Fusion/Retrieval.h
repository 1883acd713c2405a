//===- Retrieval.h - What the registry knows of a region ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_RETRIEVAL_H
#define FACT_FUSION_RETRIEVAL_H

#include "fact/Fusion/Discovery.h"
#include "fact/Registry/Registry.h"

namespace fact {
/// What a kernel builds on, and where that says to search.
struct Advice {
  StrategyAttr strategy;
  /// Null: the rule's own.
  SpaceAttrInterface space;
};

/// The registry as agents see it.
class Retrieval {
public:
  /// Reads the layers that the options name; what cannot be read is a warning.
  Retrieval(mlir::ModuleOp module, const DiscoveryOptions &options,
            const Target &target);

  std::vector<patterns::Match> find(FusedOp fused) const;

  /// The nearest entry that worked: reuse searches its schedules alone, adapt
  /// those and what is next to the best of them.
  Advice advise(FusedOp fused) const;

  /// What a strategy and an entry that somebody chose come to. Reuse is of the
  /// same problem, adapt of one that `find` has, and both of one that worked;
  /// an error says what would be right.
  mlir::FailureOr<Advice> advise(FusedOp fused, StrategyKind kind,
                                 llvm::StringRef id, EmitError emitError) const;

  /// Microseconds that the registry promises: the speed of light over the share
  /// of it that the nearest entry with the same ops reached.
  std::optional<double> predictMicroseconds(FusedOp fused) const;

private:
  std::string describeProblem(FusedOp fused) const;
  Advice advise(FusedOp fused, const patterns::Entry &entry,
                StrategyKind kind) const;

  const Target &target;
  patterns::Registry registry;
};
} // namespace fact

#endif // FACT_FUSION_RETRIEVAL_H
