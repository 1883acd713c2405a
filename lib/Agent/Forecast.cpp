//===- Forecast.cpp - Predicted times of groupings ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Forecast.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Fusion/Problem.h"
#include "fact/Fusion/Retrieval.h"
#include "llvm/ADT/ScopeExit.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;

double Forecast::predict(const Proposal &proposal) {
  const Target &target = fusibility.getTarget();
  FusedOp fused = fusibility.outline(proposal.rule, proposal.ops);
  llvm::scope_exit erase([&] { fused->erase(); });
  auto [place, isNew] =
      known.try_emplace(getProblem(fused, target).getId(), 0.0);
  if (!isNew)
    return place->second;
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, Silence(fused));
  assert(succeeded(plan) && "only legal groups are predicted");
  // The proposal may have a space of its own where the default has no point.
  std::optional<Plan::Prediction> best = (*plan)->findBest();
  return place->second =
             best ? best->microseconds
                  : getSpeedOfLight(fused).getMicroseconds(target.getMachine());
}

double Forecast::predict(ArrayRef<Proposal> proposals) {
  double sum = 0;
  for (const Proposal &proposal : proposals)
    sum += predict(proposal);
  return sum;
}

std::vector<Proposal> Forecast::cover(Block &block,
                                      ArrayRef<Proposal> groups) const {
  GroupedBlock decided(block);
  for (const Proposal &group : groups)
    decided.add(group.ops);
  return createRulesAgent(retrieval)->propose(decided, fusibility);
}
