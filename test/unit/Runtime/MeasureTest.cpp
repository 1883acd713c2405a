//===- MeasureTest.cpp ----------------------------------------------------===//

#include "fact/Runtime/Measure.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace fact::runtime;

namespace {

Comparison compareFloats(const std::vector<float> &found,
                         const std::vector<float> &expected,
                         double element = 1e-3) {
  Tolerance tolerance;
  tolerance.element = element;
  Comparison comparison;
  EXPECT_TRUE(measure::compare(found.data(), ElementType::F32, expected.data(),
                               ElementType::F32, found.size(), tolerance,
                               comparison));
  return comparison;
}

TEST(Measure, NormalFillHasItsScale) {
  constexpr size_t count = 1 << 18;
  std::vector<float> data(count);
  Fill how;
  how.scale = 0.5;
  ASSERT_TRUE(measure::fill(data.data(), ElementType::F32, count, how, 7));
  double sum = 0, squares = 0;
  for (float value : data) {
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += double(value) * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.01);
  std::vector<float> other(count);
  ASSERT_TRUE(measure::fill(other.data(), ElementType::F32, count, how, 8));
  EXPECT_NE(data, other);
}

TEST(Measure, UniformIntegersStayInRangeAndBooleansAreFair) {
  constexpr size_t count = 10000;
  std::vector<int64_t> indices(count);
  Fill how;
  how.uniform = true;
  how.low = -2;
  how.high = 3;
  ASSERT_TRUE(measure::fill(indices.data(), ElementType::I64, count, how, 1));
  std::vector<int> seen(5);
  for (int64_t index : indices) {
    ASSERT_GE(index, -2);
    ASSERT_LT(index, 3);
    ++seen[index + 2];
  }
  for (int times : seen)
    EXPECT_GT(times, 1500);
  std::vector<uint8_t> coins(count);
  ASSERT_TRUE(measure::fill(coins.data(), ElementType::I1, count, Fill(), 1));
  size_t heads = 0;
  for (uint8_t coin : coins) {
    ASSERT_LE(coin, 1);
    heads += coin;
  }
  EXPECT_NEAR(double(heads) / count, 0.5, 0.03);
}

TEST(Measure, FindsOneWrongElement) {
  std::vector<float> expected(100000, 1.0f), found = expected;
  EXPECT_EQ(compareFloats(found, expected).beyond, 0u);
  found[77777] = 1.5f;
  Comparison comparison = compareFloats(found, expected);
  EXPECT_EQ(comparison.beyond, 1u);
  EXPECT_EQ(comparison.firstBad, 77777);
  EXPECT_NEAR(comparison.worstElement, 0.25, 1e-12);
  EXPECT_NEAR(comparison.normError(), 0.5 / std::sqrt(100000.0), 1e-9);
}

TEST(Measure, NanWhereTheReferenceIsFinite) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  Comparison comparison = compareFloats({1, nan, 3}, {1, 2, 3});
  EXPECT_EQ(comparison.notFinite, 1u);
  EXPECT_EQ(comparison.firstBad, 1);
  comparison = compareFloats({1, 2, 3}, {1, nan, 3});
  EXPECT_EQ(comparison.notFinite, 0u);
  EXPECT_EQ(comparison.referenceNotFinite, 1u);
}

TEST(Measure, OverflowOfTheResultTypeIsNoError) {
  std::vector<uint16_t> found = {0x7c00, 0xfc00, 0x7c00};
  std::vector<float> expected = {70000.0f, -70000.0f, -70000.0f};
  Comparison comparison;
  ASSERT_TRUE(measure::compare(found.data(), ElementType::F16, expected.data(),
                               ElementType::F32, 3, Tolerance(), comparison));
  EXPECT_EQ(comparison.notFinite, 1u);
  EXPECT_EQ(comparison.firstBad, 2);
}

TEST(Measure, ZeroReferenceAllowsOnlyZero) {
  EXPECT_EQ(compareFloats({0, 0}, {0, 0}).beyond, 0u);
  EXPECT_EQ(compareFloats({0, 1e-30f}, {0, 0}).beyond, 1u);
}

TEST(Measure, HalfAStepNearZeroIsNoError) {
  // Half of the smallest number of f16 rounds to 0, or to that number.
  std::vector<uint16_t> found = {0, 1, 2};
  std::vector<float> expected = {0x1p-25f, 0x1p-25f, 0x1p-25f};
  Comparison comparison;
  ASSERT_TRUE(measure::compare(found.data(), ElementType::F16, expected.data(),
                               ElementType::F32, 3, Tolerance(), comparison));
  EXPECT_EQ(comparison.beyond, 1u);
  EXPECT_EQ(comparison.firstBad, 2);
}

TEST(Measure, LargeIntegersAreComparedExactly) {
  std::vector<int64_t> expected = {(1ll << 60) + 1}, found = {1ll << 60};
  Comparison comparison;
  ASSERT_TRUE(measure::compare(found.data(), ElementType::I64, expected.data(),
                               ElementType::I64, 1, Tolerance(), comparison));
  EXPECT_EQ(comparison.beyond, 1u);
}

TEST(Measure, ChecksumSeesSwappedBytes) {
  unsigned char first[] = {1, 2, 3}, second[] = {2, 1, 3};
  uint64_t a = 0, b = 0;
  ASSERT_TRUE(measure::checksum(first, 3, a));
  ASSERT_TRUE(measure::checksum(second, 3, b));
  EXPECT_NE(a, b);
}

} // namespace
