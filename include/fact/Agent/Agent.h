//===- Agent.h - Who proposes what to fuse ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_AGENT_H
#define FACT_AGENT_AGENT_H

#include "fact/Analysis/Fusibility.h"
#include <map>

namespace fact {
/// A group of ops, the rule that should take it, and where to search. Typed
/// data, never code.
struct Proposal {
  std::string rule;
  OpGroup ops;
  /// What of the registry it builds on; null: nobody said.
  StrategyAttr strategy = {};
  /// Null: the rule's own.
  SpaceAttrInterface space = {};
  /// Larger first.
  int64_t priority = 0;
  std::string rationale = {};
};

/// What became of a proposal.
struct Verdict {
  /// None: accepted.
  std::optional<Obstacle> obstacle;
  /// What the compiler says of a rejected one, and the op that it means, where
  /// that is one.
  std::string reason;
  mlir::Operation *op = nullptr;
};

/// What discovery did, for statistics, summaries and benchmarks.
struct DiscoveryReport {
  std::string agent;
  unsigned proposed = 0;
  unsigned accepted = 0;
  /// Rejected proposals by the name of their obstacle.
  std::map<std::string, unsigned> rejected;
  /// Groups by the rules for what the agent left over.
  unsigned covered = 0;
  /// Rounds with an agent, requests to its model, and those that were sent
  /// again because the server failed.
  unsigned rounds = 0;
  unsigned calls = 0;
  unsigned retries = 0;
  int64_t tokensIn = 0;
  int64_t tokensOut = 0;
  double seconds = 0;
  /// Why the rules did the work of another agent; empty: they did not.
  std::string fallback;
  /// The file that repeats this run.
  std::string transcript;

  unsigned getRejected() const {
    unsigned sum = 0;
    for (const auto &[reason, count] : rejected)
      sum += count;
    return sum;
  }
};

/// Reads one block of the graph and proposes what to fuse in it. Whatever it
/// says goes through Fusibility before anything changes.
class Agent {
public:
  virtual ~Agent() = default;

  /// Groups of ops that are in none yet.
  virtual std::vector<Proposal> propose(const GroupedBlock &decided,
                                        const Fusibility &fusibility) = 0;

  /// What became of them, in their order. True asks for another round.
  virtual bool review(llvm::ArrayRef<Verdict> verdicts) { return false; }
};

class Retrieval;

/// The embedded rules: deterministic, offline, and complete (every op that has
/// a kernel gets one).
std::unique_ptr<Agent> createRulesAgent(const Retrieval &retrieval);
} // namespace fact

#endif // FACT_AGENT_AGENT_H
