//===- Spaces.cpp - Spaces from lists of words ----------------------------===//

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

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

StringRef fact::getFamily(SpaceAttrInterface space) {
  StringRef name = space.getAbstractAttribute().getName().rsplit('.').second;
  name.consume_back("_space");
  return name;
}

/// Splits the parameters `a = x, b = [y, z]` of an attribute's text.
static SpaceLists splitParameters(StringRef text) {
  SpaceLists lists;
  text = text.split('<').second;
  text.consume_back(">");
  while (!text.empty()) {
    auto [name, rest] = text.split('=');
    rest = rest.ltrim();
    StringRef values;
    if (rest.consume_front("["))
      std::tie(values, text) = rest.split(']');
    else {
      values = rest.take_until([](char c) { return c == ','; });
      text = rest.drop_front(values.size());
    }
    text = text.ltrim(", ");
    SmallVector<StringRef> words;
    values.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    std::vector<std::string> list;
    for (StringRef word : words)
      list.push_back(word.trim().str());
    lists.emplace_back(name.trim().str(), std::move(list));
  }
  return lists;
}

SpaceLists fact::getLists(SpaceAttrInterface space) {
  if (isa<SchedulesAttr>(space))
    return {};
  return splitParameters(print(space));
}

static size_t countPoints(const SpaceLists &lists) {
  size_t points = 1;
  for (const auto &[name, values] : lists)
    points *= std::max<size_t>(1, values.size());
  return points;
}

size_t fact::countPoints(SpaceAttrInterface space) {
  if (auto schedules = dyn_cast<SchedulesAttr>(space))
    return schedules.getSchedules().size();
  return ::countPoints(getLists(space));
}

static std::string joinLists(SpaceAttrInterface base, const SpaceLists &lists) {
  std::string text =
      ("#" + base.getAbstractAttribute().getName() + "<").str();
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(lists, os, [&](const auto &list) {
    os << list.first << " = [" << llvm::join(list.second, ", ") << "]";
  });
  os << ">";
  return text;
}

FailureOr<SpaceAttrInterface> fact::replaceLists(SpaceAttrInterface base,
                                                 const SpaceLists &lists,
                                                 EmitError emitError) {
  SpaceLists merged = getLists(base);
  for (const auto &[name, values] : lists) {
    auto known = llvm::find_if(
        merged, [&, &name = name](const auto &list) { return list.first == name; });
    if (known == merged.end()) {
      InFlightDiagnostic diagnostic =
          emitError() << "a " << getFamily(base) << " space has no '" << name
                      << "'; it has ";
      llvm::interleaveComma(merged, diagnostic, [&](const auto &list) {
        diagnostic << "'" << list.first << "'";
      });
      return diagnostic;
    }
    known->second = values;
  }
  size_t points = ::countPoints(merged);
  if (points > maxPoints)
    return emitError() << "its space has " << points
                       << " points, and at most " << maxPoints
                       << " are searched";
  std::string error;
  auto space = dyn_cast_or_null<SpaceAttrInterface>(
      parseQuietly(base.getContext(), joinLists(base, merged), error));
  if (!space)
    return emitError() << "its space cannot be read: " << error;
  return space;
}

/// The values before and after `value` in a list; all of it where the list does
/// not have the value.
static std::vector<std::string> getNextTo(const std::string &value,
                                          const std::vector<std::string> &list) {
  auto at = llvm::find(list, value);
  if (at == list.end())
    return list;
  std::vector<std::string> next;
  if (at != list.begin())
    next.push_back(*(at - 1));
  if (at + 1 != list.end())
    next.push_back(*(at + 1));
  return next;
}

/// Each number of `8x12` halved and doubled; nothing of a word.
static std::vector<std::string> getSteps(const std::string &value) {
  SmallVector<StringRef> parts;
  StringRef(value).split(parts, 'x');
  std::vector<std::string> steps;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t number;
    if (parts[i].getAsInteger(10, number) || number > (1 << 20))
      return {};
    for (int64_t step : {number / 2, number * 2}) {
      if (step == 0)
        continue;
      std::string changed = std::to_string(step);
      SmallVector<StringRef> others = parts;
      others[i] = changed;
      steps.push_back(llvm::join(others, "x"));
    }
  }
  return steps;
}

/// The schedules that differ from `schedule` in one parameter, whose value is
/// one of those that `getOthers` gives.
static SmallVector<ScheduleAttrInterface> changeOne(
    ScheduleAttrInterface schedule, SpaceAttrInterface space,
    llvm::function_ref<std::vector<std::string>(
        const std::string &value, const std::vector<std::string> &list)>
        getOthers) {
  SmallVector<ScheduleAttrInterface> changed;
  SpaceLists lists = getLists(space), own = splitParameters(print(schedule));
  if (lists.size() != own.size())
    return changed;
  for (auto [i, list] : llvm::enumerate(lists))
    for (const std::string &other :
         getOthers(own[i].second.front(), list.second)) {
      SpaceLists point = own;
      point[i].second = {other};
      std::string error;
      if (auto one = dyn_cast_or_null<SpaceAttrInterface>(parseQuietly(
              space.getContext(), joinLists(space, point), error)))
        for (ScheduleAttrInterface neighbour : one.enumerate())
          if (neighbour != schedule && !llvm::is_contained(changed, neighbour))
            changed.push_back(neighbour);
    }
  return changed;
}

SmallVector<ScheduleAttrInterface>
fact::getNeighbours(ScheduleAttrInterface schedule, SpaceAttrInterface space) {
  return changeOne(schedule, space, getNextTo);
}

SmallVector<ScheduleAttrInterface>
fact::getStepsAway(ScheduleAttrInterface schedule, SpaceAttrInterface space) {
  return changeOne(schedule, space,
                   [](const std::string &value,
                      const std::vector<std::string> &) {
                     return getSteps(value);
                   });
}

SpaceLists fact::getPoint(SpaceAttrInterface space,
                          ScheduleAttrInterface schedule) {
  SpaceLists lists = getLists(space), own;
  if (schedule)
    own = splitParameters(print(schedule));
  // A schedule of another family (a vendor's) has other parameters.
  for (auto &[name, values] : lists)
    for (const auto &[known, value] : own)
      if (known == name)
        values = value;
  return lists;
}

ScheduleAttrInterface fact::parseSchedule(MLIRContext *context, StringRef key) {
  // A key is one attribute of the dialect, and short.
  if (key.empty() || key.size() > 400 ||
      !llvm::all_of(key, [](char c) {
        return llvm::isAlnum(c) || StringRef("_<>=, ").contains(c);
      }))
    return {};
  std::string error;
  return dyn_cast_or_null<ScheduleAttrInterface>(
      parseQuietly(context, "#fact." + key, error));
}
