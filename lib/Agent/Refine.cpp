//===- Refine.cpp - Search again where there is most to gain --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Agent/Passes.h"
#include "fact/Agent/Refinement.h"
#include "fact/Fusion/AgentPass.h"

namespace fact {
#define GEN_PASS_DEF_REFINE
#include "fact/Agent/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct RefinePass : AgentPass<fact::impl::RefineBase<RefinePass>> {
  using AgentPass::AgentPass;

  void runOnOperation() override {
    RefinementOptions options;
    options.bundle = bundle;
    options.results = results;
    options.eps = eps;
    options.window = window;
    options.kernels = kernels;
    options.points = points;
    setAgentOptions(options.agent);

    RefinementReport report;
    if (failed(refine(getOperation(), options, report)))
      return signalPassFailure();
    countRequests(report.agent);
    count(nominated, "kernels-nominated", report.nominated);
    count(withinEps, "kernels-within-eps", report.withinEps);
    count(withoutGain, "kernels-without-gain", report.withoutGain);
    count(pointsStatistic, "points", report.points);
    printStatistics();
  }
};
} // namespace
