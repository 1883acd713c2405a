//===- DatabaseTest.cpp ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Database.h"
#include "TestBundle.h"
#include <sqlite3.h>

using namespace fact::tuning;

namespace {

TEST(Database, NewestAttemptOfTheSameKey) {
  TemporaryFolder folder;
  AttemptKey key = {"kernel", "tile = 8x8", "source", "machine", "compiler"};
  {
    Database database(folder.path / "tuning.sqlite");
    EXPECT_FALSE(database.find(key));
    Attempt attempt;
    attempt.kernel = "gemm_0";
    attempt.status = "crash";
    attempt.detail = "SIGSEGV";
    database.record(key, attempt);
    attempt.status = "ok";
    attempt.us = 12.5;
    attempt.runs = 30;
    attempt.choice = "00ff";
    attempt.conditions = {"paced", 1755, 612.5};
    database.record(key, attempt);
  }
  Database database(folder.path / "tuning.sqlite");
  std::optional<Attempt> found = database.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, "ok");
  EXPECT_EQ(found->us, 12.5);
  EXPECT_EQ(found->runs, 30);
  EXPECT_EQ(found->choice, "00ff");
  EXPECT_EQ(found->conditions.regime, "paced");
  EXPECT_EQ(found->conditions.megahertz, 1755);
  EXPECT_EQ(found->conditions.watts, 612.5);
  EXPECT_FALSE(found->transient);
  AttemptKey other = key;
  other.machine = "another";
  EXPECT_FALSE(database.find(other));
  other.machine = "";
  EXPECT_TRUE(database.find(other));
  other.candidateHash = "changed";
  EXPECT_FALSE(database.find(other));
}

TEST(Database, TheNewestOfEachCandidateAndMachine) {
  TemporaryFolder folder;
  Database database(folder.path / "tuning.sqlite");
  auto record = [&](const char *kernel, const char *candidate,
                    const char *source, const char *machine, double us) {
    Attempt attempt;
    attempt.status = "ok";
    attempt.us = us;
    database.record({kernel, candidate, source, machine, "compiler"}, attempt);
  };
  record("kernel", "a", "old", "here", 1);
  record("kernel", "a", "new", "here", 2);
  record("kernel", "b", "new", "here", 3);
  record("kernel", "a", "new", "there", 4);
  record("other", "a", "new", "here", 5);
  std::vector<Database::Row> rows = database.list("kernel");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].attempt.us, 2);
  EXPECT_EQ(rows[0].key.candidateHash, "new");
  EXPECT_EQ(rows[1].key.candidate, "b");
  EXPECT_EQ(rows[2].key.machine, "there");
  EXPECT_EQ(rows[2].key.compiler, "compiler");
  EXPECT_EQ(rows[0].date.size(), 10u);
  EXPECT_TRUE(database.list("nothing").empty());
}

/// Descriptors of this process that are files of a folder.
static int countOpenFiles(const fs::path &folder) {
  int count = 0;
  for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += fs::read_symlink(entry, gone).parent_path() == folder;
  }
  return count;
}

TEST(Database, NotADatabase) {
  TemporaryFolder folder;
  writeFile(folder.path / "tuning.sqlite", std::string(4096, 'x'));
  try {
    Database database(folder.path / "tuning.sqlite");
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_NE(std::string(failure.what()).find("--database"), std::string::npos)
        << failure.what();
  }
  EXPECT_EQ(countOpenFiles(fs::canonical(folder.path)), 0);
}

class EditedDatabase : public testing::Test {
protected:
  EditedDatabase() {
    Attempt attempt;
    attempt.status = "ok";
    Database(path()).record(key, attempt);
  }

  fs::path path() const { return folder.path / "tuning.sqlite"; }

  void execute(const std::string &sql) {
    sqlite3 *handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  std::string failure() {
    try {
      Database(path()).find(key);
    } catch (const Failure &problem) {
      return problem.what();
    }
    return "";
  }

  TemporaryFolder folder;
  AttemptKey key = {"kernel", "tile = 8x8", "source", "machine", "compiler"};
};

TEST_F(EditedDatabase, NullColumns) {
  EXPECT_EQ(failure(), "");
  execute("CREATE TABLE other AS SELECT * FROM attempts; "
          "DROP TABLE attempts; ALTER TABLE other RENAME TO attempts; "
          "UPDATE attempts SET status = NULL");
  EXPECT_NE(failure().find("an attempt whose 'status' is NULL"),
            std::string::npos)
      << failure();
  EXPECT_NE(failure().find(path().string()), std::string::npos);
}

TEST_F(EditedDatabase, OtherVersions) {
  execute("PRAGMA user_version = 0");
  EXPECT_EQ(failure(), "");
  execute("PRAGMA user_version = 99");
  EXPECT_NE(failure().find("has schema version 99, but this fact-tune writes"),
            std::string::npos)
      << failure();
}

/// Tables of older versions are completed; what is in them stays.
TEST_F(EditedDatabase, OlderTables) {
  const std::string drop = "ALTER TABLE attempts DROP COLUMN ";
  for (int version : {0, 1, 2}) {
    if (version < 2)
      execute(drop + "choice");
    execute(drop + "regime; " + drop + "mhz; " + drop +
            "watts; PRAGMA user_version = " + std::to_string(version));
    std::optional<Attempt> found = Database(path()).find(key);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->status, "ok");
    EXPECT_EQ(found->choice, version < 2 ? "" : "0b");
    EXPECT_EQ(found->conditions.regime, "");
    EXPECT_EQ(found->conditions.watts, 0);
    found->choice = "0b";
    Database(path()).record(key, *found);
    EXPECT_EQ(Database(path()).find(key)->choice, "0b");
  }
}

TEST_F(EditedDatabase, OtherChoices) {
  for (const char *choice : {"0", "0G", "FF"}) {
    execute(std::string("UPDATE attempts SET choice = '") + choice + "'");
    EXPECT_NE(failure().find("an attempt whose 'choice' is '" +
                             std::string(choice) + "'"),
              std::string::npos)
        << failure();
  }
}

TEST_F(EditedDatabase, OtherTables) {
  execute("DROP TABLE attempts; CREATE TABLE attempts (id INTEGER PRIMARY "
          "KEY, kernel_hash TEXT, candidate_hash TEXT, machine TEXT, compiler "
          "TEXT)");
  EXPECT_NE(failure().find("name another with --database"), std::string::npos)
      << failure();
}

} // namespace
