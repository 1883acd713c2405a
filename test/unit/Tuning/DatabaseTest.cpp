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
