//===- Json.cpp - Untrusted text ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat.h"
#include "fact/Runtime/Text.h"
#include <nlohmann/json.hpp>

using namespace fact::chat;
using nlohmann::json;

static constexpr int maxDepth = 24;

json fact::chat::parseJson(const std::string &text, std::string &error) {
  bool deep = false;
  auto limitDepth = [&](int depth, json::parse_event_t, json &) {
    deep |= depth > maxDepth;
    return depth <= maxDepth;
  };
  try {
    json value = json::parse(text, limitDepth);
    if (!deep)
      return value;
    error =
        "JSON is nested deeper than " + std::to_string(maxDepth) + " levels";
  } catch (const json::exception &problem) {
    error = sanitize(problem.what(), 300);
  }
  return json(json::value_t::discarded);
}

std::string fact::chat::sanitize(const std::string &text, size_t limit) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t count = fact::runtime::characterBytes(text, i);
    std::string next = !count ? "?"
                       : fact::runtime::isControl(text, i, count)
                           ? " "
                           : text.substr(i, count);
    if (result.size() + next.size() > limit)
      return result;
    result += next;
    i += count ? count : 1;
  }
  return result;
}
