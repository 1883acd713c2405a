//===- BundleFolder.cpp - A bundle's folder, replaced as a whole ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/BundleFolder.h"
#include "BundleSchema.h"
#include "fact/Support/PathLock.h"
#include "fact/Support/WholeFile.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The purposes of temporary folders beside a bundle.
static constexpr char writing[] = "writing";
static constexpr char replaced[] = "replaced";

static std::string cannot(const char *what, const fs::path &path, int code) {
  return std::string("cannot ") + what + " '" + path.string() +
         "': " + std::strerror(code);
}

//===----------------------------------------------------------------------===//
// What is a bundle, and which files belong to it
//===----------------------------------------------------------------------===//

/// The name in a folder's bundle.json; empty if that file is not a bundle's.
static std::string readBundleName(const fs::path &folder) {
  std::ifstream file(folder / "bundle.json", std::ios::binary);
  if (!file)
    return "";
  // Reads members of the outermost object only, however large or deep the rest
  // is.
  auto isOutermost = [](int depth, Json::parse_event_t, Json &) {
    return depth <= 1;
  };
  Json json = Json::parse(file, isOutermost, /*allow_exceptions=*/false);
  std::string magic, name;
  try {
    Reader reader(Node(json, "$"), folder);
    describeIdentity(reader, magic, name);
  } catch (const Failure &) {
    return "";
  }
  return magic == bundleMagic ? name : "";
}

/// Whether fact-compile or fact-tune writes a file or folder of this name into
/// a bundle. `model` is the bundle's name, empty if unknown.
static bool isMember(const std::string &name, const std::string &model) {
  static const char *const members[] = {"bundle.json",
                                        "kernels",
                                        "products",
                                        "constants",
                                        "include",
                                        "runtime",
                                        "build",
                                        "weights",
                                        "rules",
                                        "folded",
                                        "tuning.json",
                                        "failure.json",
                                        "tuning.sqlite",
                                        "tuning.sqlite-wal",
                                        "tuning.sqlite-shm",
                                        "tuning.sqlite-journal"};
  auto isThis = [&](const std::string &member) {
    // Bundles of other programs are replaced like this one, inside of it.
    return name == member || isUniqueName(name, member, partial) ||
           isUniqueName(name, member, writing) ||
           isUniqueName(name, member, replaced);
  };
  return std::any_of(std::begin(members), std::end(members), isThis) ||
         (!model.empty() && (isThis(model + ".so") || isThis(model + ".h")));
}

static std::vector<fs::path> listFolder(const fs::path &folder,
                                        std::error_code &code) {
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Removes a complete or partial bundle and nothing else: a folder that holds
/// other files is kept with them. What cannot be removed is tried again next
/// time.
static void removeBundle(const fs::path &folder) {
  std::error_code code;
  std::string model = readBundleName(folder);
  for (const fs::path &entry : listFolder(folder, code)) {
    std::error_code ignored;
    if (isMember(entry.filename().string(), model))
      fs::remove_all(entry, ignored);
  }
  ::rmdir(folder.c_str());
}

std::string BundleFolder::checkReplaceable() const {
  std::error_code code;
  fs::file_status status = fs::symlink_status(folder, code);
  if (status.type() == fs::file_type::not_found)
    return "";
  std::string refusal = "'" + folder.string() + "' ";
  if (!fs::is_directory(status))
    return refusal + "exists and is not a bundle; name another folder with "
                     "--bundle";
  std::vector<fs::path> entries = listFolder(folder, code);
  if (code)
    return cannot("list", folder, code.value());
  if (entries.empty())
    return "";
  std::string model = readBundleName(folder);
  if (model.empty())
    return refusal +
           "exists and is not a bundle: it has no bundle.json with "
           "\"magic\": \"" +
           bundleMagic + "\"; name another folder with --bundle";
  for (const fs::path &entry : entries)
    if (!isMember(entry.filename().string(), model))
      return refusal + "is a bundle that also holds '" +
             entry.filename().string() +
             "', which would be lost; move it elsewhere, or name another "
             "folder with --bundle";
  return "";
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

namespace {
/// A connection that is closed at the end of its scope.
struct Connection {
  ~Connection() { sqlite3_close(handle); }
  int open(const fs::path &path, int flags) {
    int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    if (code == SQLITE_OK)
      sqlite3_busy_timeout(handle, 10000);
    return code;
  }
  sqlite3 *handle = nullptr;
};
} // namespace

std::string copyDatabase(const fs::path &from, const fs::path &to) {
  std::error_code absent;
  if (!fs::exists(from, absent))
    return "";
  Connection source, copy;
  auto fail = [&](int code) {
    std::string text = "cannot copy the measurements in '" + from.string() +
                       "' into '" + to.string() + "': " + sqlite3_errstr(code);
    if (code == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR)
      text += "; free some space and run the same command again";
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
      text += "; move that file away, or name another folder with --bundle";
    return text;
  };
  int code = source.open(from, SQLITE_OPEN_READWRITE);
  if (code == SQLITE_OK)
    code = copy.open(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (code != SQLITE_OK)
    return fail(code);
  sqlite3_backup *backup =
      sqlite3_backup_init(copy.handle, "main", source.handle, "main");
  if (!backup)
    return fail(sqlite3_errcode(copy.handle));
  int step = sqlite3_backup_step(backup, -1);
  code = sqlite3_backup_finish(backup);
  if (code == SQLITE_OK && step != SQLITE_DONE)
    code = step;
  return code == SQLITE_OK ? "" : fail(code);
}

//===----------------------------------------------------------------------===//
// Replacing
//===----------------------------------------------------------------------===//

/// The path as the user named it, for messages; a link to a bundle stays a
/// link.
static fs::path nameOf(const fs::path &path) {
  fs::path name = path.has_filename() ? path : path.parent_path();
  std::error_code code;
  return fs::is_symlink(name, code) ? resolvePath(name) : name;
}

static fs::path parentOf(const fs::path &path) {
  fs::path parent = path.parent_path();
  return parent.empty() ? "." : parent;
}

/// Whoever wrote beside the folder held the lock that this process holds now,
/// so that process has ended.
std::string BundleFolder::recover() {
  std::error_code code;
  std::string name = folder.filename().string();
  std::vector<fs::path> stale;
  for (const fs::path &entry : listFolder(parentOf(folder), code)) {
    std::string candidate = entry.filename().string();
    bool wasReplaced = isUniqueName(candidate, name, replaced);
    if (!wasReplaced && !isUniqueName(candidate, name, writing))
      continue;
    // The process ended between the two renames of `replace`.
    if (wasReplaced && !fs::exists(fs::symlink_status(folder, code)) &&
        !readBundleName(entry).empty()) {
      if (std::rename(entry.c_str(), folder.c_str()) != 0)
        return cannot("write", folder, errno);
      continue;
    }
    stale.push_back(entry);
  }
  for (const fs::path &entry : stale)
    removeBundle(entry);
  return "";
}

std::string BundleFolder::open(const fs::path &path) {
  folder = nameOf(path);
  if (std::string error = recover(); !error.empty())
    return error;
  if (std::string error = checkReplaceable(); !error.empty())
    return error;
  fs::path made = getUniqueName(folder, writing);
  if (::mkdir(made.c_str(), 0777) != 0)
    return cannot("write", made, errno);
  aside = made;
  return "";
}

BundleFolder::~BundleFolder() {
  if (!aside.empty())
    removeBundle(aside);
}

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/// On success, the new bundle is in place and `aside` is the one that it
/// replaced.
std::string BundleFolder::replace() {
  std::error_code code;
  if (!fs::exists(fs::symlink_status(folder, code)) ||
      fs::is_empty(folder, code)) {
    if (std::rename(aside.c_str(), folder.c_str()) != 0)
      return cannot("write", folder, errno);
    aside.clear();
    return "";
  }
  if (renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, folder.c_str(),
                RENAME_EXCHANGE) == 0)
    return "";
  if (errno != ENOSYS && errno != EINVAL)
    return cannot("replace", folder, errno);
  // Not every file system can exchange two folders. `recover` handles the state
  // between the two renames.
  fs::path old = getUniqueName(folder, replaced);
  if (std::rename(folder.c_str(), old.c_str()) != 0)
    return cannot("replace", folder, errno);
  if (std::rename(aside.c_str(), folder.c_str()) != 0) {
    int failed = errno;
    std::rename(old.c_str(), folder.c_str());
    return cannot("replace", folder, failed);
  }
  aside = old;
  return "";
}

std::string BundleFolder::commit() {
  if (std::string error =
          copyDatabase(folder / "tuning.sqlite", aside / "tuning.sqlite");
      !error.empty())
    return error;
  for (const fs::path &path : {aside / "bundle.json", aside})
    if (int code = synchronize(path))
      return cannot("write", path, code);
  if (std::string error = replace(); !error.empty())
    return error;
  if (int code = synchronize(parentOf(folder)))
    return cannot("write", parentOf(folder), code);
  return "";
}

} // namespace tuning
} // namespace fact
