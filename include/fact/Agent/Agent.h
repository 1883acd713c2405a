//===- Agent.h - Who proposes what to fuse ------------------------*- C++ -*-===//

#ifndef FACT_AGENT_AGENT_H
#define FACT_AGENT_AGENT_H

#include "fact/Analysis/Fusibility.h"

namespace fact {
/// A group of ops and the rule that should realise it. Typed data, never code.
struct Proposal {
  std::string rule;
  OpGroup ops;
};

/// Reads one block of the graph and proposes what to fuse in it. Whatever it
/// says goes through Fusibility before anything changes.
class Agent {
public:
  virtual ~Agent() = default;
  virtual std::vector<Proposal> propose(mlir::Block &block,
                                        const Fusibility &fusibility) = 0;
};

/// The embedded rules: deterministic, offline, and complete (every op that has
/// a kernel gets one).
std::unique_ptr<Agent> createRulesAgent();
} // namespace fact

#endif // FACT_AGENT_AGENT_H
