//===- ObjectCache.cpp - Compiled objects by content ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ObjectCache.h"
#include "Search.h"
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The first word of an entry. Its first line also has the hash of the rest and
/// the number of bytes of the messages, which the object follows.
static constexpr char entryMagic[] = "fact-object-1";

static std::string writeEntry(const std::string &messages,
                              const std::string &object) {
  std::string rest = messages + object;
  return std::string(entryMagic) + " " + ContentHash().add(rest).text() + " " +
         std::to_string(messages.size()) + "\n" + rest;
}

/// False if the text is damaged.
static bool readEntry(const std::string &text, std::string &messages,
                      std::string &object) {
  size_t end = text.find('\n');
  if (end == std::string::npos)
    return false;
  std::istringstream header(text.substr(0, end));
  std::string magic, hash;
  size_t bytes = 0;
  if (!(header >> magic >> hash >> bytes) || magic != entryMagic)
    return false;
  std::string rest = text.substr(end + 1);
  if (bytes > rest.size() || ContentHash().add(rest).text() != hash)
    return false;
  messages = rest.substr(0, bytes);
  object = rest.substr(bytes);
  return true;
}

fs::path ObjectCache::pathOf(const std::string &key) const {
  return folder / (key + ".object");
}

std::optional<std::string> ObjectCache::find(const std::string &key,
                                             const fs::path &object) const {
  std::error_code code;
  if (!isOn() || !fs::is_regular_file(pathOf(key), code))
    return std::nullopt;
  std::string text, messages, content;
  try {
    text = readFile(pathOf(key));
  } catch (const Failure &) {
    // Another process removed it.
    return std::nullopt;
  }
  if (!readEntry(text, messages, content)) {
    forget(key);
    return std::nullopt;
  }
  writeFile(object, content);
  // The time of the last use, for `trim`.
  utimensat(AT_FDCWD, pathOf(key).c_str(), nullptr, 0);
  return messages;
}

void ObjectCache::keep(const std::string &key, const fs::path &object,
                       const std::string &messages) const {
  if (!isOn())
    return;
  std::string content;
  try {
    content = readFile(object);
  } catch (const Failure &) {
    // Its user reports that it cannot be read.
    return;
  }
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  writeWholeFile(pathOf(key), writeEntry(messages, content));
}

void ObjectCache::forget(const std::string &key) const {
  std::error_code ignored;
  if (isOn())
    fs::remove(pathOf(key), ignored);
}

void ObjectCache::trim(uint64_t bytes) const {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end;
       isOn() && !code && entry != end; entry.increment(code)) {
    std::error_code absent;
    fs::path path = entry->path();
    // Entries, and what killed processes left of them.
    if (path.filename().string().find(".object") == std::string::npos ||
        !entry->is_regular_file(absent))
      continue;
    Entry found{entry->last_write_time(absent), entry->file_size(absent), path};
    if (!absent)
      entries.push_back(std::move(found));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.used > b.used; });
  uint64_t total = 0;
  auto oldest = fs::file_time_type::clock::now() - maximumAge;
  for (const Entry &entry : entries) {
    total += entry.bytes;
    if (entry.used < oldest || total > bytes)
      fs::remove(entry.path, code);
  }
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// Whether no other user can put an object into `folder`, which is then linked.
/// A group counts as the user's own if the user's new files get it.
static bool isPrivate(const fs::path &folder) {
  struct stat found;
  if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != ::geteuid() || (found.st_mode & S_IWOTH))
    return false;
  return !(found.st_mode & S_IWGRP) || found.st_gid == ::getegid();
}

fs::path findObjects(const fs::path &named) {
  const char *variable = std::getenv("FACT_OBJECTS_DIR");
  fs::path chosen = !named.empty() ? named : fs::path(variable ? variable : "");
  if (chosen == "none")
    return "";
  if (!chosen.empty())
    return fs::absolute(chosen);
  fs::path folder = cacheFolder();
  if (folder.empty())
    return folder;
  folder = fs::absolute(folder) / "objects";
  std::error_code code;
  fs::create_directories(folder.parent_path(), code);
  ::mkdir(folder.c_str(), 0700);
  return isPrivate(folder) && isPrivate(folder.parent_path()) ? folder
                                                              : fs::path();
}

} // namespace tuning
} // namespace fact
