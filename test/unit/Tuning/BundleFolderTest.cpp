//===- BundleFolderTest.cpp - A bundle's folder, replaced as a whole ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/BundleFolder.h"
#include "TestBundle.h"
#include "fact/Tuning/Database.h"
#include <csignal>
#include <functional>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace fact::tuning;

namespace {

class BundleFolderTest : public testing::Test {
protected:
  /// A bundle of nothing but what makes it one.
  void makeBundle(const fs::path &path, const std::string &mark = "old") {
    fs::create_directories(path / "kernels/gemm_0");
    writeFile(path / "kernels/gemm_0/0.o", mark);
    writeFile(path / "bundle.json",
              R"({"format": 2, "magic": "fact-bundle", "name": "sample",
                  "mark": ")" +
                  mark + "\"}");
  }

  /// Replaces `bundle`; returns what went wrong.
  std::string replaceBundle(const std::string &mark = "new") {
    BundleFolder folder;
    if (std::string error = folder.open(bundle); !error.empty())
      return error;
    makeBundle(folder.getAside(), mark);
    return folder.commit();
  }

  std::string mark(const fs::path &path) {
    return Json::parse(readFile(path / "bundle.json"))["mark"];
  }

  std::set<std::string> list(const fs::path &path) {
    std::set<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(path))
      names.insert(entry.path().filename().string());
    return names;
  }

  static AttemptKey key(int i) {
    return {"kernel", "tile = " + std::to_string(i), "source", "machine",
            "compiler"};
  }

  static void record(Database &database, int first, int last) {
    for (int i = first; i < last; ++i) {
      Attempt attempt;
      attempt.kernel = "gemm_0";
      attempt.status = "ok";
      attempt.us = i + 1;
      database.record(key(i), attempt);
    }
  }

  int countRows(const fs::path &path, int limit) {
    Database database(path / "tuning.sqlite");
    int count = 0;
    for (int i = 0; i < limit; ++i)
      count += database.find(key(i)).has_value();
    return count;
  }

  /// Runs `work` in a process that ends without any clean-up.
  static bool succeedsAside(const std::function<bool()> &work) {
    pid_t child = fork();
    if (child == 0)
      _exit(work() ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
  }

  TemporaryFolder temporary;
  fs::path bundle = temporary.path / "model.bundle";
};

TEST_F(BundleFolderTest, TakesThePlaceOfTheOld) {
  ASSERT_EQ(replaceBundle("first"), "");
  EXPECT_EQ(mark(bundle), "first");
  ASSERT_EQ(replaceBundle("second"), "");
  EXPECT_EQ(mark(bundle), "second");
  EXPECT_EQ(list(temporary.path), std::set<std::string>{"model.bundle"});
}

TEST_F(BundleFolderTest, KeepsWhatIsInTheWriteAheadLog) {
  makeBundle(bundle);
  ASSERT_TRUE(succeedsAside([&] {
    auto *database = new Database(bundle / "tuning.sqlite");
    record(*database, 0, 20);
    return true;
  }));
  // The rows are in the log alone: the process has ended before it was folded.
  ASSERT_GT(fs::file_size(bundle / "tuning.sqlite-wal"), 0u);
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_EQ(mark(bundle), "new");
  EXPECT_EQ(countRows(bundle, 30), 20);
}

TEST_F(BundleFolderTest, AFullDiskLosesNothing) {
  makeBundle(bundle);
  {
    Database database(bundle / "tuning.sqlite");
    record(database, 0, 400);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_TRUE(succeedsAside([&] {
    rlimit limit = {16 << 10, 16 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string error = replaceBundle();
    return error.find("cannot copy the measurements") == 0 &&
           error.find("run the same command again") != std::string::npos;
  }));
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(mark(bundle), "old");
  EXPECT_EQ(list(temporary.path), std::set<std::string>{"model.bundle"});
  EXPECT_EQ(countRows(bundle, 400), 400);
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_EQ(countRows(bundle, 400), 400);
}

TEST_F(BundleFolderTest, ADatabaseThatIsNoneStays) {
  makeBundle(bundle);
  writeFile(bundle / "tuning.sqlite", std::string(5000, 'x'));
  std::string error = replaceBundle();
  EXPECT_NE(error.find("file is not a database; move that file away"),
            std::string::npos)
      << error;
  EXPECT_EQ(mark(bundle), "old");
  EXPECT_EQ(readFile(bundle / "tuning.sqlite"), std::string(5000, 'x'));
}

TEST_F(BundleFolderTest, RecoversFromAnEndBetweenTwoRenames) {
  makeBundle(bundle);
  {
    Database database(bundle / "tuning.sqlite");
    record(database, 0, 5);
  }
  // As on file systems that cannot exchange two folders.
  fs::rename(bundle, temporary.path / "model.bundle.replaced-0123456789ab");
  makeBundle(temporary.path / "model.bundle.writing-ba9876543210", "aside");
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_EQ(mark(bundle), "new");
  EXPECT_EQ(countRows(bundle, 10), 5);
  EXPECT_EQ(list(temporary.path), std::set<std::string>{"model.bundle"});
}

TEST_F(BundleFolderTest, RemovesWhatDeadProcessesLeftAndNothingElse) {
  makeBundle(bundle);
  fs::path stale = temporary.path / "model.bundle.writing-ba9876543210";
  fs::create_directories(stale / "kernels/gemm_0");
  fs::path foreign = temporary.path / "model.bundle.writing-ba9876543211";
  fs::create_directories(foreign / "kernels");
  writeFile(foreign / "thesis.txt", "text");
  fs::create_directories(temporary.path / "model.bundle.writing-mine");
  fs::create_directories(temporary.path / "other.bundle.writing-ba9876543210");
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_EQ(list(temporary.path),
            (std::set<std::string>{"model.bundle",
                                   "model.bundle.writing-ba9876543211",
                                   "model.bundle.writing-mine",
                                   "other.bundle.writing-ba9876543210"}));
  EXPECT_EQ(readFile(foreign / "thesis.txt"), "text");
}

TEST_F(BundleFolderTest, RefusesWhatIsNoBundle) {
  auto expectRefused = [&](const std::string &part) {
    std::string error = replaceBundle();
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_NE(error.find(bundle.string()), std::string::npos) << error;
  };
  // A folder of some other program that also calls its file so.
  fs::create_directories(bundle / "src");
  writeFile(bundle / "src/main.js", "text");
  for (const char *text :
       {"{\"format\": 1, \"name\": \"web\"}", "", "[1, 2]", "{\"magic\": 1}",
        "{\"magic\": \"fact-bundle\"}", "not json"}) {
    writeFile(bundle / "bundle.json", text);
    expectRefused("is not a bundle");
    EXPECT_EQ(readFile(bundle / "bundle.json"), text);
    EXPECT_EQ(readFile(bundle / "src/main.js"), "text");
  }
  // A bundle, and somebody's files in it.
  fs::remove_all(bundle);
  makeBundle(bundle);
  writeFile(bundle / "notes.txt", "text");
  expectRefused("also holds 'notes.txt'");
  EXPECT_EQ(readFile(bundle / "notes.txt"), "text");
  EXPECT_EQ(mark(bundle), "old");
  // A file.
  fs::remove_all(bundle);
  writeFile(bundle, "text");
  expectRefused("is not a bundle");
  EXPECT_EQ(readFile(bundle), "text");
  // Nothing was left beside it, and an empty folder may be used.
  fs::remove(bundle);
  fs::create_directory(bundle);
  EXPECT_EQ(replaceBundle(), "");
  EXPECT_EQ(list(temporary.path), std::set<std::string>{"model.bundle"});
}

TEST_F(BundleFolderTest, ALinkStaysOne) {
  makeBundle(temporary.path / "real");
  fs::create_directory_symlink("real", bundle);
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_TRUE(fs::is_symlink(bundle));
  EXPECT_EQ(mark(temporary.path / "real"), "new");
}

TEST_F(BundleFolderTest, WhatFactTuneWroteBelongsToIt) {
  makeBundle(bundle);
  fs::create_directories(bundle / "build/gemm_0");
  for (const char *name :
       {"sample.so", "sample.h", "tuning.json", "build/gemm_0/0.so",
        "tuning.json.partial-0123456789ab", "sample.so.partial-0123456789ab"})
    writeFile(bundle / name, "text");
  ASSERT_EQ(replaceBundle(), "");
  EXPECT_EQ(list(bundle), (std::set<std::string>{"bundle.json", "kernels"}));
}

} // namespace
