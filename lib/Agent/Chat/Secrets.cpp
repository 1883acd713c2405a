//===- Secrets.cpp - Redact a secret --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A server may echo the key, verbatim or encoded. It must not reach a
// transcript or a terminal, nor be recoverable from them by decoding.
//
//===----------------------------------------------------------------------===//

#include "Chat.h"
#include <algorithm>
#include <numeric>

using namespace fact::chat;

namespace {
/// A decoded text, and the offset in the original of each of its characters.
struct Decoded {
  std::string text;
  std::vector<uint32_t> begins;
};
} // namespace

static int digitOf(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/// Decodes the JSON escape (`\/`, `\u002f`) at `at` and sets its size. Escapes
/// of characters that no key has stay as they are.
static char decodeAt(const std::string &text, size_t at, size_t &size) {
  size = 1;
  if (text[at] != '\\' || at + 1 >= text.size())
    return text[at];
  char name = text[at + 1];
  if (name == '/' || name == '\\' || name == '"') {
    size = 2;
    return name;
  }
  if (name != 'u' || at + 6 > text.size())
    return text[at];
  int point = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    int digit = digitOf(text[i]);
    if (digit < 0)
      return text[at];
    point = 16 * point + digit;
  }
  if (point >= 0x80)
    return text[at];
  size = 6;
  return static_cast<char>(point);
}

static Decoded decode(const Decoded &from) {
  Decoded result;
  for (size_t at = 0, size = 0; at < from.text.size(); at += size) {
    result.begins.push_back(from.begins[at]);
    result.text += decodeAt(from.text, at, size);
  }
  // The end of the last character.
  result.begins.push_back(from.begins.back());
  return result;
}

/// The end of the text before a truncated escape: `\`, `\u`, `\u00`.
static size_t findWholeEnd(const std::string &text) {
  size_t escape = text.rfind('\\');
  if (escape == std::string::npos || text.size() - escape > 5)
    return text.size();
  for (size_t i = escape + 1; i < text.size(); ++i)
    if (i == escape + 1 ? text[i] != 'u' : digitOf(text[i]) < 0)
      return text.size();
  return escape;
}

static std::string encodeBase64(const std::string &bytes, const char *last) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  // Whole groups of six bits: the last letter may depend on following bytes.
  for (size_t bit = 0; bit + 6 <= 8 * bytes.size(); bit += 6) {
    unsigned value = 0;
    for (size_t i = bit; i < bit + 6; ++i)
      value = 2 * value +
              (static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1);
    text += value < 62 ? letters[value] : last[value - 62];
  }
  return text;
}

/// The secret verbatim, and within base64 at each alignment and alphabet.
static std::vector<std::string> findForms(const std::string &secret) {
  std::vector<std::string> forms = {secret};
  for (const char *last : {"+/", "-_"})
    for (size_t before = 0; before < 3; ++before) {
      std::string text = encodeBase64(std::string(before, '\0') + secret, last);
      // Drop the letters that depend on the bytes before the secret.
      forms.push_back(text.substr((8 * before + 5) / 6));
    }
  return forms;
}

std::string fact::chat::hideSecret(const std::string &text,
                                   const std::string &secret) {
  // A shorter one is not a secret, and may be a word of an answer.
  constexpr size_t shortest = 8;
  // JSON strings nest: an answer is one, and may contain others.
  constexpr int levels = 4;
  if (secret.size() < shortest)
    return text;
  const std::vector<std::string> forms = findForms(secret);
  std::vector<std::pair<size_t, size_t>> found;
  Decoded level{text, std::vector<uint32_t>(text.size() + 1)};
  std::iota(level.begins.begin(), level.begins.end(), 0);
  for (int i = 0; i < levels; ++i) {
    auto add = [&](size_t at, size_t size) {
      found.emplace_back(level.begins[at], level.begins[at + size]);
    };
    for (const std::string &form : forms) {
      for (size_t at = 0; (at = level.text.find(form, at)) != std::string::npos;
           at += form.size())
        add(at, form.size());
      // A truncated text may end within the secret.
      size_t end = findWholeEnd(level.text);
      for (size_t size = std::min(form.size(), end); size >= shortest; --size)
        if (level.text.compare(end - size, size, form, 0, size) == 0)
          add(end - size, size);
    }
    if (level.text.find('\\') == std::string::npos)
      break;
    level = decode(level);
  }
  std::sort(found.begin(), found.end());
  std::string result;
  size_t done = 0;
  for (auto [begin, end] : found) {
    if (begin >= done)
      result += text.substr(done, begin - done) + "(key)";
    done = std::max(done, end);
  }
  return result + text.substr(done);
}
