//===- PathLock.cpp - One process at a time on a path ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/PathLock.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fact {

namespace fs = std::filesystem;

/// Names the file descriptor of a lent lock.
static constexpr char lentLock[] = "FACT_PATH_LOCK";

fs::path resolvePath(const fs::path &path) {
  std::error_code code;
  fs::path resolved = fs::weakly_canonical(path, code);
  if (code)
    resolved = fs::absolute(path, code).lexically_normal();
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

/// Whether a descriptor still refers to the file at `path`.
static bool isFileOf(int file, const fs::path &path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static int lockFile(int file, int operation) {
  return flock(file, operation) == 0 ? 0 : errno;
}

/// Opens the lock file, or the folder itself if no file can be created beside
/// it.
static int openLock(const fs::path &path, const fs::path &target) {
  constexpr int flags = O_NOFOLLOW | O_CLOEXEC;
  int file = open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
  if (file >= 0 || (errno != EACCES && errno != EPERM && errno != EROFS))
    return file;
  int code = errno;
  // A file of another user can be locked without write access.
  file = open(path.c_str(), O_RDONLY | flags);
  if (file < 0)
    file = open(target.c_str(), O_RDONLY | O_DIRECTORY | flags);
  if (file < 0)
    errno = code;
  return file;
}

bool PathLock::takeOver(const fs::path &lock, const fs::path &target) {
  const char *lent = std::getenv(lentLock);
  if (!lent)
    return false;
  char *end = nullptr;
  long number = std::strtol(lent, &end, 10);
  bool isNumber = end != lent && *end == '\0' && number > 2 && number < 1 << 20;
  unsetenv(lentLock);
  if (!isNumber)
    return false;
  int descriptor = static_cast<int>(number);
  // The lock belongs to the open file, which both processes share, so taking it
  // again succeeds at once.
  if ((!isFileOf(descriptor, lock) && !isFileOf(descriptor, target)) ||
      lockFile(descriptor, LOCK_EX | LOCK_NB) != 0)
    return false;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  file = descriptor;
  isOwner = false;
  return true;
}

/// Blocks until the lock is free. The owner has written its name into the file.
int PathLock::wait(const fs::path &target, const std::string &program) {
  char owner[100] = "";
  ssize_t count = pread(file, owner, sizeof(owner) - 1, 0);
  std::string who = count > 0 ? std::string(owner, static_cast<size_t>(count))
                              : "another process";
  who = who.substr(0, who.find('\n'));
  std::fprintf(stderr, "%s: waiting for %s, which is using %s\n",
               program.c_str(), who.c_str(), target.c_str());
  return lockFile(file, LOCK_EX);
}

std::string PathLock::acquire(const fs::path &target,
                              const std::string &program) {
  release();
  fs::path resolved = resolvePath(target), lock = resolved;
  lock += ".lock";
  if (takeOver(lock, resolved))
    return "";
  auto fail = [&](const char *what, int code) {
    return std::string("cannot ") + what + " '" + target.string() +
           ".lock': " + std::strerror(code);
  };
  isOwner = true;
  for (;;) {
    file = openLock(lock, resolved);
    if (file < 0)
      return fail("write", errno);
    int code = lockFile(file, LOCK_EX | LOCK_NB);
    if (code == EWOULDBLOCK)
      code = wait(target, program);
    if (code != 0) {
      close(file);
      file = -1;
      return fail("lock", code);
    }
    if (isFileOf(file, lock) || isFileOf(file, resolved))
      break;
    // The previous owner has removed the lock file.
    close(file);
    file = -1;
  }
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return "";
  path = lock;
  std::string owner = program + " (process " + std::to_string(getpid()) + ")\n";
  // The name is for messages only, so a full disk is not an error.
  if (ftruncate(file, 0) == 0 &&
      pwrite(file, owner.data(), owner.size(), 0) < 0)
    errno = 0;
  return "";
}

void PathLock::lend() {
  if (file < 0)
    return;
  fcntl(file, F_SETFD, 0);
  setenv(lentLock, std::to_string(file).c_str(), 1);
}

void PathLock::release() {
  if (file < 0)
    return;
  // Removed before it is released: a waiting process sees that the file is gone
  // and creates a new one.
  if (!path.empty() && isFileOf(file, path))
    unlink(path.c_str());
  // Unlocks even if a child has inherited the file. A lock that was taken over
  // stays locked.
  if (isOwner)
    flock(file, LOCK_UN);
  close(file);
  file = -1;
  path.clear();
}

} // namespace fact
