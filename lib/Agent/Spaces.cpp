//===- Spaces.cpp - Spaces from lists of words ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Spaces.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;
using chat::SpaceLists;

static constexpr size_t maxPoints = 4096;

/// Parses an attribute without a word to the user; `error` has the reason.
static Attribute parseQuietly(MLIRContext *context, const Twine &text,
                              std::string &error) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return success();
  });
  return parseAttribute(text.str(), context);
}

SpaceLists fact::getLists(SpaceAttrInterface space) {
  auto product = dyn_cast<SpaceAttr>(space);
  if (!product)
    return {};
  SpaceLists lists;
  for (auto [i, parameter] : llvm::enumerate(product.getKind()->parameters)) {
    std::vector<std::string> words;
    for (const Extents &value : product.getList(i))
      words.push_back(parameter.format(value));
    lists.emplace_back(parameter.name, std::move(words));
  }
  return lists;
}

size_t fact::countPoints(SpaceAttrInterface space) {
  if (auto schedules = dyn_cast<SchedulesAttr>(space))
    return schedules.getSchedules().size();
  return cast<SpaceAttr>(space).countPoints();
}

FailureOr<SpaceAttrInterface> fact::replaceLists(SpaceAttrInterface base,
                                                 const SpaceLists &lists,
                                                 EmitError emitError) {
  auto product = cast<SpaceAttr>(base);
  const ScheduleKind &kind = *product.getKind();
  SmallVector<SmallVector<Extents>> merged = product.getLists();
  for (const auto &[name, words] : lists) {
    std::optional<size_t> index = kind.find(name);
    if (!index)
      return emitError() << "a " << kind.name << " space has no '" << name
                         << "'; it has " << kind.listParameters();
    merged[*index].clear();
    for (const std::string &word : words) {
      std::string error;
      std::optional<Extents> value = kind.parameters[*index].parse(word, error);
      if (!value)
        return emitError() << "its space cannot be read: " << error;
      merged[*index].push_back(*value);
    }
  }
  auto space = SpaceAttr::get(base.getContext(), kind, merged);
  if (space.countPoints() > maxPoints)
    return emitError() << "its space has " << space.countPoints()
                       << " points, and at most " << maxPoints
                       << " are searched";
  return SpaceAttrInterface(space);
}

/// The values before and after `value` in a list; all of it where the list does
/// not have the value.
static std::vector<Extents> getNextTo(const Extents &value,
                                      ArrayRef<Extents> list) {
  const Extents *at = llvm::find(list, value);
  if (at == list.end())
    return list.vec();
  std::vector<Extents> next;
  if (at != list.begin())
    next.push_back(*(at - 1));
  if (at + 1 != list.end())
    next.push_back(*(at + 1));
  return next;
}

/// The schedules that differ from `schedule` in one parameter, whose values
/// `getOthers` gives; none where it is of another kind than the space.
static SmallVector<ScheduleAttr> changeOne(
    ScheduleAttr schedule, SpaceAttrInterface space,
    llvm::function_ref<std::vector<Extents>(size_t parameter)> getOthers) {
  SmallVector<ScheduleAttr> changed;
  auto product = dyn_cast<SpaceAttr>(space);
  if (!product || product.getKind() != schedule.getKind())
    return changed;
  for (size_t i = 0; i < schedule.getValues().size(); ++i)
    for (const Extents &other : getOthers(i)) {
      ScheduleAttr neighbor = schedule.with(i, other).adjusted();
      if (neighbor != schedule && !llvm::is_contained(changed, neighbor))
        changed.push_back(neighbor);
    }
  return changed;
}

SmallVector<ScheduleAttr> fact::getNeighbors(ScheduleAttr schedule,
                                             SpaceAttrInterface space) {
  return changeOne(schedule, space, [&](size_t i) {
    return getNextTo(schedule.getValues()[i],
                     cast<SpaceAttr>(space).getList(i));
  });
}

SmallVector<ScheduleAttr> fact::getStepsAway(ScheduleAttr schedule,
                                             SpaceAttrInterface space) {
  return changeOne(schedule, space, [&](size_t i) {
    return schedule.getKind()->parameters[i].getSteps(schedule.getValues()[i]);
  });
}

SpaceLists fact::getPoint(SpaceAttrInterface space, ScheduleAttr schedule) {
  SpaceLists lists = getLists(space);
  // A schedule of another kind (a vendor's) has other parameters.
  if (schedule && schedule.getKind() == cast<SpaceAttr>(space).getKind())
    for (auto [i, value] : llvm::enumerate(schedule.getValues()))
      lists[i].second = {schedule.getKind()->parameters[i].format(value)};
  return lists;
}

ScheduleAttr fact::parseSchedule(MLIRContext *context, StringRef key) {
  // A key is one attribute of the dialect, and short.
  if (key.empty() || key.size() > 400 ||
      !llvm::all_of(key, [](char c) {
        return llvm::isAlnum(c) || StringRef("_<>=, ").contains(c);
      }))
    return {};
  std::string error;
  return dyn_cast_or_null<ScheduleAttr>(
      parseQuietly(context, "#fact." + key, error));
}
