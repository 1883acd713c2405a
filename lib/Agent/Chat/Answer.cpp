//===- Answer.cpp - Answers of a model ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Answer.h"
#include "Chat.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace fact::chat;
using nlohmann::json;

static constexpr size_t maxPatterns = 4096, maxOps = 4096, maxLists = 16,
                        maxValues = 64, maxRationale = 600;

//===----------------------------------------------------------------------===//
// Finding the JSON
//===----------------------------------------------------------------------===//

/// The text after the last `</think>` of a reasoning model.
static std::string dropMonologue(const std::string &content) {
  const std::string end = "</think>";
  size_t at = content.rfind(end);
  return at == std::string::npos ? content : content.substr(at + end.size());
}

/// Candidates for the answer's JSON, the likeliest first: the whole text, the
/// contents of its fences (the last fence first), and the text between the
/// first brace and the last.
static std::vector<std::string> findObjects(const std::string &content) {
  std::vector<std::string> found;
  auto addBraces = [&](const std::string &text) {
    size_t begin = text.find('{'), end = text.rfind('}');
    if (begin != std::string::npos && end != std::string::npos && begin < end)
      found.push_back(text.substr(begin, end - begin + 1));
  };
  size_t first = content.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && content[first] == '{')
    addBraces(content);
  const std::string said = dropMonologue(content), fence = "```";
  size_t fences = found.size();
  for (size_t at = said.find(fence); at != std::string::npos;) {
    size_t begin = said.find('\n', at);
    size_t end = begin == std::string::npos ? begin : said.find(fence, begin);
    if (end == std::string::npos)
      break;
    addBraces(said.substr(begin, end - begin));
    at = said.find(fence, end + fence.size());
  }
  std::reverse(found.begin() + ptrdiff_t(fences), found.end());
  addBraces(said);
  return found;
}

/// The list `name` of an object.
static json readList(const std::string &text, const char *name,
                     std::string &error) {
  json value = parseJson(text, error);
  if (value.is_discarded()) {
    error = "the answer is not JSON: " + error;
    return json::array();
  }
  auto list = value.is_object() ? value.find(name) : value.end();
  if (!value.is_object() || list == value.end() || !list->is_array()) {
    error = "the answer needs a list '" + std::string(name) + "'";
    return json::array();
  }
  if (list->size() > maxPatterns) {
    error = "the answer has " + std::to_string(list->size()) + " " + name +
            ", and at most " + std::to_string(maxPatterns) + " are read";
    return json::array();
  }
  return std::move(*list);
}

/// The list `name` of the first object that has one; else the error of the
/// first object.
static json findList(const std::string &content, const char *name,
                     std::string &error) {
  std::vector<std::string> objects = findObjects(content);
  if (objects.empty())
    error = "the answer has no JSON object";
  for (const std::string &text : objects) {
    std::string problem;
    json list = readList(text, name, problem);
    if (problem.empty()) {
      error.clear();
      return list;
    }
    if (error.empty())
      error = problem;
  }
  return json::array();
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Whether a text has only characters of op ids, rules and entries.
static bool isName(const std::string &text, size_t limit) {
  return !text.empty() && text.size() <= limit &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_' || c == '.' || c == '/' ||
                  c == '-' || c == '#';
         });
}

static bool readName(const json &object, const char *key, std::string &value,
                     std::string &error, bool required = true) {
  auto found = object.find(key);
  if (found == object.end() || found->is_null() ||
      (!required && found->is_string() &&
       found->get_ref<const std::string &>().empty())) {
    if (required && error.empty())
      error = "needs '" + std::string(key) + "'";
    return !required;
  }
  if (found->is_string() &&
      isName(found->get_ref<const std::string &>(), 200)) {
    value = found->get<std::string>();
    return true;
  }
  if (error.empty())
    error = "'" + std::string(key) +
            "' is not a name of letters, digits and '_', '.', '/', '-', '#'";
  return false;
}

static void readRationale(const json &object, std::string &rationale) {
  auto found = object.find("rationale");
  if (found != object.end() && found->is_string())
    rationale = sanitize(found->get<std::string>(), maxRationale);
}

/// Whether a text is one token of an attribute: a word or sizes.
static bool isValue(const std::string &text) {
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::islower(c) || std::isdigit(c) || c == '_';
         });
}

static bool readValues(const json &list, std::vector<std::string> &values) {
  if (!list.is_array() || list.empty() || list.size() > maxValues)
    return false;
  for (const json &value : list) {
    std::string text;
    if (value.is_string())
      text = value.get<std::string>();
    else if (value.is_number_unsigned() && value.get<uint64_t>() < 1000000)
      text = std::to_string(value.get<uint64_t>());
    if (!isValue(text))
      return false;
    values.push_back(std::move(text));
  }
  return true;
}

/// `{"tile": ["128x64"]}`, or `[{"name": "tile", "values": ["128x64"]}]`.
static void readSpace(const json &object, SpaceLists &space,
                      std::string &error) {
  auto found = object.find("space");
  if (found == object.end() || found->is_null() || !error.empty())
    return;
  auto add = [&](const std::string &name, const json &values) {
    std::vector<std::string> words;
    if (!isValue(name) || !readValues(values, words) ||
        space.size() == maxLists) {
      error = "'space' needs lists of words and sizes, such as "
              "[{\"name\": \"tile\", \"values\": [\"128x128x64\"]}]";
      return;
    }
    space.emplace_back(name, std::move(words));
  };
  if (found->is_object()) {
    for (const auto &[name, values] : found->items())
      if (error.empty())
        add(name, values);
    return;
  }
  if (!found->is_array()) {
    error = "'space' must be a list of {\"name\", \"values\"}";
    return;
  }
  for (const json &list : *found) {
    if (!error.empty())
      return;
    std::string name;
    if (!list.is_object() || !list.contains("values") ||
        !readName(list, "name", name, error)) {
      error = "'space' must be a list of {\"name\", \"values\"}";
      return;
    }
    add(name, list["values"]);
  }
}

static void readOps(const json &object, Pattern &pattern) {
  auto found = object.find("ops");
  if (found == object.end() || !found->is_array() || found->empty() ||
      found->size() > maxOps) {
    pattern.error = "needs 'ops', a list of op ids";
    return;
  }
  for (const json &op : *found) {
    if (!op.is_string() || !isName(op.get_ref<const std::string &>(), 32)) {
      pattern.error = "'ops' has an element that is not an op id";
      return;
    }
    pattern.ops.push_back(op.get<std::string>());
  }
}

static void readStrategy(const json &object, Pattern &pattern) {
  if (!readName(object, "strategy", pattern.strategy, pattern.error, false))
    return;
  for (char &c : pattern.strategy)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  if (pattern.strategy.empty() || pattern.strategy == "reuse" ||
      pattern.strategy == "adapt" || pattern.strategy == "new")
    return;
  if (pattern.error.empty())
    pattern.error = "'strategy' must be REUSE, ADAPT or NEW, not " +
                    sanitize(pattern.strategy, 40);
}

static Pattern readPattern(const json &object) {
  Pattern pattern;
  if (!object.is_object()) {
    pattern.error = "is not an object";
    return pattern;
  }
  readOps(object, pattern);
  readName(object, "rule", pattern.rule, pattern.error);
  readStrategy(object, pattern);
  readName(object, "entry", pattern.entry, pattern.error, false);
  readSpace(object, pattern.space, pattern.error);
  readRationale(object, pattern.rationale);
  auto priority = object.find("priority");
  if (priority != object.end() && priority->is_number()) {
    double number = priority->get<double>();
    if (std::isfinite(number))
      pattern.priority = int64_t(std::clamp(number, -1e6, 1e6));
  }
  return pattern;
}

PatternAnswer fact::chat::readPatterns(const std::string &content) {
  PatternAnswer answer;
  try {
    for (const json &object : findList(content, "patterns", answer.error))
      answer.patterns.push_back(readPattern(object));
  } catch (const json::exception &problem) {
    answer.error = sanitize(problem.what(), 300);
  }
  return answer;
}

RefinementAnswer fact::chat::readRefinements(const std::string &content) {
  RefinementAnswer answer;
  try {
    for (const json &object : findList(content, "kernels", answer.error)) {
      Refinement &refinement = answer.kernels.emplace_back();
      if (!object.is_object()) {
        refinement.error = "is not an object";
        continue;
      }
      readName(object, "kernel", refinement.kernel, refinement.error);
      readSpace(object, refinement.space, refinement.error);
      readRationale(object, refinement.rationale);
    }
  } catch (const json::exception &problem) {
    answer.error = sanitize(problem.what(), 300);
  }
  return answer;
}

//===----------------------------------------------------------------------===//
// Schemas
//===----------------------------------------------------------------------===//

static json object(json properties) {
  json required = json::array();
  for (const auto &[name, type] : properties.items())
    required.push_back(name);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

static json list(json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

static json string() { return {{"type", "string"}}; }

/// A list of bounded length: small models repeat a value without end.
static json shortList(json items, size_t most = 8) {
  json schema = list(std::move(items));
  schema["maxItems"] = most;
  return schema;
}

static json spaceSchema() {
  return shortList(
      object({{"name", string()}, {"values", shortList(string())}}));
}

std::string fact::chat::getPatternSchema(const std::vector<std::string> &rules,
                                         const std::vector<std::string> &ops) {
  // Servers limit the size of an enum.
  bool isNamed = !ops.empty() && ops.size() <= 200;
  json id = isNamed ? json{{"type", "string"}, {"enum", ops}} : string();
  auto listOf = [&](json items) {
    return isNamed ? shortList(std::move(items), ops.size())
                   : list(std::move(items));
  };
  json pattern = object(
      {{"ops", listOf(std::move(id))},
       {"rule", {{"type", "string"}, {"enum", rules}}},
       {"strategy", {{"type", "string"}, {"enum", {"REUSE", "ADAPT", "NEW"}}}},
       {"entry", string()},
       {"space", spaceSchema()},
       {"priority", {{"type", "integer"}}},
       {"rationale", string()}});
  return object({{"patterns", listOf(std::move(pattern))}}).dump();
}

std::string
fact::chat::getRefinementSchema(const std::vector<std::string> &kernels) {
  json kernel = object({{"kernel", {{"type", "string"}, {"enum", kernels}}},
                        {"space", spaceSchema()},
                        {"rationale", string()}});
  return object({{"kernels", list(std::move(kernel))}}).dump();
}

//===----------------------------------------------------------------------===//
// Examples
//===----------------------------------------------------------------------===//

static json writeSpace(const SpaceLists &space) {
  json lists = json::array();
  for (const auto &[name, values] : space)
    lists.push_back({{"name", name}, {"values", values}});
  return lists;
}

std::string fact::chat::getPatternExample(const SpaceLists &space) {
  json pattern{{"ops", {"n0", "n1"}},
               {"rule", "gemm_epilogue"},
               {"strategy", "NEW"},
               {"entry", ""},
               {"space", writeSpace(space)},
               {"priority", 10},
               {"rationale", "the product is not stored"}};
  return json{{"patterns", json::array({pattern})}}.dump();
}

std::string fact::chat::getRefinementExample(const std::string &kernel,
                                             const SpaceLists &space) {
  json search{{"kernel", kernel},
              {"space", writeSpace(space)},
              {"rationale", "more of its rows stay in the cache"}};
  return json{{"kernels", json::array({search})}}.dump();
}
