//===- DatabaseTest.cpp ---------------------------------------------------===//

#include "fact/Tuning/Database.h"
#include "TestBundle.h"

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
    database.record(key, attempt);
  }
  Database database(folder.path / "tuning.sqlite");
  std::optional<Attempt> found = database.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, "ok");
  EXPECT_EQ(found->us, 12.5);
  EXPECT_EQ(found->runs, 30);
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

TEST(Database, NotADatabase) {
  TemporaryFolder folder;
  writeFile(folder.path / "tuning.sqlite", std::string(4096, 'x'));
  try {
    Database database(folder.path / "tuning.sqlite");
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_NE(std::string(failure.what()).find("--database"),
              std::string::npos)
        << failure.what();
  }
}

} // namespace
