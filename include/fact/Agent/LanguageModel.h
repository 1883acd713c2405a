//===- LanguageModel.h - Agents that ask a chat model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_LANGUAGEMODEL_H
#define FACT_AGENT_LANGUAGEMODEL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fact {
/// Registers the agents `llm` and `replay` with every context of the registry.
/// Passes with the same transcript are one run, and append to it.
void registerLanguageModelAgents(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_AGENT_LANGUAGEMODEL_H
