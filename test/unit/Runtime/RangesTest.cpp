//===- RangesTest.cpp -----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Ranges.h"
#include "gtest/gtest.h"
#include <random>

using namespace fact::runtime;

namespace {

TEST(Ranges, AgreesWithAllPairs) {
  const char memory[64] = {};
  std::mt19937 random(1);
  auto draw = [&] {
    uint64_t begin = random() % 60;
    return Range(memory + begin, random() % (random() % 4 ? 4 : 64 - begin));
  };
  int found = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<Range> all;
    for (unsigned count = random() % 8; all.size() < count;)
      all.push_back(draw());
    Range range = draw();
    bool expected = std::any_of(all.begin(), all.end(), [&](const Range &each) {
      return each.overlaps(range);
    });
    found += expected;
    ASSERT_EQ(Ranges(all).overlap(range), expected) << trial;
  }
  EXPECT_GT(found, 1000);
  EXPECT_LT(found, 19000);
}

} // namespace
