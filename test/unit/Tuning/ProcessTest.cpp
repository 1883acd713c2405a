//===- ProcessTest.cpp ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Process.h"
#include "TestBundle.h"
#include "fact/Tuning/Files.h"
#include <chrono>
#include <csignal>
#include <pthread.h>

using namespace fact::tuning;

namespace {

Outcome shell(const std::string &script, double timeout = 10) {
  Command command;
  command.words = {"/bin/sh", "-c", script};
  command.captureOutput = true;
  command.timeoutSeconds = timeout;
  return runCommand(command);
}

TEST(Process, ExitStatusAndOutput) {
  Outcome outcome = shell("echo hello; exit 3");
  EXPECT_EQ(outcome.kind, Outcome::Exited);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, "hello\n");
  EXPECT_EQ(outcome.text(), "exit status 3");
}

TEST(Process, SignalsHaveNames) {
  Outcome outcome = shell("kill -SEGV $$");
  EXPECT_EQ(outcome.kind, Outcome::Signaled);
  EXPECT_EQ(outcome.text(), "SIGSEGV (Segmentation fault)");
}

TEST(Process, MissingProgram) {
  Command command;
  command.words = {"no-such-program-here"};
  Outcome outcome = runCommand(command);
  EXPECT_EQ(outcome.kind, Outcome::NotStarted);
  EXPECT_EQ(outcome.text(), "No such file or directory");
}

TEST(Process, TimeoutKillsTheWholeGroup) {
  TemporaryFolder folder;
  std::string file = (folder.path / "child").string();
  auto begin = std::chrono::steady_clock::now();
  Outcome outcome = shell(
      "sleep 60 & echo $! > " + file + "; trap '' TERM; wait; sleep 60", 0.3);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.kind, Outcome::TimedOut);
  // Not before it had its time to end by itself.
  EXPECT_GT(elapsed.count(), 4);
  EXPECT_LT(elapsed.count(), 15);
  EXPECT_TRUE(isGone(std::stoi(readFile(file))));
}

/// A child has the handlers of this process until it becomes the command; they
/// only take note of a signal.
TEST(Process, ASignalBeforeTheCommandStartsEndsIt) {
  static bool raisesInChild = false;
  installInterruptHandlers();
  pthread_atfork(nullptr, nullptr, [] {
    if (raisesInChild)
      raise(SIGTERM);
  });
  raisesInChild = true;
  Outcome outcome = shell("sleep 60");
  raisesInChild = false;
  EXPECT_EQ(outcome.text(), "SIGTERM (Terminated)");
}

/// srun cancels its job at SIGTERM and cannot at SIGKILL, and may be the child
/// of a script that ends before it.
TEST(Process, TimeoutLetsLaunchersCancel) {
  TemporaryFolder folder;
  std::string file = (folder.path / "cancelled").string();
  Outcome outcome = shell("(trap 'sleep 1; touch " + file +
                              "; exit' TERM; sleep 60 & wait) & wait",
                          2);
  EXPECT_EQ(outcome.kind, Outcome::TimedOut);
  EXPECT_TRUE(fs::exists(file));
}

TEST(Process, LargeOutputDoesNotBlock) {
  Outcome outcome = shell("head -c 300000 /dev/zero");
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(outcome.output.size(), 300000u);
}

TEST(Process, EndlessOutputIsKeptToALimit) {
  TemporaryFolder folder;
  Command command;
  command.words = {"/bin/sh", "-c", "yes >&2 & exec yes"};
  command.captureOutput = true;
  command.log = folder.path / "log";
  command.timeoutSeconds = 2;
  Outcome outcome = runCommand(command);
  EXPECT_EQ(outcome.kind, Outcome::TimedOut);
  EXPECT_LE(outcome.output.size(), Scheduler::outputLimit);
  EXPECT_LE(fs::file_size(command.log), Scheduler::outputLimit);
  EXPECT_GT(fs::file_size(command.log), 0u);
}

TEST(Process, ADelayedCommandWaitsAndHoldsUpNobody) {
  Scheduler scheduler(1, false);
  std::string order;
  auto add = [&](const char *name, double delay) {
    Command command;
    command.words = {"/bin/true"};
    command.delaySeconds = delay;
    scheduler.build(command,
                    [&order, name](const Outcome &) { order += name; });
  };
  auto begin = std::chrono::steady_clock::now();
  add("late", 0.3);
  add("early ", 0);
  scheduler.run();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(order, "early late");
  EXPECT_GE(elapsed.count(), 0.3);
}

TEST(Process, LargerPrioritiesStartFirst) {
  Scheduler scheduler(1, /*measureAlone=*/true);
  std::string order;
  auto add = [&](const char *name, int64_t priority, bool isBuild) {
    Command command;
    command.words = {"/bin/true"};
    command.priority = priority;
    auto done = [&order, name](const Outcome &) { order += name; };
    if (isBuild)
      scheduler.build(command, done);
    else
      scheduler.measure(command, done);
  };
  for (bool isBuild : {true, false}) {
    add("c", 0, isBuild);
    add("a", 2, isBuild);
    add("d", 0, isBuild);
    add("e", -1, isBuild);
    add("b", 2, isBuild);
  }
  scheduler.run();
  EXPECT_EQ(order, "abcdeabcde");
}

TEST(Process, MeasurementsRunAlone) {
  TemporaryFolder folder;
  std::string trace = (folder.path / "trace").string();
  Scheduler scheduler(2, /*measureAlone=*/true);
  auto command = [&](const std::string &name) {
    Command result;
    result.words = {"/bin/sh", "-c",
                    "echo begin " + name + " >> " + trace + "; sleep 0.05; " +
                        "echo end " + name + " >> " + trace};
    return result;
  };
  int done = 0;
  for (int i = 0; i < 3; ++i) {
    scheduler.build(command("build"), [&](const Outcome &) {
      ++done;
      scheduler.measure(command("measure"), [&](const Outcome &) { ++done; });
    });
  }
  scheduler.run();
  EXPECT_EQ(done, 6);
  std::string text = readFile(trace);
  for (size_t at = text.find("begin measure"); at != std::string::npos;
       at = text.find("begin measure", at + 1))
    EXPECT_EQ(text.compare(at, 26, "begin measure\nend measure\n"), 0) << text;
}

TEST(Process, CommandTextIsForAShell) {
  Command command;
  command.words = {"c++", "-DNAME=\"a b\"", "it's"};
  EXPECT_EQ(command.text(), "c++ '-DNAME=\"a b\"' 'it'\\''s'");
}

} // namespace
