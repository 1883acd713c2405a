//===- Passes.td - Discovery -------------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_PASSES_TD
#define FACT_FUSION_PASSES_TD

include "fact/Fusion/AgentPass.td"

def Discover : Pass<"fact-discover", "::mlir::ModuleOp"> {
  let summary = "Group ops into the kernels that will run them";
  let description = [{
    An agent proposes groups of ops, each with a rule. The Fusibility analysis
    checks each proposal against what the target can emit, and accepted groups
    become `fact.fused` regions with a space to search. The rules cover the ops
    that an agent leaves. Remarks say which proposals were accepted, and why
    others were rejected. An op that ends up in no kernel is an error, with the
    reason of each rule of the target. An output that is also an input, a weight
    or another output is copied.

    An existing `fact.fused` is checked the same way for this target: its rule,
    its region, its schedule or space. The ops beside it are covered.

    `agent=rules` is offline and deterministic. `agent=llm` asks a language model
    behind an OpenAI-compatible endpoint and writes a transcript, which
    `agent=replay` repeats offline; docs/agents.md describes both, and the options
    of agents, which this pass has beside its own. Passes of one tool with
    the same transcript are one run: they add to it.
  }];
  let options = !listconcat(statisticsOption, [
    Option<"target", "target", "std::string", "\"\"",
           "Machine to compile for, or a .json file that describes one; default: "
           "the module's fact.target, else host">,
    Option<"placeParts", "place-parts", "bool", "true",
           "Kernels write their parts of a concatenation in place">,
    Option<"padRows", "pad-rows", "bool", "true",
           "Rows of factors and results of products begin at multiples of 16 bytes">,
    ListOption<"patterns", "patterns", "std::string",
               "Folders of the registry, upper layers first; default: the user's "
               "and the built-in one">]);
  let statistics = !listconcat(agentStatistics, [
    Statistic<"proposed", "subgraphs-proposed", "Subgraphs that the agent proposed">,
    Statistic<"accepted", "subgraphs-accepted", "Subgraphs accepted">,
    Statistic<"rejected", "subgraphs-rejected", "Subgraphs rejected">,
    Statistic<"rejectedByRule", "rejected-by-rule", "Rejected by the family of the rule, or no such rule">,
    Statistic<"rejectedByGraph", "rejected-by-graph", "Rejected by the graph around them">,
    Statistic<"rejectedBySpace", "rejected-by-space", "Rejected because no schedule is legal">,
    Statistic<"rejectedByReading", "rejected-by-reading", "Rejected because the proposal could not be parsed">,
    Statistic<"legalFirst", "legal-at-first", "Patterns of a language model that were legal in its first answer about a graph">,
    Statistic<"legalRepaired", "legal-after-repair", "Patterns of a language model that were legal in a later answer">,
    Statistic<"covered", "subgraphs-covered", "Subgraphs by the rules, for ops that the agent left">,
    Statistic<"prepared", "subgraphs-prepared", "Subgraphs by the rules, of functions that run when weights are loaded">,
    Statistic<"milliseconds", "milliseconds", "Milliseconds that discovery took">]);
  let dependentDialects = ["::fact::FactDialect"];
}

#endif // FACT_FUSION_PASSES_TD
