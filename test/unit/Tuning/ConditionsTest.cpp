//===- ConditionsTest.cpp - fact-tune when the machine does not play along ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Full disks, folders that cannot be written, and the end of the process at any
// time: the message says what to do, nothing is half-written, no child is left,
// and the same command goes on.
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "fact/Support/PathLock.h"
#include <csignal>
#include <cstring>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace fact::tuning;

namespace {

class Conditions : public testing::Test {
protected:
  Conditions() { bundle.addCandidate("good", "y[i] = 2 * x[i] + w[i];"); }

  void expectLog(const std::string &part) {
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;
  }

  void expectNoLeftovers(const fs::path &folder) {
    for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
      EXPECT_NE(entry.path().extension(), ".so") << entry.path();
    }
  }

  /// Starts fact-tune beside this process; `prepare` runs in the child.
  pid_t start(std::vector<std::string> words,
              const std::function<void()> &prepare = nullptr) {
    bundle.save();
    writeFile(bundle.folder() / "fact-tune.log", "");
    pid_t child = fork();
    if (child != 0)
      return child;
    if (prepare)
      prepare();
    std::string log = (bundle.folder() / "fact-tune.log").string();
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (freopen(log.c_str(), "w", stdout) && dup2(1, 2) >= 0)
      execv(arguments[0], arguments.data());
    _exit(127);
  }

  int wait(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    bundle.log = readFile(bundle.folder() / "fact-tune.log");
    return status;
  }

  /// A launcher that writes its process id and then takes its time, once.
  std::string slowLauncher() {
    std::string file = (bundle.folder() / "launched").string();
    bundle.write("launcher", "#!/bin/sh\nif [ ! -e " + file +
                                 " ]; then echo $$ > " + file +
                                 "; sleep 60; fi\nexec \"$@\"\n");
    fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
    return (bundle.folder() / "launcher").string();
  }

  pid_t launched() {
    fs::path file = bundle.folder() / "launched";
    for (int i = 0; i < 3000; ++i, usleep(10000))
      if (fs::exists(file) && fs::file_size(file) > 1)
        return std::stoi(readFile(file));
    return -1;
  }

  TestBundle bundle;
};

TEST_F(Conditions, AFullDisk) {
#ifdef FACT_TEST_SANITIZE
  if (std::strcmp(FACT_TEST_SANITIZE, "thread") == 0)
    GTEST_SKIP() << "the thread sanitizer writes a longer file itself";
#endif
  fs::path output = bundle.folder() / "out/model.so";
  std::vector<std::string> words =
      bundle.tuneCommand({"-o", output.string()}).words;
  // No file may be longer than this: the database does not fit, or it does and
  // the worker does not.
  for (rlim_t bytes : {24 << 10, 48 << 10}) {
    int status = wait(start(words, [&] {
      rlimit limit = {bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
    }));
    EXPECT_TRUE(WIFEXITED(status)) << bundle.log;
    EXPECT_EQ(WEXITSTATUS(status), 1);
    expectLog("fact-tune: error: ");
    expectLog("run the same command again");
    expectNoLeftovers(bundle.folder() / "out");
  }
  expectLog("File too large");
  // With room again, the same command goes on.
  EXPECT_EQ(wait(start(words)), 0) << bundle.log;
  EXPECT_TRUE(fs::exists(output));
}

TEST_F(Conditions, OutputThatCannotBeWritten) {
  bundle.write("file", "text");
  EXPECT_EQ(
      bundle.tune({"-o", (bundle.folder() / "file/model.so").string()}).code,
      1);
  expectLog("cannot create the folder");
  EXPECT_EQ(bundle.tune({"-o", "/proc/model.so"}).code, 1);
  expectLog("cannot write /proc/model.so");
  EXPECT_EQ(bundle.tune({"-o", bundle.folder().string()}).code, 1);
  expectLog("it is a folder; -o names the library's file");
  // All of it was said before any work.
  EXPECT_FALSE(fs::exists(bundle.folder() / "build/worker"));
}

TEST_F(Conditions, Interrupted) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    fs::remove(bundle.folder() / "launched");
    pid_t tuner = start(
        bundle.tuneCommand({"--launcher", slowLauncher(), "--retune"}).words);
    pid_t child = launched();
    ASSERT_GT(child, 0);
    kill(tuner, signal);
    int status = wait(tuner);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    expectLog("fact-tune: error: interrupted by");
    expectLog("run the same command again to resume");
    EXPECT_TRUE(isGone(child));
    expectNoLeftovers(bundle.folder());
  }
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
}

TEST_F(Conditions, Killed) {
  pid_t tuner = start(bundle.tuneCommand({"--launcher", slowLauncher()}).words);
  pid_t child = launched();
  ASSERT_GT(child, 0);
  kill(tuner, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(wait(tuner)));
  EXPECT_TRUE(isGone(child));
  expectNoLeftovers(bundle.folder());
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
}

/// A compiler's own children end too: nvcc's hold gigabytes for a minute.
TEST_F(Conditions, KilledWithGrandchildren) {
  std::string file = (bundle.folder() / "launched").string();
  bundle.write("launcher",
               "#!/bin/sh\nsleep 300 &\necho $! > " + file + "\nwait\n");
  fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
  pid_t tuner = start(
      bundle
          .tuneCommand({"--launcher", (bundle.folder() / "launcher").string()})
          .words);
  pid_t grandchild = launched();
  ASSERT_GT(grandchild, 0);
  kill(tuner, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(wait(tuner)));
  EXPECT_TRUE(isGone(grandchild));
}

TEST_F(Conditions, EndsWithTheProcessThatAskedForIt) {
  // A parent that starts fact-tune as fact-compile does, and dies.
  std::string command = "FACT_END_WITH_PARENT=1 ";
  for (const std::string &word :
       bundle.tuneCommand({"--launcher", slowLauncher()}).words)
    command += word + " ";
  pid_t parent = start({"/bin/sh", "-c", command + "; true"});
  pid_t child = launched();
  ASSERT_GT(child, 0);
  kill(parent, SIGKILL);
  wait(parent);
  EXPECT_TRUE(isGone(child));
  expectNoLeftovers(bundle.folder());
}

TEST_F(Conditions, EndsWithItsParentWhileItWaits) {
  fact::PathLock lock;
  ASSERT_EQ(lock.acquire(bundle.folder(), "test"), "");
  std::string command = "FACT_END_WITH_PARENT=1 ";
  for (const std::string &word : bundle.tuneCommand({}).words)
    command += word + " ";
  pid_t parent =
      start({"/bin/sh", "-c",
             command + "& echo $! > " +
                 (bundle.folder() / "launched").string() + "; wait"});
  pid_t tuner = launched();
  ASSERT_GT(tuner, 0);
  ASSERT_TRUE(waitForText(bundle.folder() / "fact-tune.log", "waiting for"));
  kill(parent, SIGKILL);
  wait(parent);
  EXPECT_TRUE(isGone(tuner));
}

TEST_F(Conditions, InterruptedWhileAnotherLinks) {
  fs::path output = bundle.folder() / "out/model.so";
  createFolder(output.parent_path());
  fact::PathLock lock;
  ASSERT_EQ(lock.acquire(output, "test"), "");
  pid_t tuner = start(bundle.tuneCommand({"-o", output.string()}).words);
  ASSERT_TRUE(waitForText(bundle.folder() / "fact-tune.log", "waiting for"));
  // Not yet in flock, perhaps.
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 1000 && ended == 0; ++i, usleep(10000)) {
    kill(tuner, SIGTERM);
    ended = waitpid(tuner, &status, WNOHANG);
  }
  lock.release();
  if (ended == 0)
    wait(tuner);
  ASSERT_EQ(ended, tuner) << "it ended only when the lock was free";
  bundle.log = readFile(bundle.folder() / "fact-tune.log");
  EXPECT_EQ(WEXITSTATUS(status), 1);
  expectLog("fact-tune: error: interrupted by SIGTERM");
  EXPECT_FALSE(fs::exists(output));
}

TEST_F(Conditions, OneAtATime) {
  pid_t first = start(bundle.tuneCommand({"--launcher", slowLauncher()}).words);
  ASSERT_GT(launched(), 0);
  // The second waits until the first has ended, and then does its own work.
  Command second = bundle.tuneCommand({});
  second.log = bundle.folder() / "second.log";
  bool ended = false;
  Scheduler scheduler(2, false);
  scheduler.build(second, [&](const Outcome &outcome) {
    EXPECT_TRUE(ended);
    EXPECT_TRUE(outcome.succeeded()) << readFile(second.log);
  });
  Command end;
  end.words = {"/bin/sh", "-c",
               "while ! grep waiting " + second.log.string() +
                   "; do sleep 0.1; done; kill " + std::to_string(first)};
  scheduler.build(end, [&](const Outcome &) { ended = true; });
  scheduler.run();
  EXPECT_NE(readFile(second.log)
                .find("fact-tune: waiting for fact-tune (process " +
                      std::to_string(first) + "), which is using "),
            std::string::npos);
  wait(first);
  expectLog("interrupted by SIGTERM");
}

} // namespace
