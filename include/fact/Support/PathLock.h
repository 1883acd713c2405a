//===- PathLock.h - One process at a time on a path -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links no LLVM and throws nothing, so that every tool can lock folders.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_SUPPORT_PATHLOCK_H
#define FACT_SUPPORT_PATHLOCK_H

#include <filesystem>
#include <string>

namespace fact {

/// Holds `<path>.lock` by flock(2): beside the folder or file, which may be
/// replaced as a whole or not exist yet. The lock ends with its process. Its
/// file is removed when the lock is released, and is harmless if it remains.
/// Where no file can be created beside a folder, nobody can replace the folder
/// either, so the folder itself is locked.
class PathLock {
public:
  PathLock() = default;
  ~PathLock() { release(); }
  PathLock(const PathLock &) = delete;
  PathLock &operator=(const PathLock &) = delete;

  /// Waits until no other process holds the lock, and prints to standard error
  /// which one does; a signal that is handled ends that. Takes over the lock of
  /// the parent process, if that lent it. Returns an error message, or "".
  std::string acquire(const std::filesystem::path &target,
                      const std::string &program);

  /// Lends the lock to programs that this process starts from now on: they take
  /// it over rather than wait for this process, which waits for them.
  void lend();

  void release();

  bool isHeld() const { return file >= 0; }

private:
  bool takeOver(const std::filesystem::path &lock,
                const std::filesystem::path &target);
  int wait(const std::filesystem::path &target, const std::string &program);

  int file = -1;
  /// False for a lock that was taken over.
  bool isOwner = true;
  /// The file that release removes; empty if it belongs to another process.
  std::filesystem::path path;
};

/// The path without links, dots and trailing slashes; it need not exist.
std::filesystem::path resolvePath(const std::filesystem::path &path);

} // namespace fact

#endif // FACT_SUPPORT_PATHLOCK_H
