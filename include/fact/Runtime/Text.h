//===- Text.h - Text from outside -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of weights and tensors, texts of the registry and answers of servers
// are untrusted. Code that prints or stores one checks or escapes it here.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_TEXT_H
#define FACT_RUNTIME_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fact {
namespace runtime {

/// Bytes of the UTF-8 character at `at`, or 0 if there is none.
inline size_t characterBytes(const std::string &text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  size_t count = first < 0x80                    ? 1
                 : first >= 0xc2 && first < 0xe0 ? 2
                 : first >= 0xe0 && first < 0xf0 ? 3
                 : first >= 0xf0 && first < 0xf5 ? 4
                                                 : 0;
  if (!count || at + count > text.size())
    return 0;
  for (size_t i = 1; i < count; ++i)
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  // Rejects overlong forms, surrogates, and code points above U+10FFFF.
  unsigned char second = count > 1 ? byte(at + 1) : 0;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return count;
}

inline bool isUtf8(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    size_t count = characterBytes(text, i);
    if (!count)
      return false;
    i += count;
  }
  return true;
}

/// Whether the character of `count` bytes at `at` ends a line, moves a
/// terminal's cursor or reorders the text around it: C0 and C1 controls,
/// U+2028, U+2029 and the bidirectional controls.
inline bool isControl(const std::string &text, size_t at, size_t count) {
  auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[at + i]);
  };
  if (count == 1)
    return byte(0) < 0x20 || byte(0) == 0x7f;
  if (count == 2)
    return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (count != 3 || byte(0) != 0xe2)
    return false;
  unsigned last = (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu); // U+2000 + last
  return (last >= 0x0e && last <= 0x0f) || (last >= 0x28 && last <= 0x2e) ||
         (last >= 0x66 && last <= 0x69);
}

/// Whether the text is valid UTF-8 without control characters.
inline bool isOneLine(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    size_t count = characterBytes(text, i);
    if (!count || isControl(text, i, count))
      return false;
    i += count;
  }
  return true;
}

/// The text on one line, with control characters and bytes that are not UTF-8
/// escaped as `\xNN`.
inline std::string escapeControls(const std::string &text) {
  static const char digits[] = "0123456789abcdef";
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t count = characterBytes(text, i);
    size_t bytes = count ? count : 1;
    if (count && !isControl(text, i, count)) {
      result.append(text, i, count);
    } else {
      for (size_t j = 0; j < bytes; ++j) {
        auto value = static_cast<unsigned char>(text[i + j]);
        result += {'\\', 'x', digits[value >> 4], digits[value & 15]};
      }
    }
    i += bytes;
  }
  return result;
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_TEXT_H
