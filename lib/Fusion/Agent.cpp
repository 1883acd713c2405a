//===- Agent.cpp - Agents that propose what to fuse -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Agent.h"

using namespace mlir;
using namespace fact;

void DiscoveryReport::addRequests(const DiscoveryReport &later) {
  calls += later.calls;
  retries += later.retries;
  tokensIn += later.tokensIn;
  tokensOut += later.tokensOut;
  modelSeconds += later.modelSeconds;
  price += later.price;
}

/// Sums up what was proposed; what became of it is measured anew.
static void addCounts(std::map<std::string, PatternCounts> &sums,
                      const std::map<std::string, PatternCounts> &later) {
  for (const auto &[strategy, counts] : later) {
    PatternCounts &sum = sums[strategy];
    sum.proposed += counts.proposed;
    sum.legalFirst += counts.legalFirst;
    sum.legalRepaired += counts.legalRepaired;
    sum.tokens += counts.tokens;
    sum.seconds += counts.seconds;
  }
}

void DiscoveryReport::add(const DiscoveryReport &later) {
  addRequests(later);
  proposed += later.proposed;
  accepted += later.accepted;
  for (const auto &[reason, count] : later.rejected)
    rejected[reason] += count;
  addCounts(strategies, later.strategies);
  addCounts(ownStrategies, later.ownStrategies);
  rounds += later.rounds;
  seconds += later.seconds;
  if (fallback.empty())
    fallback = later.fallback;
}

AgentRegistry &AgentRegistry::get(FactDialect &dialect) {
  if (auto *registry = dialect.getRegisteredInterface<AgentRegistry>())
    return *registry;
  return dialect.addInterface<AgentRegistry>();
}

void AgentRegistry::add(StringRef name, CreateAgent create) {
  agents[name.str()] = create;
}

FailureOr<AgentRegistry::CreateAgent>
AgentRegistry::find(ModuleOp module, const AgentOptions &options) {
  if (options.agent == "rules")
    return CreateAgent(nullptr);
  auto *dialect = module.getContext()->getOrLoadDialect<FactDialect>();
  const auto &agents = get(*dialect).agents;
  auto found = agents.find(options.agent);
  if (found != agents.end())
    return found->second;
  InFlightDiagnostic diagnostic = mlir::emitError(module.getLoc())
                                  << "unknown agent '" << options.agent
                                  << "'; known are 'rules'";
  for (const auto &[name, create] : agents)
    diagnostic << ", '" << name << "'";
  return diagnostic;
}
