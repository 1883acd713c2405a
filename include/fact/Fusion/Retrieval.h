//===- Retrieval.h - Registry entries for a region --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_RETRIEVAL_H
#define FACT_FUSION_RETRIEVAL_H

#include "fact/Fusion/Discovery.h"
#include "fact/Registry/Registry.h"

namespace fact {
/// The strategy of a kernel, and the space that follows from it.
struct Advice {
  StrategyAttr strategy;
  /// Null: the rule's default.
  SpaceAttrInterface space;
};

/// The registry as agents see it.
class Retrieval {
public:
  /// Reads the registry's layers of the options; an unreadable file is a
  /// warning.
  Retrieval(mlir::ModuleOp module, const DiscoveryOptions &options,
            const Target &target);

  std::vector<registry::Match> find(FusedOp fused) const;

  /// Advice from the nearest entry with an accepted schedule: reuse searches
  /// its accepted schedules, adapt also the neighbors of the best one.
  Advice advise(FusedOp fused) const;

  /// Advice from a given strategy and entry. Reuse needs an entry of the same
  /// problem, adapt a match of `find`, both an accepted schedule; the
  /// diagnostic says what would be right.
  mlir::FailureOr<Advice> advise(FusedOp fused, StrategyKind kind,
                                 llvm::StringRef id, EmitError emitError) const;

  /// The time predicted from the registry: the speed of light divided by the
  /// share of it that the nearest entry with the same ops reached.
  std::optional<double> predictMicroseconds(FusedOp fused) const;

  /// The best share of light of a rule on the target's architecture.
  std::optional<registry::Reached> findBestShare(llvm::StringRef rule) const;

private:
  std::string describeProblem(FusedOp fused) const;
  Advice advise(FusedOp fused, const registry::Entry &entry,
                StrategyKind kind) const;

  const Target &target;
  registry::Registry registry;
};
} // namespace fact

#endif // FACT_FUSION_RETRIEVAL_H
