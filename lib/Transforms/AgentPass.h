//===- AgentPass.h - Passes with an agent -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TRANSFORMS_AGENTPASS_H
#define FACT_TRANSFORMS_AGENTPASS_H

#include "fact/Agent/Discovery.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace fact {
/// A pass with the `agentOptions` and `agentStatistics` of Passes.td.
template <typename Base> class AgentPass : public Base {
protected:
  using Base::Base;

  DiscoveryOptions getAgentOptions() const {
    DiscoveryOptions options;
    options.agent = this->agent;
    options.transcript = this->transcript;
    options.session = getProcessSession(options);
    LanguageModelOptions &llm = options.languageModel;
    llm.url = this->url;
    llm.model = this->model;
    llm.keyVariable = this->keyVariable;
    llm.keyFile = this->keyFile;
    llm.rounds = this->rounds;
    llm.timeout = this->timeout;
    llm.budget = this->budget;
    llm.retries = this->retries;
    llm.answerTokens = this->answerTokens;
    llm.tokenBudget = this->tokenBudget;
    llm.answerBytes = this->answerBytes;
    return options;
  }

  /// Sets a statistic by its name in Passes.td. Release builds of LLVM keep
  /// neither names nor values of statistics, so the pass keeps both.
  void count(mlir::Pass::Statistic &statistic, llvm::StringRef name,
             uint64_t value) {
    statistic = unsigned(value);
    counted.emplace_back(name, value);
  }

  void countRequests(const DiscoveryReport &report) {
    count(this->calls, "llm-calls", report.calls);
    count(this->sendings, "llm-retries", report.retries);
    count(this->tokensIn, "llm-tokens-in", report.tokensIn);
    count(this->tokensOut, "llm-tokens-out", report.tokensOut);
  }

  void printStatistics() const {
    if (!this->printsStatistics)
      return;
    llvm::errs() << this->getArgument() << " statistics\n";
    for (auto [name, value] : counted)
      llvm::errs() << llvm::formatv("  (S) {0,8} {1}\n", value, name);
  }

private:
  llvm::SmallVector<std::pair<llvm::StringRef, uint64_t>> counted;
};
} // namespace fact

#endif // FACT_TRANSFORMS_AGENTPASS_H
