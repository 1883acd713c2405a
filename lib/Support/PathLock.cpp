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

/// Names the descriptor of a lock that was lent.
static constexpr char lentLock[] = "FACT_PATH_LOCK";

fs::path resolvePath(const fs::path &path) {
  std::error_code code;
  fs::path resolved = fs::weakly_canonical(path, code);
  if (code)
    resolved = fs::absolute(path, code).lexically_normal();
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

/// Whether a descriptor is of the file that has this name now.
static bool isFileOf(int file, const fs::path &path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static int lockFile(int file, int operation) {
  while (flock(file, operation) != 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

/// The lock's file, or the folder itself where no file can be made beside it.
static int openLock(const fs::path &path, const fs::path &target) {
  constexpr int flags = O_NOFOLLOW | O_CLOEXEC;
  int file = open(path.c_str(), O_RDWR | O_CREAT | flags, 0666);
  if (file >= 0 || (errno != EACCES && errno != EPERM && errno != EROFS))
    return file;
  int code = errno;
  // Somebody else's file can be locked without being written.
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
  // The lock is of the open file, which both processes have: taking it again
  // succeeds at once.
  if ((!isFileOf(descriptor, lock) && !isFileOf(descriptor, target)) ||
      lockFile(descriptor, LOCK_EX | LOCK_NB) != 0)
    return false;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  file = descriptor;
  isOwner = false;
  return true;
}

/// Blocks until the lock is free. Who has it has written so into its file.
void PathLock::wait(const fs::path &target, const std::string &program) {
  char owner[100] = "";
  ssize_t count = pread(file, owner, sizeof(owner) - 1, 0);
  std::string who = count > 0 ? std::string(owner, static_cast<size_t>(count))
                              : "another process";
  who = who.substr(0, who.find('\n'));
  std::fprintf(stderr, "%s: waiting for %s, which is using %s\n",
               program.c_str(), who.c_str(), target.c_str());
  lockFile(file, LOCK_EX);
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
      wait(target, program);
    else if (code != 0) {
      close(file);
      file = -1;
      return fail("lock", code);
    }
    if (isFileOf(file, lock) || isFileOf(file, resolved))
      break;
    // The one that was waited for has removed the file with the lock.
    close(file);
    file = -1;
  }
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return "";
  path = lock;
  std::string owner =
      program + " (process " + std::to_string(getpid()) + ")\n";
  // For messages alone: a disk without space is no reason to fail here.
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
  // Removed before it is free: who waits for it sees that it is gone and makes
  // a new one.
  if (!path.empty() && isFileOf(file, path))
    unlink(path.c_str());
  // Also where a child has inherited the file. What was taken over goes on.
  if (isOwner)
    flock(file, LOCK_UN);
  close(file);
  file = -1;
  path.clear();
}

} // namespace fact
