//===- Discover.cpp - Group ops into the kernels that will run them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/AgentPass.h"
#include "fact/Fusion/Discovery.h"
#include "fact/Fusion/Passes.h"

namespace fact {
#define GEN_PASS_DEF_DISCOVER
#include "fact/Fusion/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct DiscoverPass : AgentPass<fact::impl::DiscoverBase<DiscoverPass>> {
  using AgentPass::AgentPass;

  void runOnOperation() override {
    DiscoveryOptions options;
    setAgentOptions(options);
    options.target = target;
    options.placeParts = placeParts;
    options.padRows = padRows;
    options.patterns.assign(patterns.begin(), patterns.end());

    DiscoveryReport report;
    if (failed(discover(getOperation(), options, report)))
      signalPassFailure();
    count(proposed, "subgraphs-proposed", report.proposed);
    count(accepted, "subgraphs-accepted", report.accepted);
    count(rejected, "subgraphs-rejected", report.getRejected());
    count(rejectedByRule, "rejected-by-rule",
          report.rejected["rule"] + report.rejected["family"]);
    count(rejectedByGraph, "rejected-by-graph",
          report.rejected["cycle"] + report.rejected["op"] +
              report.rejected["empty"] + report.rejected["unused"]);
    count(rejectedBySpace, "rejected-by-space", report.rejected["space"]);
    count(rejectedByReading, "rejected-by-reading", report.rejected["answer"]);
    unsigned first = 0, repaired = 0;
    for (const auto &[strategy, counts] : report.strategies) {
      first += counts.legalFirst;
      repaired += counts.legalRepaired;
    }
    count(legalFirst, "legal-at-first", first);
    count(legalRepaired, "legal-after-repair", repaired);
    count(covered, "subgraphs-covered", report.covered);
    count(prepared, "subgraphs-prepared", report.prepared);
    countRequests(report);
    count(milliseconds, "milliseconds", uint64_t(1e3 * report.seconds));
    printStatistics();
  }
};
} // namespace
