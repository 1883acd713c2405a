//===- Agent.cpp - Agents that propose what to fuse -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Agent.h"

using namespace mlir;
using namespace fact;

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
