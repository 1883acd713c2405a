//===- ObjectCache.h - Compiled objects by content --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_OBJECTCACHE_H
#define FACT_TUNING_OBJECTCACHE_H

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fact {
namespace tuning {

/// A folder of compiled objects, shared by bundles, models and processes. An
/// entry is one file, named by a hash of everything that its compiler read; it
/// holds the compiler's messages, the object, and a hash of both. Files are
/// written whole, so processes need no lock, and a killed one leaves at most a
/// partial file that is never read. A folder that cannot be written is not an
/// error: objects are then compiled again.
class ObjectCache {
public:
  /// Entries that no run used for this long are removed.
  static constexpr std::chrono::hours maximumAge{30 * 24};
  /// Beyond this size, entries that were used least recently are removed.
  static constexpr uint64_t maximumBytes = uint64_t(8) << 30;

  /// An empty folder: nothing is kept.
  explicit ObjectCache(std::filesystem::path folder)
      : folder(std::move(folder)) {}

  bool isOn() const { return !folder.empty(); }
  const std::filesystem::path &getFolder() const { return folder; }

  /// Writes the object to `object` and returns the compiler's messages; nullopt
  /// if there is no such entry, or its content is not what was kept.
  std::optional<std::string> find(const std::string &key,
                                  const std::filesystem::path &object) const;

  void keep(const std::string &key, const std::filesystem::path &object,
            const std::string &messages) const;

  void forget(const std::string &key) const;

  /// Removes what is too old, then the oldest until the rest fits.
  void trim(uint64_t bytes = maximumBytes) const;

private:
  std::filesystem::path pathOf(const std::string &key) const;

  std::filesystem::path folder;
};

/// The folder that `--objects` or FACT_OBJECTS_DIR names ("none": no folder);
/// else `objects` in the user's cache, if no other user can write there.
std::filesystem::path findObjects(const std::filesystem::path &named);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_OBJECTCACHE_H
