//===- AgentPass.td - What passes with an agent share ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of agents are in AgentOptions.def; AgentPass.h declares them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_FUSION_AGENTPASS_TD
#define FACT_FUSION_AGENTPASS_TD

include "mlir/Pass/PassBase.td"

defvar agentStatistics = [
  Statistic<"calls", "llm-calls", "Requests to a model">,
  Statistic<"sendings", "llm-retries", "Requests sent again">,
  Statistic<"tokensIn", "llm-tokens-in", "Tokens of requests">,
  Statistic<"tokensOut", "llm-tokens-out", "Tokens of answers">];

/// Packaged LLVMs are built without statistics.
defvar statisticsOption = [
  Option<"printsStatistics", "statistics", "bool", "false",
         "Print the statistics, as --mlir-pass-statistics does where LLVM was "
         "built with them">];

#endif // FACT_FUSION_AGENTPASS_TD
