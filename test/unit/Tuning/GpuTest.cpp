//===- GpuTest.cpp - Which GPUs a bundle is for ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Gpu.h"
#include "gtest/gtest.h"

using namespace fact::tuning;

namespace {

TEST(Gpu, ArchitectureWithALetterIsExact) {
  EXPECT_TRUE(runsOn("sm_90a", {9, 0}));
  EXPECT_FALSE(runsOn("sm_90a", {8, 0}));
  EXPECT_FALSE(runsOn("sm_90a", {10, 0}));
  EXPECT_TRUE(runsOn("sm_100a", {10, 0}));
  EXPECT_FALSE(runsOn("sm_100a", {10, 3}));
}

TEST(Gpu, ArchitectureWithoutALetterRunsOnLaterOnesOfItsGeneration) {
  EXPECT_TRUE(runsOn("sm_80", {8, 0}));
  EXPECT_TRUE(runsOn("sm_80", {8, 9}));
  EXPECT_FALSE(runsOn("sm_89", {8, 6}));
  EXPECT_FALSE(runsOn("sm_80", {9, 0}));
  EXPECT_TRUE(runsOn("sm_120", {12, 0}));
}

} // namespace
