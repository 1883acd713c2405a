//===- FallbackTest.cpp - What runs when all candidates fail --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include <fcntl.h>

using namespace fact::tuning;

namespace {

/// A kernel with a right fallback; tests add candidates after it.
class Fallback : public testing::Test {
protected:
  Fallback() {
    bundle.addCandidate("plain", "y[i] = 2 * x[i] + w[i];");
    bundle.candidates()[0]["fallback"] = true;
  }

  bool printed(const std::string &text) const {
    return bundle.log.find(text) != std::string::npos;
  }

  TestBundle bundle;
};

TEST_F(Fallback, IsNotTriedBesideAGoodCandidate) {
  bundle.addCandidate("good", "y[i] = x[i] + x[i] + w[i];");
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  Json kernel = bundle.report()["kernels"][0];
  EXPECT_EQ(kernel["schedule"], "good");
  EXPECT_EQ(kernel["tried"], 1);
  EXPECT_FALSE(kernel.contains("fallback"));
  EXPECT_FALSE(printed("in plain loops")) << bundle.log;
}

TEST_F(Fallback, TakesThePlaceOfFailedCandidates) {
  bundle.addCandidate("wrong", "y[i] = 3 * x[i] + w[i];");
  bundle.addCandidate("broken", "y[i] = nonsense;");
  ASSERT_TRUE(bundle.tune({}).succeeded()) << bundle.log;
  Json kernel = bundle.report()["kernels"][0];
  EXPECT_EQ(kernel["schedule"], "plain");
  EXPECT_EQ(kernel["tried"], 3);
  EXPECT_TRUE(printed("in plain loops")) << bundle.log;
  EXPECT_EQ(kernel["fallback"], true);
  EXPECT_TRUE(printed("axpy (its candidates failed, the first with wrong: "))
      << bundle.log;
  EXPECT_TRUE(printed("; see " + kernel["attempts"][1].value("log", "?") + ")"))
      << bundle.log;
}

TEST_F(Fallback, FollowsManyFailures) {
  for (int i = 0; i < 20; ++i)
    bundle.addCandidate("wrong" + std::to_string(i), "y[i] = 3 * x[i] + w[i];");
  ASSERT_TRUE(bundle.tune({"--no-link", "--candidates", "4"}).succeeded())
      << bundle.log;
  Json kernel = bundle.report()["kernels"][0];
  EXPECT_EQ(kernel["schedule"], "plain");
  EXPECT_EQ(kernel["tried"], 9);
}

TEST_F(Fallback, ProgressCountsWhatIsTried) {
  bundle.candidates()[0]["source"] = "kernels/axpy/slow.cpp";
  bundle.write("kernels/axpy/slow.cpp",
               TestBundle::kernelSource("axpy_0", "float",
                                        "static int once = usleep(600000); "
                                        "y[i] = 2 * x[i] + w[i] + 0 * once;"));
  for (int i = 0; i < 20; ++i)
    bundle.addCandidate("wrong" + std::to_string(i), "y[i] = 3 * x[i] + w[i];");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // It is read at the end, and lines that it has no room for are dropped.
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  setenv("FACT_PROGRESS_FD", std::to_string(ends[1]).c_str(), 1);
  Outcome outcome = bundle.tune({"--no-link", "--candidates", "4"});
  unsetenv("FACT_PROGRESS_FD");
  close(ends[1]);
  ASSERT_TRUE(outcome.succeeded()) << bundle.log;
  std::string lines;
  char part[4096];
  for (ssize_t count; (count = read(ends[0], part, sizeof(part))) > 0;)
    lines.append(part, static_cast<size_t>(count));
  close(ends[0]);
  // Eight fail, then the fallback is measured, and the other twelve are not.
  EXPECT_NE(lines.find(" 8 of 9 candidates"), std::string::npos) << lines;
  EXPECT_EQ(lines.find(" of 21 candidates"), std::string::npos) << lines;
}

TEST_F(Fallback, IsVerifiedToo) {
  bundle.candidates()[0]["fallback"] = false;
  bundle.addCandidate("last", "y[i] = 3 * x[i] + w[i];");
  bundle.candidates()[0]["source"] = bundle.candidates()[1]["source"];
  bundle.candidates()[0]["symbol"] = bundle.candidates()[1]["symbol"];
  bundle.candidates()[1]["fallback"] = true;
  EXPECT_FALSE(bundle.tune({"--no-link"}).succeeded());
  EXPECT_TRUE(printed("has no candidate left")) << bundle.log;
}

} // namespace
