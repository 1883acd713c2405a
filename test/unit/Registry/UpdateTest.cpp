//===- UpdateTest.cpp - Files of the registry, changed by many ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Samples.h"
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

using namespace fact::registry;
using fact::tuning::readFile;
using fact::tuning::writeFile;
namespace fs = std::filesystem;

namespace {

const char name[] = "gemm_epilogue/bf16-sm_90a.json";

/// Runs `work` in another process.
pid_t start(const std::function<bool()> &work) {
  pid_t child = fork();
  if (child == 0)
    _exit(work() ? 0 : 1);
  return child;
}

bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(Update, AddsAndMerges) {
  TemporaryFolder folder;
  fs::path layer = folder.path / "new/layer";
  ASSERT_EQ(addEntries(layer, {sampleEntry(sampleProblem(), {accepted(10)})}),
            "");
  ASSERT_EQ(
      addEntries(layer, {sampleEntry(sampleProblem(), {accepted(9)}),
                         sampleEntry(sampleProblem(1, "f16"), {accepted(20)})}),
      "");
  std::vector<Entry> entries;
  ASSERT_EQ(fact::registry::readFile(layer, layer / name, entries), "");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].getBest()->us, 9);
  EXPECT_TRUE(fs::exists(layer / "gemm_epilogue/f16-sm_90a.json"));
  EXPECT_FALSE(fs::exists(layer / (std::string(name) + ".partial")));

  // What changes nothing writes nothing.
  auto before = fs::last_write_time(layer / name);
  ASSERT_EQ(addEntries(layer, {sampleEntry(sampleProblem(), {accepted(11)})}),
            "");
  EXPECT_EQ(fs::last_write_time(layer / name), before);

  // What is empty goes away.
  ASSERT_EQ(updateFile(layer, name,
                       [](std::vector<Entry> &entries) { entries.clear(); }),
            "");
  EXPECT_FALSE(fs::exists(layer / name));
}

TEST(Update, ProcessesThatWriteAtOnceLoseNothing) {
  TemporaryFolder folder;
  constexpr int processes = 6, each = 20;
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process)
    children.push_back(start([&, process] {
      for (int i = 0; i < each; ++i) {
        // One entry of its own, and one that all of them improve.
        Entry own = sampleEntry(sampleProblem(1 + process * each + i),
                                {accepted(10 + i)});
        Entry shared = sampleEntry(sampleProblem(100000),
                                   {accepted(100 + (i * 7 + process) % 50)});
        if (!addEntries(folder.path, {own, shared}).empty())
          return false;
      }
      return true;
    }));
  // Readers see whole files all the time.
  pid_t reader = start([&] {
    for (int i = 0; i < 300; ++i) {
      std::string warning;
      Registry::load({folder.path},
                     [&](const std::string &text) { warning = text; });
      if (!warning.empty())
        return false;
    }
    return true;
  });
  for (pid_t child : children)
    EXPECT_TRUE(succeeded(child));
  EXPECT_TRUE(succeeded(reader));
  std::vector<Entry> entries;
  ASSERT_EQ(fact::registry::readFile(folder.path, folder.path / name, entries),
            "");
  EXPECT_EQ(entries.size(), size_t(processes * each + 1));
  for (const Entry &entry : entries)
    if (entry.problem == sampleProblem(100000))
      EXPECT_EQ(entry.getBest()->us, 100);
}

TEST(Update, AProcessKilledWhileItWritesLeavesAWholeFile) {
  TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    pid_t child = start([&] {
      for (int i = 0;; ++i)
        if (!addEntries(folder.path, {sampleEntry(sampleProblem(1 + i % 500),
                                                  {accepted(1000 - round)})})
                 .empty())
          return false;
    });
    usleep(5000 + 3000 * round);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (!fs::exists(folder.path / name))
      continue;
    std::vector<Entry> entries;
    ASSERT_EQ(
        fact::registry::readFile(folder.path, folder.path / name, entries), "");
  }
  // The lock went with its owner.
  EXPECT_EQ(addEntries(folder.path,
                       {sampleEntry(sampleProblem(9999), {accepted(1)})}),
            "");
}

TEST(Update, WaitsForTheLock) {
  TemporaryFolder folder;
  int lock = open((folder.path / ".lock").c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  pid_t child = start([&] {
    close(lock); // the copy that it inherits would keep the lock
    return addEntries(folder.path,
                      {sampleEntry(sampleProblem(), {accepted(1)})})
        .empty();
  });
  usleep(200000);
  EXPECT_FALSE(fs::exists(folder.path / name));
  close(lock);
  EXPECT_TRUE(succeeded(child));
  EXPECT_TRUE(fs::exists(folder.path / name));
}

TEST(Update, ABrokenFileIsNotOverwritten) {
  TemporaryFolder folder;
  fs::create_directory(folder.path / "gemm_epilogue");
  writeFile(folder.path / name, "mine\n");
  std::string error =
      addEntries(folder.path, {sampleEntry(sampleProblem(), {accepted(1)})});
  EXPECT_EQ(error.find((folder.path / name).string() + ": parse error"), 0u)
      << error;
  EXPECT_NE(error.find("it is not overwritten"), std::string::npos) << error;
  EXPECT_EQ(readFile(folder.path / name), "mine\n");
}

TEST(Update, NamesBecomeNoOtherPaths) {
  TemporaryFolder folder;
  Problem problem = sampleProblem();
  problem.rule = "../../outside";
  EXPECT_EQ(
      addEntries(folder.path / "layer", {sampleEntry(problem, {accepted(1)})}),
      "cannot write " + problem.getId() +
          ": $.rule: expected a rule's name, found \"../../outside\"");
  EXPECT_TRUE(fs::is_empty(folder.path));
  // Nor is anything written that could not be read.
  Schedule schedule = accepted(1);
  schedule.machine = "two\nlines";
  EXPECT_NE(addEntries(folder.path, {sampleEntry(sampleProblem(), {schedule})}),
            "");
  schedule = accepted(std::nan(""));
  EXPECT_NE(addEntries(folder.path, {sampleEntry(sampleProblem(), {schedule})}),
            "");
  schedule = accepted(1);
  schedule.machine = "\xff";
  EXPECT_NE(addEntries(folder.path, {sampleEntry(sampleProblem(), {schedule})}),
            "");
}

TEST(Update, SaysWhatCannotBeWritten) {
  TemporaryFolder folder;
  writeFile(folder.path / "file", "");
  std::string error = addEntries(folder.path / "file",
                                 {sampleEntry(sampleProblem(), {accepted(1)})});
  EXPECT_EQ(error.find("cannot create the folder " +
                       (folder.path / "file/gemm_epilogue").string()),
            0u)
      << error;
  if (geteuid() == 0)
    return; // may write everywhere
  fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
  error =
      addEntries(folder.path, {sampleEntry(sampleProblem(), {accepted(1)})});
  EXPECT_NE(error.find("writable, or name another folder"), std::string::npos)
      << error;
  fs::permissions(folder.path, fs::perms::owner_all);
}

} // namespace
