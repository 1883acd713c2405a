//===- Json.cpp - Text from outside ---------------------------------------===//

#include "Chat.h"
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
    error = "JSON is nested deeper than " + std::to_string(maxDepth) + " levels";
  } catch (const json::exception &problem) {
    error = sanitise(problem.what(), 300);
  }
  return json(json::value_t::discarded);
}

/// Bytes of the UTF-8 character at `at`, or 0 where there is none.
static size_t characterBytes(const std::string &text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  size_t count = first < 0x80             ? 1
                 : first >= 0xc2 && first < 0xe0 ? 2
                 : first >= 0xe0 && first < 0xf0 ? 3
                 : first >= 0xf0 && first < 0xf5 ? 4
                                                 : 0;
  if (!count || at + count > text.size())
    return 0;
  for (size_t i = 1; i < count; ++i)
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  // Too long for what they say, surrogates, and beyond the last character.
  unsigned char second = count > 1 ? byte(at + 1) : 0;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return count;
}

std::string fact::chat::sanitise(const std::string &text, size_t limit) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t count = characterBytes(text, i);
    unsigned char first = text[i];
    // C1 control characters move a terminal's cursor as well.
    bool control = first < 0x20 || first == 0x7f ||
                   (first == 0xc2 && count == 2 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xa0);
    std::string next = !count    ? "?"
                       : control ? " "
                                 : text.substr(i, count);
    if (result.size() + next.size() > limit)
      return result;
    result += next;
    i += count ? count : 1;
  }
  return result;
}
