//===- WholeFileTest.cpp - Files that are whole or not there --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/WholeFile.h"
#include "TemporaryFolder.h"
#include <cerrno>
#include <csignal>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fact;

namespace {

class WholeFile : public FolderTest {};

TEST_F(WholeFile, ReplacesTheOld) {
  for (Synchronize synchronize : {Synchronize::No, Synchronize::Yes})
    for (const std::string &text :
         {std::string("first"), std::string(), std::string(100000, 'x')}) {
      ASSERT_EQ(writeWholeFile(folder / "file", text, synchronize), 0);
      EXPECT_EQ(read(folder / "file"), text);
    }
  EXPECT_EQ(count(folder), 1u);
}

TEST_F(WholeFile, HasTheModeOfTheUmask) {
  mode_t before = umask(027);
  ASSERT_EQ(writeWholeFile(folder / "file", "text"), 0);
  umask(before);
  struct stat status;
  ASSERT_EQ(stat((folder / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(WholeFile, AFailureLeavesTheOldAndNothingElse) {
  ASSERT_EQ(writeWholeFile(folder / "file", "old"), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(writeWholeFile(folder / "file", std::string(100, 'x')));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(WEXITSTATUS(status), EFBIG);
  EXPECT_EQ(read(folder / "file"), "old");
  EXPECT_EQ(count(folder), 1u);
  EXPECT_EQ(writeWholeFile(folder / "file/below", "text"), ENOTDIR);
  EXPECT_EQ(probeFile(folder / "file/below"), ENOTDIR);
  EXPECT_EQ(probeFile(folder / "file"), 0);
  EXPECT_EQ(read(folder / "file"), "old");
  EXPECT_EQ(count(folder), 1u);
}

TEST_F(WholeFile, ALinkIsReplacedAndNotFollowed) {
  ASSERT_EQ(writeWholeFile(folder / "victim", "mine"), 0);
  fs::create_symlink("victim", folder / "file");
  ASSERT_EQ(writeWholeFile(folder / "file", "text"), 0);
  EXPECT_EQ(read(folder / "victim"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder / "file"));
}

TEST(UniqueName, CannotBeGuessedAndIsRecognized) {
  std::set<fs::path> names;
  for (int i = 0; i < 1000; ++i) {
    fs::path name = getUniqueName("folder/model.so", partial);
    EXPECT_EQ(name.parent_path(), "folder");
    EXPECT_TRUE(isUniqueName(name.filename(), "model.so", partial)) << name;
    EXPECT_FALSE(isUniqueName(name.filename(), "model.s", partial));
    EXPECT_FALSE(isUniqueName(name.filename(), "model.so", "writing"));
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_FALSE(isUniqueName("model.so", "model.so", partial));
  EXPECT_FALSE(isUniqueName("model.so.partial-", "model.so", partial));
  EXPECT_FALSE(
      isUniqueName("model.so.partial-0123456789aX", "model.so", partial));
  EXPECT_FALSE(
      isUniqueName("model.so.partial-0123456789abc", "model.so", partial));
}

} // namespace
