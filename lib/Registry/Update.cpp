//===- Update.cpp - Files of the registry, changed under a lock -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Registry/EntryFile.h"
#include "fact/Support/WholeFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace fact {
namespace registry {

namespace fs = std::filesystem;

static std::string describe(int code, const fs::path &folder) {
  std::string text = std::strerror(code);
  if (code == EACCES || code == EROFS || code == EPERM)
    text += "; make " + folder.string() + " writable, or name another folder";
  return text;
}

namespace {

/// An exclusive lock on a layer, released when the process ends.
class LayerLock {
public:
  explicit LayerLock(const fs::path &layer) {
    fs::path path = layer / ".lock";
    file = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    int code = file < 0 ? errno : 0;
    while (code == 0 && flock(file, LOCK_EX) != 0)
      if (errno != EINTR)
        code = errno;
    if (code != 0)
      error = "cannot lock " + path.string() + ": " + describe(code, layer);
  }
  ~LayerLock() {
    if (file >= 0)
      close(file);
  }
  LayerLock(const LayerLock &) = delete;
  LayerLock &operator=(const LayerLock &) = delete;

  Error error;

private:
  int file = -1;
};

} // namespace

static Error writeWhole(const fs::path &path, const std::string &text) {
  if (int code = writeWholeFile(path, text, Synchronize::Yes))
    return "cannot write " + path.string() + ": " +
           describe(code, path.parent_path());
  return "";
}

static Error change(const fs::path &layer, const fs::path &path,
                    const std::function<void(std::vector<Entry> &)> &apply) {
  std::vector<Entry> entries;
  std::error_code code;
  bool exists = fs::exists(fs::symlink_status(path, code));
  if (exists)
    if (Error error = readFile(layer, path, entries); !error.empty())
      return error + "; repair or move it: it is not overwritten";
  std::string before = exists ? writeText(entries) : "";
  apply(entries);
  for (const Entry &entry : entries) {
    Error error = checkEntry(entry);
    if (error.empty() && getFileName(entry.problem) !=
                             path.lexically_normal().lexically_relative(
                                 layer.lexically_normal()))
      error = "it does not belong in " + path.string();
    if (!error.empty())
      return "cannot write " + entry.getId() + ": " + error;
  }
  std::string after = writeText(entries);
  if (before == after)
    return "";
  if (!after.empty())
    return writeWhole(path, after);
  if (unlink(path.c_str()) != 0)
    return "cannot remove " + path.string() + ": " + describe(errno, layer);
  return "";
}

Error updateFile(const fs::path &layer, const fs::path &name,
                 const std::function<void(std::vector<Entry> &)> &apply) {
  try {
    fs::path path = layer / name;
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    if (code)
      return "cannot create the folder " + path.parent_path().string() + ": " +
             describe(code.value(), layer);
    LayerLock lock(layer);
    return lock.error.empty() ? change(layer, path, apply) : lock.error;
  } catch (const std::exception &problem) {
    return problem.what();
  }
}

Error addEntries(const fs::path &layer, const std::vector<Entry> &entries) {
  std::map<fs::path, std::vector<Entry>> files;
  for (const Entry &entry : entries) {
    // Check it before its names become a path.
    if (Error error = checkEntry(entry); !error.empty())
      return "cannot write " + entry.getId() + ": " + error;
    files[getFileName(entry.problem)].push_back(entry);
  }
  for (const auto &[name, added] : files)
    if (Error error = updateFile(layer, name,
                                 [&added = added](std::vector<Entry> &known) {
                                   known = merge(known, added);
                                 });
        !error.empty())
      return error;
  return "";
}

} // namespace registry
} // namespace fact
