//===- ContentHash.cpp - The identity of content --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ContentHash.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// SHA-256
//===----------------------------------------------------------------------===//

/// The first 32 bits of the fractional parts of the cube roots of the first 64
/// primes.
static constexpr uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t word, int bits) {
  return word >> bits | word << (32 - bits);
}

void Sha256::compress(const uint8_t *block) {
  uint32_t words[64];
  for (size_t i = 0; i < 16; ++i)
    words[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
               static_cast<uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
               words[i - 7] + (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    uint32_t first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                     ((e & f) ^ (~e & g)) + roundConstants[i] + words[i];
    uint32_t second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                      ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  uint32_t round[] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i)
    state[i] += round[i];
}

void Sha256::update(const void *data, size_t bytes) {
  const uint8_t *at = static_cast<const uint8_t *>(data);
  while (bytes > 0) {
    size_t held = length % 64;
    if (held == 0 && bytes >= 64) {
      compress(at);
      length += 64;
      at += 64;
      bytes -= 64;
      continue;
    }
    size_t taken = std::min(bytes, 64 - held);
    std::memcpy(pending.data() + held, at, taken);
    length += taken;
    at += taken;
    bytes -= taken;
    if (length % 64 == 0)
      compress(pending.data());
  }
}

std::array<uint8_t, 32> Sha256::finish() {
  uint64_t bits = length * 8;
  const uint8_t one = 0x80, zero = 0;
  update(&one, 1);
  while (length % 64 != 56)
    update(&zero, 1);
  uint8_t ending[8];
  for (int i = 0; i < 8; ++i)
    ending[i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  update(ending, 8);
  std::array<uint8_t, 32> digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

//===----------------------------------------------------------------------===//
// Content
//===----------------------------------------------------------------------===//

ContentHash &ContentHash::add(const std::string &content) {
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<uint8_t>(uint64_t(content.size()) >> (8 * i));
  hash.update(length, sizeof(length));
  hash.update(content.data(), content.size());
  return *this;
}

ContentHash &ContentHash::addFolder(const fs::path &folder) {
  for (const fs::path &file : listFiles(folder))
    add(file.lexically_relative(folder).string()).add(readFile(file));
  return *this;
}

/// What the `#include` lines of a text name; nothing if a macro names it. Lines
/// that are comments, or that the preprocessor skips, count too.
static std::optional<std::vector<std::string>>
namesIncluded(const std::string &text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#')
      continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0)
      continue;
    size_t begin = line.find_first_not_of(" \t", at + 7);
    bool isQuoted = begin != std::string::npos && line[begin] == '"';
    if (!isQuoted && (begin == std::string::npos || line[begin] != '<'))
      return std::nullopt;
    size_t end = line.find(isQuoted ? '"' : '>', begin + 1);
    names.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return names;
}

ContentHash &ContentHash::addIncluded(const fs::path &source,
                                      const fs::path &folder) {
  const fs::path beside = source.parent_path();
  std::vector<fs::path> pending{source};
  std::map<std::string, std::string> found;
  bool isAnyPossible = false;
  while (!pending.empty()) {
    fs::path file = pending.back();
    pending.pop_back();
    auto names = namesIncluded(readFile(file));
    if (!names) {
      isAnyPossible = true;
      continue;
    }
    for (const std::string &name : *names)
      for (const fs::path &base : {file.parent_path(), folder}) {
        fs::path header = (base / name).lexically_normal();
        std::string known = header.lexically_relative(folder).string();
        if (known.compare(0, 2, "..") == 0)
          known = header.lexically_relative(beside).string();
        std::error_code absent;
        if (fs::is_regular_file(header, absent) &&
            found.emplace(known, readFile(header)).second)
          pending.push_back(header);
      }
  }
  for (const auto &[name, content] : found)
    add(name).add(content);
  if (isAnyPossible)
    addFolder(folder).addFolder(beside);
  return *this;
}

std::string ContentHash::text() const {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : Sha256(hash).finish())
    (text += digits[byte >> 4]) += digits[byte & 15];
  return text;
}

} // namespace tuning
} // namespace fact
