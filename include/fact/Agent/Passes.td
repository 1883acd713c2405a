//===- Passes.td - Refinement ------------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_PASSES_TD
#define FACT_AGENT_PASSES_TD

include "fact/Fusion/AgentPass.td"

def Refine : Pass<"fact-refine", "::mlir::ModuleOp"> {
  let summary = "Search again where most time can be gained";
  let description = [{
    Reads the measurements of `fact-tune` for the module's kernels. A kernel
    within `1 + eps` of the least time that the machine needs (at the rates of
    `fact-tune --probe`, else at the speed of light), or with `window` attempts
    without gain, is done: it gets its best schedule. Of the others, those with the most
    time to gain get a space of legal schedules that were not tried: those that
    the agent proposes, else the neighbors of the best. Bundling and tuning the
    result is one round of refinement; `fact-compile --refine=N` runs N.
    The options of agents (docs/agents.md) are options of this pass too.
  }];
  let options = !listconcat(statisticsOption, [
    Option<"bundle", "bundle", "std::string", "\"\"", "The bundle that was tuned">,
    Option<"results", "results", "std::string", "\"\"",
           "The tuning.json of another run of the bundle; default: its own results">,
    Option<"eps", "eps", "double", "0.25",
           "A kernel is done if its time is at most this share above the least that the machine needs">,
    Option<"window", "window", "unsigned", "12", "A kernel is done after this many attempts without gain">,
    Option<"kernels", "kernels", "unsigned", "4", "Maximum kernels per round">,
    Option<"points", "points", "unsigned", "6", "Maximum new schedules per kernel">]);
  let statistics = !listconcat(agentStatistics, [
    Statistic<"nominated", "kernels-nominated", "Kernels searched again">,
    Statistic<"withinEps", "kernels-within-eps", "Kernels within eps of the speed of light">,
    Statistic<"withoutGain", "kernels-without-gain", "Kernels without gain in the window">,
    Statistic<"pointsStatistic", "points", "New schedules">]);
  let dependentDialects = ["::fact::FactDialect"];
}

#endif // FACT_AGENT_PASSES_TD
