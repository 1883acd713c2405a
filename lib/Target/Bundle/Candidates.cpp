//===- Candidates.cpp - The schedules of a kernel to compile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Candidates.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fact;

/// Ranks fixed schedules with the best: a vendor's library costs little to try,
/// and users compare with it.
static void promote(std::vector<Candidate> &candidates) {
  auto isFaster = [](const Candidate &a, const Candidate &b) {
    return a.predicted < b.predicted;
  };
  double best = llvm::min_element(candidates, isFaster)->predicted;
  for (Candidate &candidate : candidates)
    if (candidate.isFixed)
      candidate.predicted = std::min(candidate.predicted, best);
}

std::vector<Candidate> fact::selectCandidates(const Plan &plan, size_t limit,
                                              bool wholeLists) {
  FusedOp fused = plan.getRegion();
  std::vector<ScheduleAttr> schedules;
  SmallVector<ScheduleAttr> fixed;
  bool isList = false;
  if (auto chosen = fused.getSchedule()) {
    schedules.push_back(cast<ScheduleAttr>(*chosen));
  } else {
    auto space = fused.getSpace() ? cast<SpaceAttrInterface>(*fused.getSpace())
                                  : plan.getSpace();
    isList = isa<SchedulesAttr>(space);
    schedules = space.enumerate();
    fixed = plan.getFixedSchedules();
    llvm::append_range(schedules, fixed);
  }
  std::vector<Candidate> candidates;
  llvm::StringSet<> seen;
  for (ScheduleAttr schedule : schedules)
    if (plan.isLegal(schedule) && seen.insert(schedule.getKey()).second)
      candidates.push_back({schedule, plan.predict(schedule),
                            llvm::is_contained(fixed, schedule),
                            candidates.size()});
  if (candidates.empty())
    return candidates;
  promote(candidates);
  // A list keeps its order, with the fixed schedules after its first. Other
  // spaces are sorted by prediction, then by position.
  llvm::sort(candidates.begin() + isList, candidates.end(),
             [&](const Candidate &a, const Candidate &b) {
               return isList ? std::tuple(!a.isFixed, a.position) <
                                   std::tuple(!b.isFixed, b.position)
                             : std::tie(a.predicted, a.position) <
                                   std::tie(b.predicted, b.position);
             });
  if (isList && wholeLists)
    return candidates;
  if (limit == 1)
    candidates.resize(1);
  // Further candidates of an object cost no compilation.
  llvm::StringSet<> objects;
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    std::string object = plan.getObjectKey(candidate.schedule);
    return !objects.contains(object) &&
           (objects.size() == limit || !objects.insert(object).second);
  });
  return candidates;
}
