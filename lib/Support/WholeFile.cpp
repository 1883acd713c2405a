//===- WholeFile.cpp - Files that are whole or not there ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/WholeFile.h"
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

namespace fact {

namespace fs = std::filesystem;

static constexpr size_t digits = 12;

fs::path getUniqueName(const fs::path &path, const std::string &purpose) {
  uint64_t number = 0;
  // If the kernel has no entropy yet, the clock and the process id are
  // unpredictable enough, since files are created exclusively.
  if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
    number = static_cast<uint64_t>(
                 std::chrono::steady_clock::now().time_since_epoch().count()) *
                 0x9e3779b97f4a7c15ull ^
             static_cast<uint64_t>(getpid());
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(number));
  fs::path unique = path;
  unique += "." + purpose + "-" + std::string(text, digits);
  return unique;
}

bool isUniqueName(const std::string &candidate, const std::string &name,
                  const std::string &purpose) {
  std::string prefix = name + "." + purpose + "-";
  return candidate.size() == prefix.size() + digits &&
         candidate.compare(0, prefix.size(), prefix) == 0 &&
         candidate.find_first_not_of("0123456789abcdef", prefix.size()) ==
             std::string::npos;
}

/// Creates a file with a new name beside `path`; its mode is that of the umask.
static int createBeside(const fs::path &path, fs::path &aside) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    aside = getUniqueName(path, partial);
    // O_EXCL does not follow links.
    int file = open(aside.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

static int writeAll(int file, std::string_view content) {
  while (!content.empty()) {
    ssize_t count = write(file, content.data(), content.size());
    if (count > 0)
      content.remove_prefix(static_cast<size_t>(count));
    else if (count == 0)
      return ENOSPC;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

/// Some file systems cannot synchronize, which is not an error.
static int synchronizeFile(int file) {
  return fsync(file) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

int synchronize(const fs::path &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errno;
  int code = synchronizeFile(file);
  close(file);
  return code;
}

int probeFile(const fs::path &path) {
  fs::path aside;
  int file = createBeside(path, aside);
  if (file < 0)
    return errno;
  close(file);
  return unlink(aside.c_str()) != 0 ? errno : 0;
}

int writeWholeFile(const fs::path &path, std::string_view content,
                   Synchronize synchronize) {
  fs::path aside;
  int file = createBeside(path, aside);
  if (file < 0)
    return errno;
  int code = writeAll(file, content);
  if (code == 0 && synchronize == Synchronize::Yes)
    code = synchronizeFile(file);
  if (close(file) != 0 && code == 0)
    code = errno;
  if (code == 0 && std::rename(aside.c_str(), path.c_str()) != 0)
    code = errno;
  if (code != 0) {
    unlink(aside.c_str());
    return code;
  }
  if (synchronize == Synchronize::No)
    return 0;
  fs::path folder = path.parent_path();
  return fact::synchronize(folder.empty() ? "." : folder);
}

} // namespace fact
