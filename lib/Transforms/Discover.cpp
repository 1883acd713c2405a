//===- Discover.cpp - Group ops into the kernels that will run them -------===//

#include "AgentPass.h"
#include "fact/Transforms/Passes.h"

namespace fact {
#define GEN_PASS_DEF_DISCOVER
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct DiscoverPass : AgentPass<fact::impl::DiscoverBase<DiscoverPass>> {
  using AgentPass::AgentPass;

  void runOnOperation() override {
    DiscoveryOptions options = getAgentOptions();
    options.target = target;
    options.patterns.assign(patterns.begin(), patterns.end());

    DiscoveryReport report;
    if (failed(discover(getOperation(), options, report)))
      signalPassFailure();
    proposed = report.proposed;
    accepted = report.accepted;
    rejected = report.getRejected();
    covered = report.covered;
    rejectedByRule = report.rejected["rule"] + report.rejected["realiser"];
    rejectedByGraph = report.rejected["cycle"] + report.rejected["op"] +
                      report.rejected["empty"] + report.rejected["unused"];
    rejectedBySpace = report.rejected["space"];
    rejectedByReading = report.rejected["answer"];
    calls = report.calls;
    sendings = report.retries;
    tokensIn = report.tokensIn;
    tokensOut = report.tokensOut;
    milliseconds = unsigned(1e3 * report.seconds);
  }
};
} // namespace
