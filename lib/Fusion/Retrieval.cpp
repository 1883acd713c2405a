//===- Retrieval.cpp - Registry entries for a region ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Retrieval.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Fusion/Problem.h"
#include "fact/Kernel/Neighbors.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <limits>
#include <map>

using namespace mlir;
using namespace fact;

/// Maximum schedules of an adapted search: a longer one saves no time over a
/// new search. Where entries of the same ops are near, fewer are enough.
static constexpr size_t maxAdapted = 16, maxAlike = 8, maxKnown = 5;

/// Schedules that were this much slower than the best for a problem nearby are
/// not tried.
static constexpr double slow = 1.25;

/// Schedules that an entry must have of a problem, to search no others for it.
static constexpr size_t enough = 3;

Retrieval::Retrieval(ModuleOp module, const DiscoveryOptions &options,
                     const Target &target)
    : target(target) {
  std::vector<std::filesystem::path> layers(options.patterns.begin(),
                                            options.patterns.end());
  if (layers.empty())
    layers = registry::getDefaultLayers();
  registry = registry::Registry::load(layers, [&](const std::string &problem) {
    mlir::emitWarning(module.getLoc()) << "the registry: " << problem;
  });
}

std::vector<registry::Match> Retrieval::find(FusedOp fused) const {
  return registry.find(getProblem(fused, target));
}

/// A kernel's problem, for diagnostics.
std::string Retrieval::describeProblem(FusedOp fused) const {
  registry::Problem problem = getProblem(fused, target);
  return llvm::formatv("{0} of {1} on {2} ({3}, {4})", problem.rule,
                       problem.dtype, problem.architecture, problem.ops,
                       problem.getExtentsText());
}

/// The first match with an accepted schedule, or null.
static const registry::Match *
findAccepted(const std::vector<registry::Match> &matches) {
  for (const registry::Match &match : matches)
    if (match.entry->getBest())
      return &match;
  return nullptr;
}

/// Whether an entry is the result of a search, rather than of one or two
/// schedules of a larger space.
static bool isSearched(const Target &target, FusedOp fused,
                       const registry::Entry &entry) {
  size_t tried =
      llvm::count_if(entry.schedules, [](const registry::Schedule &schedule) {
        return schedule.status != registry::Status::Pending;
      });
  if (tried >= enough)
    return true;
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, Silence(fused));
  return failed(plan) || tried >= (*plan)->getSpace().enumerate().size();
}

Advice Retrieval::advise(FusedOp fused) const {
  std::vector<registry::Match> matches = find(fused);
  const registry::Match *match = findAccepted(matches);
  if (!match)
    return {StrategyAttr::get(fused.getContext(), StrategyKind::create, ""),
            {}};
  bool isSame = match->relation == registry::Relation::Reuse;
  return advise(fused, *match->entry,
                isSame && isSearched(target, fused, *match->entry)
                    ? StrategyKind::reuse
                    : StrategyKind::adapt);
}

/// The strategy that these matches allow, for diagnostics.
static std::string suggest(const std::vector<registry::Match> &matches) {
  const registry::Match *match = findAccepted(matches);
  if (!match)
    return "; no entry is near: use NEW";
  bool isSame = match->relation == registry::Relation::Reuse;
  return "; '" + match->entry->getId() +
         (isSame ? "' has the same problem: use REUSE"
                 : "' is the nearest: use ADAPT");
}

FailureOr<Advice> Retrieval::advise(FusedOp fused, StrategyKind kind,
                                    StringRef id, EmitError emitError) const {
  std::vector<registry::Match> matches = find(fused);
  auto found = llvm::find_if(matches, [&](const registry::Match &match) {
    return match.entry->getId() == id;
  });
  if (found == matches.end()) {
    if (const registry::Entry *entry = registry.lookup(id.str()))
      return emitError() << "entry '" << id << "' ("
                         << entry->problem.getExtentsText()
                         << ") is not near this kernel, "
                         << describeProblem(fused) << suggest(matches);
    return emitError() << "there is no entry '" << id << "'"
                       << suggest(matches);
  }
  const registry::Entry &entry = *found->entry;
  if (!entry.getBest())
    return emitError() << "entry '" << id << "' has no accepted schedule"
                       << suggest(matches);
  if (kind == StrategyKind::reuse &&
      found->relation != registry::Relation::Reuse)
    return emitError() << "entry '" << id << "' (" << entry.problem.ops << ", "
                       << entry.problem.getExtentsText()
                       << ") is near this kernel, " << describeProblem(fused)
                       << ", but not the same: use ADAPT"
                       << (findAccepted(matches)->relation ==
                                   registry::Relation::Reuse
                               ? suggest(matches)
                               : "");
  Advice advice = advise(fused, entry, kind);
  if (kind == StrategyKind::reuse && !advice.space)
    return emitError() << "no schedule of entry '" << id
                       << "' is legal for this kernel: use NEW";
  return advice;
}

/// The best predicted first.
static SmallVector<ScheduleAttr>
sortByPrediction(const Plan &plan, ArrayRef<ScheduleAttr> schedules) {
  std::multimap<double, ScheduleAttr> ranked;
  for (ScheduleAttr schedule : schedules)
    ranked.emplace(plan.predict(schedule), schedule);
  return llvm::map_to_vector(ranked, [](auto &each) { return each.second; });
}

namespace {
/// A schedule's time for a problem nearby, over that of the best one there.
struct RelativeTime {
  double median = std::numeric_limits<double>::infinity();
  /// The end of its interval: noise must not exclude a schedule.
  double least = std::numeric_limits<double>::infinity();
};
using RelativeTimes = std::map<std::string, RelativeTime>;
} // namespace

/// What entries of the same ops say about schedules, by key: of several entries
/// the nearest one's word. Infinite for schedules that failed.
static RelativeTimes
getRelativeTimes(const std::vector<registry::Match> &matches,
                 const registry::Problem &problem) {
  RelativeTimes times;
  for (const registry::Match &match : matches) {
    const registry::Schedule *best = match.entry->getBest();
    if (!best || !problem.hasSameOps(match.entry->problem))
      continue;
    for (const registry::Schedule &known : match.entry->schedules) {
      RelativeTime time;
      if (known.status == registry::Status::Accepted) {
        time.median = known.us / best->us;
        time.least = known.usLow > 0 ? known.usLow / best->us : time.median;
      }
      if (known.status != registry::Status::Pending)
        times.try_emplace(known.key, time);
    }
  }
  return times;
}

/// The schedules for a problem with the same ops as near ones: the best of
/// those, and neighbors of the best that nobody has tried.
static SmallVector<ScheduleAttr> transfer(const Plan &plan,
                                          const RelativeTimes &times) {
  std::multimap<double, std::string> ranked;
  for (const auto &[key, time] : times)
    if (time.least <= slow)
      ranked.emplace(time.median, key);
  SmallVector<ScheduleAttr> schedules;
  auto add = [&](ScheduleAttr schedule, size_t most) {
    if (schedule && schedules.size() < most &&
        !llvm::is_contained(schedules, schedule) && plan.isLegal(schedule))
      schedules.push_back(schedule);
  };
  MLIRContext *context = plan.getRegion()->getContext();
  // The better half, so that a small space that was searched nearby is not
  // searched again.
  size_t most = std::min(maxKnown, (times.size() + 1) / 2);
  for (const auto &[time, key] : ranked)
    add(parseSchedule(context, key), most);
  if (schedules.empty())
    return schedules;
  for (ScheduleAttr next : getNeighbors(schedules.front(), plan.getSpace()))
    if (!times.count(next.getKey()))
      add(next, maxAlike);
  return schedules;
}

Advice Retrieval::advise(FusedOp fused, const registry::Entry &entry,
                         StrategyKind kind) const {
  MLIRContext *context = fused.getContext();
  Advice advice{StrategyAttr::get(context, kind, entry.getId()), {}};
  if (kind == StrategyKind::create)
    return advice;
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, Silence(fused));
  if (failed(plan))
    return advice;
  // An entry of other ops tells less about this kernel than the predictions.
  registry::Problem problem = getProblem(fused, target);
  if (kind == StrategyKind::adapt && problem.hasSameOps(entry.problem)) {
    SmallVector<ScheduleAttr> schedules =
        transfer(**plan, getRelativeTimes(registry.find(problem), problem));
    if (!schedules.empty())
      advice.space = SchedulesAttr::get(context, schedules);
    return advice;
  }
  SmallVector<ScheduleAttr> schedules;
  auto add = [&](ScheduleAttr schedule) {
    if (!schedule || schedules.size() == maxAdapted ||
        llvm::is_contained(schedules, schedule) || !(*plan)->isLegal(schedule))
      return;
    schedules.push_back(schedule);
  };
  for (const registry::Schedule &known : entry.schedules)
    if (known.status == registry::Status::Accepted)
      add(parseSchedule(context, known.key));
  if (schedules.empty())
    return advice;
  if (kind == StrategyKind::adapt) {
    SpaceAttrInterface space = (*plan)->getSpace();
    ScheduleAttr best = schedules.front();
    SmallVector<ScheduleAttr> predicted =
        sortByPrediction(**plan, space.enumerate());
    for (ScheduleAttr schedule : ArrayRef(predicted).take_front(4))
      add(schedule);
    for (ScheduleAttr next : getNeighbors(best, space))
      add(next);
    schedules = sortByPrediction(**plan, schedules);
  }
  advice.space = SchedulesAttr::get(context, schedules);
  return advice;
}

std::optional<double> Retrieval::predictMicroseconds(FusedOp fused) const {
  const MachineDescription &machine = target.getMachine();
  registry::Problem problem = getProblem(fused, target);
  for (const registry::Match &match : registry.find(problem)) {
    const registry::Schedule *best = match.entry->getBest();
    if (best && best->solShare > 0 && problem.hasSameOps(match.entry->problem))
      return getSpeedOfLight(fused).getMicroseconds(machine) / best->solShare;
  }
  return std::nullopt;
}

std::optional<registry::Reached>
Retrieval::findBestShare(StringRef rule) const {
  return registry.findBestShare(rule.str(),
                                target.getMachine().architecture.str());
}
