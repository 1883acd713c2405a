//===- PathLock.h - One process at a time on a path -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links no LLVM and throws nothing: fact-compile, fact-tune and whatever works
// on the same folders lock them this way.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_SUPPORT_PATHLOCK_H
#define FACT_SUPPORT_PATHLOCK_H

#include <filesystem>
#include <string>

namespace fact {

/// Holds `<path>.lock` by flock(2): beside the folder or file, which may be
/// replaced as a whole, or not be there yet. The lock ends with its process,
/// however that ends; its file goes away when the lock is released in order, and
/// is harmless when it stays. Where nobody may write beside a folder, nobody can
/// replace it either, and the folder itself is locked.
class PathLock {
public:
  PathLock() = default;
  ~PathLock() { release(); }
  PathLock(const PathLock &) = delete;
  PathLock &operator=(const PathLock &) = delete;

  /// Waits until no other process holds the lock; says on standard error for
  /// whom. Takes over the lock of the process that started this one, if that
  /// lent it. Returns what went wrong, or "".
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
  void wait(const std::filesystem::path &target, const std::string &program);

  int file = -1;
  /// False for a lock that was taken over.
  bool isOwner = true;
  /// What release removes; empty when the file is not this process's.
  std::filesystem::path path;
};

/// The path without links, dots and slashes at its end; it need not exist.
std::filesystem::path resolvePath(const std::filesystem::path &path);

} // namespace fact

#endif // FACT_SUPPORT_PATHLOCK_H
