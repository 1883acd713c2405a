//===- AgentPass.h - Passes with an agent -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_AGENTPASS_H
#define FACT_FUSION_AGENTPASS_H

#include "fact/Fusion/Agent.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace fact {
/// A pass with the options of agents and the `agentStatistics` of AgentPass.td.
template <typename Base> class AgentPass : public Base {
public:
  AgentPass() = default;
  using Base::Base;
  /// The pass manager copies the values of options.
  AgentPass(const AgentPass &other) : Base(other) {}

protected:
#define FACT_AGENT_OPTION(type, field, flag, value, initial, help)             \
  mlir::Pass::Option<type> field{*this, flag, llvm::cl::desc(help),            \
                                 llvm::cl::init(initial)};
#include "fact/Fusion/AgentOptions.def"

  void setAgentOptions(AgentOptions &options) {
#define FACT_AGENT_OPTION(type, field, flag, value, initial, help)             \
  options.field = field;
#include "fact/Fusion/AgentOptions.def"
    auto *dialect = this->getContext().template getLoadedDialect<FactDialect>();
    options.memory = &AgentRegistry::get(*dialect).getMemory();
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

#endif // FACT_FUSION_AGENTPASS_H
