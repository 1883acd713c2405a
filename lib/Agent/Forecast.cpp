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

/// The least prediction of a legal schedule.
static double predictBest(const Plan &plan) {
  double best = std::numeric_limits<double>::infinity();
  auto consider = [&](ScheduleAttr schedule) {
    if (plan.isLegal(schedule))
      best = std::min(best, plan.predict(schedule));
  };
  for (ScheduleAttr schedule : plan.getSpace().enumerate())
    consider(schedule);
  for (ScheduleAttr schedule : plan.getFixedSchedules())
    consider(schedule);
  return best;
}

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
  double us = predictBest(**plan);
  // The proposal may have a space of its own where the default has no point.
  if (!std::isfinite(us))
    us = getSpeedOfLight(fused).getMicroseconds(target.getMachine());
  return place->second = us;
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
