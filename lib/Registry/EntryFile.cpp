//===- EntryFile.cpp - The JSON of the registry ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads exactly what patterns/schema.json describes, and what no schema can
// say: that problems are distinct and a file is where it belongs.
//
//===----------------------------------------------------------------------===//

#include "fact/Registry/EntryFile.h"
#include "fact/Runtime/ElementType.h"
#include "fact/Runtime/Text.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace fact {
namespace registry {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static constexpr int maximumDepth = 16;
static constexpr size_t maximumText = 1000;
static constexpr size_t maximumOps = 4000;
static constexpr int64_t maximumExtent = int64_t(1) << 48;
constexpr size_t maximumExtents = 16;
/// A few cycles of any clock.
static constexpr double minimumMicroseconds = 1e-3;
static constexpr double maximumMicroseconds = 1e12;
/// fact-tune takes nothing for a measurement that is more than 10% faster than
/// light.
static constexpr double maximumShare = 1.2;
static constexpr int64_t maximumRuns = 1000000000;
/// Of the time of one program over that of another.
static constexpr double maximumRatio = 1000;

bool isPossibleTime(double us, double solUs) {
  return us >= minimumMicroseconds && us <= maximumMicroseconds &&
         solUs <= maximumShare * us;
}

bool isDate(const std::string &text) {
  if (text.size() != 10)
    return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
      return false;
  int year = std::stoi(text.substr(0, 4)), month = std::stoi(text.substr(5, 2)),
      day = std::stoi(text.substr(8, 2));
  bool isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int days[] = {31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
                      31};
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

namespace {

/// Thrown and caught in this file.
class Malformed : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

using Predicate = bool (*)(const std::string &);

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// ^[a-z][a-z0-9_]*$
bool isName(const std::string &text) {
  return !text.empty() && isLower(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return isLower(c) || isDigit(c) || c == '_';
         });
}

/// "sm_90a", "host", "x86-64-v3": ^[a-z][a-z0-9_-]*$
bool isArchitecture(const std::string &text) {
  std::string name = text;
  std::replace(name.begin(), name.end(), '-', '_');
  return isName(name);
}

/// Names with details: ^NAME(.NAME)*(,NAME(.NAME)*)*$
bool isOpList(const std::string &text) {
  size_t begin = 0;
  for (;;) {
    size_t end = text.find_first_of(",.", begin);
    if (!isName(text.substr(begin, end - begin)))
      return false;
    if (end == std::string::npos)
      return true;
    begin = end + 1;
  }
}

/// ^[a-z][a-z0-9_]*(<[a-zA-Z0-9_ =,.-]*>)?$
bool isScheduleKey(const std::string &text) {
  size_t open = text.find('<');
  if (open == std::string::npos)
    return isName(text);
  return isName(text.substr(0, open)) && text.back() == '>' &&
         std::all_of(text.begin() + open + 1, text.end() - 1, [](char c) {
           return isLower(c) || isDigit(c) || (c >= 'A' && c <= 'Z') ||
                  std::string_view("_ =,.-").find(c) != std::string_view::npos;
         });
}

/// ^[0-9]{2}_[a-z0-9_]+$
bool isExample(const std::string &text) {
  return text.size() > 3 && isDigit(text[0]) && isDigit(text[1]) &&
         text[2] == '_' && isName("a" + text.substr(3));
}

/// `line` of patterns/schema.json.
bool isLine(const std::string &text) {
  return !text.empty() && runtime::isOneLine(text);
}

/// Characters, not bytes.
size_t getLength(const std::string &text) {
  return std::count_if(text.begin(), text.end(),
                       [](unsigned char c) { return (c & 0xc0) != 0x80; });
}

//===----------------------------------------------------------------------===//
// A JSON value that knows where it is
//===----------------------------------------------------------------------===//

class Node {
public:
  Node(const Json &json, std::string path)
      : json(&json), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw Malformed(runtime::escapeControls(path + ": " + what));
  }

  /// The object's members, which are all of `required` and any of `optional`.
  void requireMembers(std::initializer_list<const char *> required,
                      std::initializer_list<const char *> optional) const {
    requireObject();
    for (const char *name : required)
      if (!json->contains(name))
        fail(std::string("'") + name + "' is missing");
    for (const auto &[name, value] : json->items()) {
      auto is = [&name = name](const char *each) { return name == each; };
      if (std::none_of(required.begin(), required.end(), is) &&
          std::none_of(optional.begin(), optional.end(), is))
        fail("unknown member " + quote(name));
    }
  }
  void requireObject() const {
    if (!json->is_object())
      fail("expected an object, found " + found());
  }
  bool has(const char *name) const { return json->contains(name); }
  Node operator[](const std::string &name) const {
    return Node(json->at(name), path + "." + name);
  }
  std::vector<Node> list() const {
    if (!json->is_array())
      fail("expected a list, found " + found());
    std::vector<Node> nodes;
    for (size_t i = 0; i < json->size(); ++i)
      nodes.emplace_back((*json)[i], path + "[" + std::to_string(i) + "]");
    return nodes;
  }
  std::vector<std::pair<std::string, Node>> members() const {
    requireObject();
    std::vector<std::pair<std::string, Node>> result;
    for (const auto &[name, value] : json->items())
      result.emplace_back(name, Node(value, path + "." + name));
    return result;
  }
  std::string text(Predicate predicate, const char *expected,
                   size_t limit = maximumText) const {
    if (!json->is_string())
      fail(std::string("expected ") + expected + ", found " + found());
    const auto &value = json->get_ref<const std::string &>();
    if (getLength(value) > limit)
      fail("is longer than " + std::to_string(limit) + " characters");
    if (!predicate(value))
      fail(std::string("expected ") + expected + ", found " + found());
    return value;
  }
  double real(double low, double high) const {
    double value = json->is_number() ? json->get<double>() : -1;
    if (!json->is_number() || !std::isfinite(value) || value < low ||
        value > high)
      fail("expected a number from " + shortest(low) + " to " + shortest(high) +
           ", found " + found());
    return value;
  }
  int64_t integer(int64_t low, int64_t high) const {
    double value = json->is_number() ? json->get<double>() : 0.5;
    if (value != std::floor(value) || value < double(low) ||
        value > double(high))
      fail("expected an integer from " + std::to_string(low) + " to " +
           std::to_string(high) + ", found " + found());
    return static_cast<int64_t>(value);
  }

  static std::string quote(const std::string &text) {
    return shorten(Json(text).dump());
  }

private:
  static std::string shortest(double value) { return Json(value).dump(); }
  static std::string shorten(const std::string &text) {
    if (text.size() <= 60)
      return text;
    size_t end = 57;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      --end;
    return text.substr(0, end) + "...";
  }
  std::string found() const { return shorten(json->dump()); }

  const Json *json;
  std::string path;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::map<std::string, int64_t> readExtents(const Node &node) {
  std::map<std::string, int64_t> extents;
  for (const auto &[name, extent] : node.members()) {
    if (!isName(name))
      extent.fail("expected a name of lower-case letters");
    extents[name] = extent.integer(1, maximumExtent);
  }
  if (extents.empty() || extents.size() > maximumExtents)
    node.fail("expected 1 to " + std::to_string(maximumExtents) +
              " members, found " + std::to_string(extents.size()));
  return extents;
}

Schedule readSchedule(const Node &node) {
  node.requireMembers(
      {"key", "status", "machine", "versions", "date"},
      {"us", "us_low", "us_high", "runs", "sol_share", "error", "reason"});
  Schedule schedule;
  schedule.key = node["key"].text(isScheduleKey, "a schedule's text");
  std::string status = node["status"].text(isLine, "a status");
  if (status == "accepted")
    schedule.status = Status::Accepted;
  else if (status == "failed")
    schedule.status = Status::Failed;
  else if (status == "pending")
    schedule.status = Status::Pending;
  else
    node["status"].fail("expected accepted, failed or pending, found " +
                        Node::quote(status));
  bool isAccepted = schedule.status == Status::Accepted;
  if (isAccepted) {
    node.requireMembers(
        {"key", "status", "us", "sol_share", "machine", "versions", "date"},
        {"us_low", "us_high", "runs", "error"});
    schedule.us = node["us"].real(minimumMicroseconds, maximumMicroseconds);
    schedule.solShare = node["sol_share"].real(0, maximumShare);
    if (node.has("us_low"))
      schedule.usLow =
          node["us_low"].real(minimumMicroseconds, maximumMicroseconds);
    if (node.has("us_high"))
      schedule.usHigh =
          node["us_high"].real(minimumMicroseconds, maximumMicroseconds);
    if (node.has("runs"))
      schedule.runs = node["runs"].integer(1, maximumRuns);
    if (node.has("error"))
      schedule.error = node["error"].real(0, 1e30);
  } else {
    node.requireMembers(
        {"key", "status", "reason", "machine", "versions", "date"}, {});
    schedule.reason = node["reason"].text(isLine, "one line of text");
  }
  schedule.machine = node["machine"].text(isLine, "one line of text");
  for (const auto &[name, version] : node["versions"].members()) {
    if (!isName(name))
      version.fail("expected a name of lower-case letters");
    schedule.versions[name] = version.text(isLine, "one line of text");
  }
  schedule.date = node["date"].text(isDate, "a date such as 2026-11-15");
  return schedule;
}

Gain readGain(const Node &node) {
  node.requireMembers({"form", "against", "ratio", "ratio_low", "ratio_high",
                       "machine", "date"},
                      {});
  auto ratio = [&](const char *name) {
    return node[name].real(1 / maximumRatio, maximumRatio);
  };
  Gain gain;
  gain.form = node["form"].text(isName, "a form's name");
  gain.against = node["against"].text(isName, "a form's name");
  gain.ratio = ratio("ratio");
  gain.low = ratio("ratio_low");
  gain.high = ratio("ratio_high");
  gain.machine = node["machine"].text(isLine, "one line of text");
  gain.date = node["date"].text(isDate, "a date such as 2026-11-15");
  return gain;
}

Entry readEntry(const Node &node, const Problem &file) {
  node.requireMembers({"ops", "extents", "schedules"},
                      {"format", "example", "gains"});
  Entry entry;
  entry.problem = file;
  if (node.has("format"))
    entry.problem.format = node["format"].integer(1, Problem::currentFormat);
  entry.problem.ops =
      node["ops"].text(isOpList, "names of ops with commas", maximumOps);
  entry.problem.extents = readExtents(node["extents"]);
  if (node.has("example"))
    entry.example =
        node["example"].text(isExample, "a folder of CUTLASS's examples");
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<Node> schedules = node["schedules"].list();
  if (schedules.empty())
    node["schedules"].fail("expected at least one schedule");
  for (const Node &item : schedules) {
    Schedule schedule = readSchedule(item);
    if (!seen.insert({schedule.key, schedule.machine}).second)
      item.fail(Node::quote(schedule.key) + " is there twice for " +
                Node::quote(schedule.machine));
    entry.schedules.push_back(std::move(schedule));
  }
  if (node.has("gains"))
    for (const Node &item : node["gains"].list())
      entry.gains.push_back(readGain(item));
  // Files may be written by hand: the order is ours.
  merge(entry, Entry());
  return entry;
}

/// Refuses what no file of ours needs: deep nesting, and members twice.
Json parseJson(const std::string &text) {
  std::vector<std::set<std::string>> members;
  auto check = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > maximumDepth)
      throw Malformed("is nested deeper than " + std::to_string(maximumDepth));
    if (event == Json::parse_event_t::object_start)
      members.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      members.pop_back();
    else if (event == Json::parse_event_t::key &&
             !members.back().insert(value.get<std::string>()).second)
      throw Malformed(
          "member " +
          runtime::escapeControls(Node::quote(value.get<std::string>())) +
          " is there twice");
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception &problem) {
    // "[json.exception.parse_error.101] parse error at line 1, ..."
    std::string what = problem.what();
    size_t end = what.find("] ");
    what = what.substr(end == std::string::npos ? 0 : end + 2);
    throw Malformed(runtime::escapeControls(what));
  }
}

std::vector<Entry> readEntries(const std::string &text) {
  Json json = parseJson(text);
  Node root(json, "$");
  root.requireObject();
  // The format first: a file of a newer one may have any members.
  Problem file;
  if (root.has("format"))
    file.format = root["format"].integer(1, Problem::currentFormat);
  root.requireMembers({"format", "rule", "dtype", "architecture", "entries"},
                      {});
  file.rule = root["rule"].text(isName, "a rule's name");
  file.dtype = root["dtype"].text(isName, "an element type");
  runtime::ElementType type;
  if (!runtime::parseElementType(file.dtype.c_str(), type))
    root["dtype"].fail(std::string("expected one of ") +
                       runtime::elementTypeNames() + ", found \"" + file.dtype +
                       "\"");
  file.architecture =
      root["architecture"].text(isArchitecture, "an architecture");
  std::vector<Entry> entries;
  std::set<Problem> seen;
  for (const Node &node : root["entries"].list()) {
    Entry entry = readEntry(node, file);
    if (!seen.insert(entry.problem).second)
      node.fail("the problem of " + entry.getId() + " is there twice");
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace

Error parseFile(const std::string &text, std::vector<Entry> &entries) {
  try {
    entries = readEntries(text);
    return "";
  } catch (const std::exception &problem) {
    return problem.what();
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string quote(const std::string &text) { return Json(text).dump(); }

static std::string writeSchedule(const Schedule &schedule) {
  // One line each, so that a difference of two files reads well.
  std::string text = "{\"key\": " + quote(schedule.key) +
                     ", \"status\": " + quote(getName(schedule.status));
  if (schedule.status == Status::Accepted)
    text += ", \"us\": " + Json(schedule.us).dump() +
            ", \"sol_share\": " + Json(schedule.solShare).dump();
  else
    text += ", \"reason\": " + quote(schedule.reason);
  if (schedule.usLow > 0 && schedule.usHigh > 0)
    text += ", \"us_low\": " + Json(schedule.usLow).dump() +
            ", \"us_high\": " + Json(schedule.usHigh).dump();
  if (schedule.runs > 0)
    text += ", \"runs\": " + std::to_string(schedule.runs);
  if (schedule.error)
    text += ", \"error\": " + Json(*schedule.error).dump();
  text += ", \"machine\": " + quote(schedule.machine) + ", \"versions\": {";
  const char *separator = "";
  for (const auto &[name, version] : schedule.versions) {
    text += separator + quote(name) + ": " + quote(version);
    separator = ", ";
  }
  return text + "}, \"date\": " + quote(schedule.date) + "}";
}

static std::string writeGain(const Gain &gain) {
  return "{\"form\": " + quote(gain.form) +
         ", \"against\": " + quote(gain.against) +
         ", \"ratio\": " + Json(gain.ratio).dump() +
         ", \"ratio_low\": " + Json(gain.low).dump() +
         ", \"ratio_high\": " + Json(gain.high).dump() +
         ", \"machine\": " + quote(gain.machine) +
         ", \"date\": " + quote(gain.date) + "}";
}

std::string writeText(std::vector<Entry> entries) {
  entries = merge(entries, {});
  if (entries.empty())
    return "";
  const Problem &file = entries.front().problem;
  std::string text =
      "{\n  \"format\": " + std::to_string(Problem::currentFormat) +
      ",\n  \"rule\": " + quote(file.rule) +
      ",\n  \"dtype\": " + quote(file.dtype) +
      ",\n  \"architecture\": " + quote(file.architecture) +
      ",\n  \"entries\": [";
  const char *separator = "\n";
  for (const Entry &entry : entries) {
    text += separator;
    text += "    {\n      ";
    if (entry.problem.format != Problem::currentFormat)
      text +=
          "\"format\": " + std::to_string(entry.problem.format) + ",\n      ";
    text += "\"ops\": " + quote(entry.problem.ops) + ",\n      \"extents\": {";
    const char *comma = "";
    for (const auto &[name, extent] : entry.problem.extents) {
      text += comma + quote(name) + ": " + std::to_string(extent);
      comma = ", ";
    }
    text += "},";
    if (!entry.example.empty())
      text += "\n      \"example\": " + quote(entry.example) + ",";
    text += "\n      \"schedules\": [";
    comma = "\n";
    for (const Schedule &schedule : entry.schedules) {
      text += comma;
      text += "        " + writeSchedule(schedule);
      comma = ",\n";
    }
    text += "\n      ]";
    comma = ",\n      \"gains\": [\n";
    for (const Gain &gain : entry.gains) {
      text += comma;
      text += "        " + writeGain(gain);
      comma = ",\n";
    }
    text += entry.gains.empty() ? "\n    }" : "\n      ]\n    }";
    separator = ",\n";
  }
  return text + "\n  ]\n}\n";
}

Error checkEntry(const Entry &entry) {
  // What can be written and not be read would be lost to everybody.
  try {
    std::vector<Entry> read;
    std::string text = writeText({entry});
    return parseFile(text, read);
  } catch (const std::exception &problem) {
    return problem.what();
  }
}

} // namespace registry
} // namespace fact
