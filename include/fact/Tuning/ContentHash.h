//===- ContentHash.h - The identity of content ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_CONTENTHASH_H
#define FACT_TUNING_CONTENTHASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace fact {
namespace tuning {

/// SHA-256 (FIPS 180-4).
class Sha256 {
public:
  void update(const void *data, size_t bytes);
  std::array<uint8_t, 32> finish();

private:
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending;
  uint64_t length = 0;
};

/// The SHA-256 of a sequence of texts, in hexadecimal. Lengths are hashed too,
/// so "a", "bc" differs from "ab", "c".
class ContentHash {
public:
  ContentHash &add(const std::string &content);
  /// Adds every regular file below `folder`, with its name, in a fixed order.
  ContentHash &addFolder(const std::filesystem::path &folder);
  /// Adds the files beside `source` and below `folder` that it includes,
  /// directly or not, with their names; all files there if one of them includes
  /// what a macro names.
  ContentHash &addIncluded(const std::filesystem::path &source,
                           const std::filesystem::path &folder);
  std::string text() const;

private:
  Sha256 hash;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_CONTENTHASH_H
