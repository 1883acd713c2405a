//===- SpaceLists.cpp - Spaces from lists of words ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SpaceLists.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace fact;
using chat::SpaceLists;

static constexpr size_t maxPoints = 4096;

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
      return emitError() << "a " << kind.name << " space has no parameter '"
                         << name << "'; it has " << kind.listParameters();
    merged[*index].clear();
    for (const std::string &word : words) {
      std::string error;
      std::optional<Extents> value = kind.parameters[*index].parse(word, error);
      if (!value)
        return emitError() << "invalid space: " << error;
      merged[*index].push_back(*value);
    }
  }
  auto space = SpaceAttr::get(base.getContext(), kind, merged);
  if (space.countPoints() > maxPoints)
    return emitError() << "its space has " << space.countPoints()
                       << " points; the limit is " << maxPoints;
  return SpaceAttrInterface(space);
}

SpaceLists fact::getPoint(SpaceAttrInterface space, ScheduleAttr schedule) {
  SpaceLists lists = getLists(space);
  // A schedule of another kind (a vendor library's) has other parameters.
  if (schedule && schedule.getKind() == cast<SpaceAttr>(space).getKind())
    for (auto [i, value] : llvm::enumerate(schedule.getValues()))
      lists[i].second = {schedule.getKind()->parameters[i].format(value)};
  return lists;
}
