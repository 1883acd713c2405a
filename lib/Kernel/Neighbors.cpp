//===- Neighbors.cpp - Schedules near a schedule --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Neighbors.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;

/// The values before and after `value` in a list; the whole list if it does not
/// have the value.
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

/// The schedules that differ from `schedule` in one parameter, with the values
/// of `getOthers`; none if the space is of another kind.
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

ScheduleAttr fact::parseSchedule(MLIRContext *context, StringRef key) {
  // Keys are untrusted: accept only one short attribute.
  if (key.empty() || key.size() > 400 || !llvm::all_of(key, [](char c) {
        return llvm::isAlnum(c) || StringRef("_<>=, ").contains(c);
      }))
    return {};
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  return dyn_cast_or_null<ScheduleAttr>(
      parseAttribute(("#fact." + key).str(), context));
}
