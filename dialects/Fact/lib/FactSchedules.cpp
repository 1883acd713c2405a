//===- FactSchedules.cpp - Schedules and spaces as attributes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FactSchedules.h"
#include "fact/Dialect/Fact/Fact.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(EmitError emitError,
                                   const ScheduleKind *kind,
                                   ArrayRef<Extents> values) {
  if (values.size() != kind->parameters.size())
    return emitError() << kind->name << " has " << kind->parameters.size()
                       << " parameters, not " << values.size();
  for (auto [parameter, value] : llvm::zip(kind->parameters, values))
    if (failed(parameter.verify(value, emitError)))
      return failure();
  return success();
}

LogicalResult ScheduleAttr::checkValues(EmitError emitError) const {
  for (auto [parameter, value] : llvm::zip(getKind()->parameters, getValues()))
    if (failed(parameter.check(value, emitError)))
      return failure();
  return success();
}

std::string ScheduleAttr::getKey() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSchedule(os, *this);
  return text;
}

ScheduleAttr ScheduleAttr::adjusted() const {
  if (!getKind()->adjust)
    return *this;
  SmallVector<Extents> values(getValues());
  getKind()->adjust(values);
  return get(getContext(), getKind(), values);
}

ScheduleAttr ScheduleAttr::with(size_t parameter, const Extents &value) const {
  SmallVector<Extents> values(getValues());
  values[parameter] = value;
  return get(getContext(), getKind(), values);
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

SpaceAttr SpaceAttr::get(MLIRContext *context, const ScheduleKind &kind,
                         ArrayRef<SmallVector<Extents>> lists) {
  SmallVector<int64_t> counts;
  SmallVector<Extents> values;
  for (const SmallVector<Extents> &list : lists) {
    counts.push_back(list.size());
    llvm::append_range(values, list);
  }
  return get(context, &kind, counts, values);
}

LogicalResult SpaceAttr::verify(EmitError emitError, const ScheduleKind *kind,
                                ArrayRef<int64_t> counts,
                                ArrayRef<Extents> values) {
  if (counts.size() != kind->parameters.size())
    return emitError() << "a " << kind->name << " space has "
                       << kind->parameters.size() << " lists, not "
                       << counts.size();
  for (auto [parameter, count] : llvm::zip(kind->parameters, counts)) {
    for (const Extents &value : values.take_front(count))
      if (failed(parameter.verify(value, emitError)))
        return failure();
    values = values.drop_front(count);
  }
  return success();
}

ArrayRef<Extents> SpaceAttr::getList(size_t parameter) const {
  ArrayRef<Extents> values = getValues();
  for (int64_t count : getCounts().take_front(parameter))
    values = values.drop_front(count);
  return values.take_front(getCounts()[parameter]);
}

SmallVector<SmallVector<Extents>> SpaceAttr::getLists() const {
  SmallVector<SmallVector<Extents>> lists;
  for (size_t i = 0; i < getCounts().size(); ++i)
    lists.emplace_back(getList(i));
  return lists;
}

size_t SpaceAttr::countPoints() const {
  size_t points = 1;
  for (int64_t count : getCounts())
    points *= count;
  return points;
}

std::vector<ScheduleAttr> SpaceAttr::enumerate() const {
  SmallVector<SmallVector<Extents>> lists = getLists();
  std::vector<ScheduleAttr> points;
  // The last list varies fastest.
  for (size_t index = 0, count = countPoints(); index < count; ++index) {
    SmallVector<Extents> values(lists.size());
    size_t rest = index;
    for (size_t i = lists.size(); i-- > 0;) {
      values[i] = lists[i][rest % lists[i].size()];
      rest /= lists[i].size();
    }
    points.push_back(
        ScheduleAttr::get(getContext(), getKind(), values).adjusted());
  }
  return points;
}

std::vector<ScheduleAttr> SchedulesAttr::enumerate() const {
  return getSchedules().vec();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void fact::printSchedule(raw_ostream &os, ScheduleAttr schedule) {
  const ScheduleKind &kind = *schedule.getKind();
  os << kind.name;
  if (kind.parameters.empty())
    return;
  os << '<';
  llvm::interleaveComma(
      llvm::zip(kind.parameters, schedule.getValues()), os, [&](auto pair) {
        auto &[parameter, value] = pair;
        os << parameter.name << " = " << parameter.format(value);
      });
  os << '>';
}

void fact::printSpace(raw_ostream &os, SpaceAttr space) {
  os << space.getKind()->name << "_space<";
  llvm::interleaveComma(
      llvm::enumerate(space.getKind()->parameters), os, [&](auto indexed) {
        auto [i, parameter] = indexed;
        os << parameter.name << " = [";
        llvm::interleaveComma(
            space.getList(i), os,
            [&, &parameter = parameter](const Extents &value) {
              os << parameter.format(value);
            });
        os << ']';
      });
  os << '>';
}

/// Parses `<name = VALUE, ...>`, the parameters of a kind in any order.
static ParseResult
parseParameters(AsmParser &parser, const ScheduleKind &kind,
                function_ref<ParseResult(size_t parameter)> parseValue) {
  SmallVector<bool> seen(kind.parameters.size());
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<size_t> parameter = kind.find(name);
    if (!parameter)
      return parser.emitError(loc) << kind.name << " has no parameter '" << name
                                   << "'; it has " << kind.listParameters();
    if (std::exchange(seen[*parameter], true))
      return parser.emitError(loc) << "'" << name << "' is given twice";
    return failure(parser.parseEqual() || parseValue(*parameter));
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseOne))
    return failure();
  for (auto [given, parameter] : llvm::zip(seen, kind.parameters))
    if (!given)
      return parser.emitError(loc)
             << kind.name << " needs '" << parameter.name << "'";
  return success();
}

Attribute fact::parseSchedule(AsmParser &parser, const ScheduleKind &kind) {
  SmallVector<Extents> values(kind.parameters.size());
  auto parseValue = [&](size_t i) -> ParseResult {
    std::optional<Extents> value = kind.parameters[i].parse(parser);
    if (value)
      values[i] = *value;
    return success(value.has_value());
  };
  if (!kind.parameters.empty() && parseParameters(parser, kind, parseValue))
    return {};
  return ScheduleAttr::get(parser.getContext(), &kind, values);
}

Attribute fact::parseSpace(AsmParser &parser, const ScheduleKind &kind) {
  SmallVector<SmallVector<Extents>> lists(kind.parameters.size());
  auto parseList = [&](size_t i) {
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Square, [&]() -> ParseResult {
          std::optional<Extents> value = kind.parameters[i].parse(parser);
          if (value)
            lists[i].push_back(*value);
          return success(value.has_value());
        });
  };
  if (parseParameters(parser, kind, parseList))
    return {};
  return SpaceAttr::get(parser.getContext(), kind, lists);
}
