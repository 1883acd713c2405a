//===- SearchOnTest.cpp - Candidates near the best one --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

TEST(SearchOn, CountsParametersThatDiffer) {
  const char key[] = "sm90_gemm<tile = 128x128x64, swizzle = 1>";
  EXPECT_EQ(countDifferences(key, key), 0u);
  EXPECT_EQ(countDifferences(key, "sm90_gemm<tile = 64x128x64, swizzle = 1>"),
            1u);
  EXPECT_EQ(countDifferences(key, "sm90_gemm<tile = 64x128x64, swizzle = 2>"),
            2u);
  EXPECT_EQ(countDifferences(key, "sm90_gemm<tile = 128x128x64>"), 1u);
  EXPECT_EQ(countDifferences(key, "cublas_gemm"), 3u);
  EXPECT_EQ(countDifferences("plain", "plain"), 0u);
}

struct Space : TestBundle {
  Space() {
    auto slower = [](int loops) {
      return "float p = 2 * x[i]; y[i] = p + w[i]; "
             "for (volatile int n = 0; n < " +
             std::to_string(loops) + "; n = n + 1) {}";
    };
    addCandidate("rows<a = 1, b = 1>", slower(2000));
    addCandidate("rows<a = 8, b = 8>", slower(4000));
    addCandidate("rows<a = 9, b = 9>", slower(4000));
    addCandidate("rows<a = 2, b = 2>", slower(100));
    addCandidate("rows<a = 1, b = 2>", slower(600));
  }
  std::vector<bool> tried() const {
    std::vector<bool> result;
    for (const std::string &status : statuses())
      result.push_back(!status.empty());
    return result;
  }
};

/// From the first to a neighbor, from there to the next, and to one more that
/// gains nothing.
TEST(SearchOn, FollowsWhatGains) {
  Space bundle;
  ASSERT_TRUE(
      bundle.tune({"--no-link", "--candidates", "1", "--search-window", "1"})
          .succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.tried(), (std::vector<bool>{true, true, false, true, true}))
      << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["candidate"], 3);
}

TEST(SearchOn, EndsWhereTheMachineDoesOrTheTimeIsUp) {
  Space bundle;
  std::vector<bool> first = {true, false, false, false, false};
  ASSERT_TRUE(bundle.tune({"--no-link", "--candidates", "1"}).succeeded());
  EXPECT_EQ(bundle.tried(), first);
  ASSERT_TRUE(bundle
                  .tune({"--no-link", "--candidates", "1", "--search-window",
                         "3", "--search-eps", "1"})
                  .succeeded());
  EXPECT_EQ(bundle.tried(), first);
  ASSERT_TRUE(bundle
                  .tune({"--no-link", "--candidates", "1", "--search-window",
                         "3", "--search-seconds", "1e-9"})
                  .succeeded());
  EXPECT_EQ(bundle.tried(), first);
}

} // namespace
