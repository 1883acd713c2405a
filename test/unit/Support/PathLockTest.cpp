//===- PathLockTest.cpp - One process at a time on a path -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/PathLock.h"
#include "TemporaryFolder.h"
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace fact;

namespace {

class PathLockTest : public FolderTest {
protected:
  pid_t start(const std::function<bool()> &work) {
    pid_t child = fork();
    if (child == 0) {
      int log = open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(log, 2);
      _exit(work() ? 0 : 1);
    }
    return child;
  }
  static bool succeeded(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
  }
  static bool becomesTrue(const std::function<bool()> &condition) {
    for (int i = 0; i < 3000 && !condition(); ++i)
      usleep(10000);
    return condition();
  }
  /// Whether a process says that it waits for a lock, and does. On a busy
  /// machine it takes seconds to get there.
  bool waits(pid_t child) {
    return becomesTrue([&] { return !read(folder / "log").empty(); }) &&
           waitpid(child, nullptr, WNOHANG) == 0;
  }
  /// Waits for a file that another process writes.
  static bool appears(const fs::path &path) {
    return becomesTrue([&] { return fs::exists(path); });
  }

  fs::path target = folder / "bundle";
};

TEST_F(PathLockTest, TheSecondWaitsAndSaysForWhom) {
  PathLock lock;
  ASSERT_EQ(lock.acquire(target, "fact-compile"), "");
  EXPECT_TRUE(lock.isHeld());
  // Another name of the same folder.
  pid_t second = start([&] {
    PathLock other;
    return other.acquire(folder / "." / "bundle/", "fact-tune").empty();
  });
  EXPECT_TRUE(waits(second));
  lock.release();
  EXPECT_TRUE(succeeded(second));
  EXPECT_EQ(read(folder / "log"),
            "fact-tune: waiting for fact-compile (process " +
                std::to_string(getpid()) + "), which is using " +
                (folder / "." / "bundle/").string() + "\n");
  // Nothing is left of either.
  fs::remove(folder / "log");
  EXPECT_EQ(count(folder), 0u);
}

TEST_F(PathLockTest, ManyProcessesAreInTurns) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start([&] {
      for (int round = 0; round < 50; ++round) {
        PathLock lock;
        if (!lock.acquire(target, "test").empty() ||
            !fs::create_directory(target))
          return false;
        fs::remove(target);
      }
      return true;
    }));
  for (pid_t child : children)
    EXPECT_TRUE(succeeded(child));
  EXPECT_FALSE(fs::exists(folder / "bundle.lock"));
}

TEST_F(PathLockTest, EndsWithItsProcess) {
  pid_t first = start([&] {
    auto *lock = new PathLock;
    if (!lock->acquire(target, "first").empty())
      return false;
    std::ofstream(folder / "ready") << "1";
    pause();
    return true;
  });
  ASSERT_TRUE(appears(folder / "ready"));
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder / "bundle.lock"));
  PathLock lock;
  EXPECT_EQ(lock.acquire(target, "second"), "");
}

TEST_F(PathLockTest, LentLocksAreTakenOver) {
  PathLock lock;
  ASSERT_EQ(lock.acquire(target, "fact-compile"), "");
  lock.lend();
  pid_t child = start([&] {
    PathLock taken, another;
    // The lock of this folder, and not of any other.
    return taken.acquire(target, "fact-tune").empty() && taken.isHeld() &&
           another.acquire(folder / "other", "fact-tune").empty();
  });
  EXPECT_TRUE(succeeded(child));
  // It is still this process's.
  EXPECT_TRUE(fs::exists(folder / "bundle.lock"));
  unsetenv("FACT_PATH_LOCK");
  pid_t stranger = start([&] {
    PathLock other;
    return other.acquire(target, "other").empty();
  });
  EXPECT_TRUE(waits(stranger));
  lock.release();
  EXPECT_TRUE(succeeded(stranger));
}

TEST_F(PathLockTest, WhatWasLentForAnotherFolderIsNotTaken) {
  for (const char *lent : {"0", "2", "77", "x", "-1", ""}) {
    setenv("FACT_PATH_LOCK", lent, 1);
    PathLock lock;
    EXPECT_EQ(lock.acquire(target, "test"), "");
    EXPECT_EQ(std::getenv("FACT_PATH_LOCK"), nullptr);
  }
}

TEST_F(PathLockTest, FollowsNoLink) {
  std::ofstream(folder / "victim") << "mine";
  fs::create_symlink("victim", folder / "bundle.lock");
  PathLock lock;
  std::string error = lock.acquire(target, "test");
  EXPECT_EQ(error.find("cannot write '" + target.string() + ".lock': "), 0u)
      << error;
  EXPECT_EQ(read(folder / "victim"), "mine");
}

} // namespace
