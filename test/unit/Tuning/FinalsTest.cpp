//===- FinalsTest.cpp - Candidates near the best, in turn -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

TEST(Finals, AreOfAFewCandidatesNearTheBest) {
  auto finalists = [](std::vector<double> times) {
    KernelResult result;
    for (double us : times) {
      std::optional<Attempt> &attempt = result.attempts.emplace_back();
      if (us == 0)
        continue;
      attempt.emplace();
      attempt->status = us > 0 ? "ok" : "wrong";
      attempt->us = us;
    }
    return findFinalists(result);
  };
  using Positions = std::vector<size_t>;
  EXPECT_EQ(finalists({}), Positions{});
  EXPECT_EQ(finalists({0, -1}), Positions{});
  EXPECT_EQ(finalists({110, 100}), Positions{1});
  // The first of equal ones first; what failed or was not tried is none.
  EXPECT_EQ(finalists({104, 0, -99, 100, 106, 104}), (Positions{3, 0, 5}));
  EXPECT_EQ(finalists({1, 1, 1, 1, 1, 1}), (Positions{0, 1, 2, 3}));
}

/// Candidates of one time, which is told by the clock: how often they count
/// until then depends on the machine and on what else it does.
TEST(Finals, AreMeasuredInOneProcess) {
  TestBundle bundle;
  const char *waiting = R"(#include <cstdint>
#include <ctime>
static int64_t nowInUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}
)";
  for (int i = 0; i < 10; ++i)
    bundle.addSource(
        "loop" + std::to_string(i),
        waiting +
            TestBundle::kernelSource(
                "axpy_" + std::to_string(i), "float",
                "float p = 2 * x[i]; y[i] = p + w[i]; if (i == 0) "
                "for (int64_t end = nowInUs() + 500; nowInUs() < end;) {}"));
  bool found = false;
  for (int i = 0; i < 8 && !found; ++i) {
    ASSERT_TRUE(bundle.tune({"--retune", "--no-link"}).succeeded())
        << bundle.log;
    found = bundle.log.find("final #") != std::string::npos;
  }
  EXPECT_TRUE(found) << bundle.log;
  EXPECT_EQ(bundle.log.find("finals "), std::string::npos) << bundle.log;
  EXPECT_EQ(bundle.log.find("Failure"), std::string::npos) << bundle.log;
  int winner = bundle.report()["kernels"][0]["candidate"];
  // The others are known by their ratios to one.
  EXPECT_NE(bundle.log.find(" of the time of #"), std::string::npos)
      << bundle.log;
  // Of as many rounds as decide, from 20 to 60.
  size_t finalist =
      std::stoul(bundle.log.substr(bundle.log.find("final #") + 7));
  Json attempts = bundle.report()["kernels"][0]["attempts"];
  for (const Json &attempt : attempts)
    if (attempt["candidate"] == finalist) {
      EXPECT_GE(attempt["runs"], 20);
      EXPECT_LE(attempt["runs"], 60);
    }

  // What is decided is not measured again.
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.log.find("final #"), std::string::npos) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["candidate"], winner);
}

} // namespace
