//===- FoldedTest.cpp - A program with folded norms beside another --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"

using namespace fact::tuning;

namespace {

constexpr char quick[] = "float p = 2 * x[i]; y[i] = p + w[i];";
constexpr char slow[] = "float p = 2 * x[i]; y[i] = p + w[i]; "
                        "for (volatile int n = 0; n < 300; n = n + 1) {}";

/// A bundle that has its program with folded norms beside it.
struct Programs {
  Programs(const char *body, const char *foldedBody) {
    apart.addCandidate("apart", body);
    folded.addCandidate("folded", foldedBody);
  }
  Outcome tune() {
    apart.addBeside(folded, "folded");
    return apart.tune();
  }

  TestBundle apart, folded;
};

TEST(Folded, ShipsIfItIsFaster) {
  Programs programs(slow, quick);
  ASSERT_TRUE(programs.tune().succeeded()) << programs.apart.log;
  EXPECT_TRUE(programs.apart.ships("folded")) << programs.apart.log;
  Json race = programs.apart.report()["folded"];
  ASSERT_EQ(race.size(), 2u);
  EXPECT_EQ(race[1]["program"], "folded");
  EXPECT_TRUE(race[1]["ships"]);
  EXPECT_LT(race[1]["us"], race[0]["us"]);
}

TEST(Folded, DoesNotShipIfItIsSlower) {
  Programs programs(quick, slow);
  ASSERT_TRUE(programs.tune().succeeded()) << programs.apart.log;
  EXPECT_TRUE(programs.apart.ships("apart")) << programs.apart.log;
  EXPECT_FALSE(programs.apart.report()["folded"][1]["ships"]);
}

/// Its kernels agree with their references. Only on inputs whose mean is 100
/// deviations from zero do its results differ from those of the other program.
TEST(Folded, IsRefusedIfFarMeansCancel) {
  Programs programs(slow, "float p = 2 * x[i]; p += x[i] > 50 ? x[i] / 64 : 0; "
                          "y[i] = p + w[i];");
  programs.folded.write(
      "kernels/axpy/reference.cpp",
      TestBundle::kernelSource("axpy_reference", "double",
                               "float p = 2 * x[i]; "
                               "p += x[i] > 50 ? x[i] / 64 : 0; "
                               "y[i] = double(p) + w[i];"));
  ASSERT_TRUE(programs.tune().succeeded()) << programs.apart.log;
  EXPECT_TRUE(programs.apart.ships("apart")) << programs.apart.log;
  EXPECT_NE(programs.apart.log.find("the results differ by 0, 0, 0, 0.00"),
            std::string::npos)
      << programs.apart.log;
  EXPECT_FALSE(programs.apart.report().contains("folded"));
}

} // namespace
