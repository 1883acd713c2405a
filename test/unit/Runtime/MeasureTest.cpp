//===- MeasureTest.cpp ----------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/Measure.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstring>
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
                               ElementType::F32, nullptr, found.size(),
                               tolerance, comparison));
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
  how.values = Fill::Values::Uniform;
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

TEST(Measure, ClassesOfValuesThatAreNotFinite) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {nan, inf, -inf, 1};
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j) {
      Comparison comparison =
          compareFloats({1, values[i], 3}, {1, values[j], 3});
      EXPECT_EQ(comparison.otherClass, i == j ? 0u : 1u) << i << " " << j;
      EXPECT_EQ(comparison.firstBad, i == j ? -1 : 1);
      EXPECT_EQ(comparison.referenceNotFinite, j < 3 ? 1u : 0u);
    }
  // Which NaN it is does not matter.
  float other;
  uint32_t bits = 0xffc12345;
  std::memcpy(&other, &bits, sizeof(other));
  EXPECT_EQ(compareFloats({other}, {nan}).otherClass, 0u);
}

Comparison compareHalf(uint16_t found, float expected, double element) {
  Tolerance tolerance;
  tolerance.element = element;
  Comparison comparison;
  EXPECT_TRUE(measure::compare(&found, ElementType::F16, &expected,
                               ElementType::F32, nullptr, 1, tolerance,
                               comparison));
  return comparison;
}

TEST(Measure, OverflowOfTheResultType) {
  constexpr uint16_t infinity = 0x7c00, negative = 0xfc00, largest = 0x7bff;
  // Infinite beyond half a step above the largest value, and from nowhere else.
  EXPECT_EQ(compareHalf(infinity, 70000, 0).otherClass, 0u);
  EXPECT_EQ(compareHalf(negative, -70000, 0).otherClass, 0u);
  EXPECT_EQ(compareHalf(infinity, -70000, 0).otherClass, 1u);
  EXPECT_EQ(compareHalf(infinity, 65519, 0).otherClass, 1u);
  EXPECT_EQ(compareHalf(infinity, 65519, 1e-3).otherClass, 0u);
  EXPECT_EQ(compareHalf(infinity, 60000, 1e-3).otherClass, 1u);
  EXPECT_EQ(compareHalf(largest, 65520, 1e-3).beyond, 0u);
  EXPECT_EQ(compareHalf(largest, 70000, 1e-3).beyond, 1u);
}

TEST(Measure, UndecidedElementsAreNotCompared) {
  std::vector<uint8_t> found = {1, 0, 1, 0}, expected = {1, 1, 1, 1};
  std::vector<float> doubt = {0, HUGE_VALF, 0, 0};
  Comparison comparison;
  ASSERT_TRUE(measure::compare(found.data(), ElementType::I1, expected.data(),
                               ElementType::I1, doubt.data(), 4, Tolerance(),
                               comparison));
  EXPECT_EQ(comparison.undecided, 1u);
  EXPECT_EQ(comparison.beyond, 1u);
  EXPECT_EQ(comparison.firstBad, 3);
}

/// Where rounding may move an element further than the tolerance, it may be
/// that far off, and no further; where it moves it by less, the tolerance
/// counts.
TEST(Measure, DoubtIsAllowed) {
  const float expected[] = {1, 1, 1, 1};
  Tolerance tolerance;
  tolerance.norm = 1e-3;
  tolerance.element = 4e-3;
  auto compareOne = [&](float found, float doubt) {
    const float all[] = {found, 1, 1, 1}, doubts[] = {doubt, 0, 0, 0};
    Comparison comparison;
    EXPECT_TRUE(measure::compare(all, ElementType::F32, expected,
                                 ElementType::F32, doubts, 4, tolerance,
                                 comparison));
    EXPECT_EQ(comparison.undecided, 0u);
    return comparison;
  };
  EXPECT_EQ(compareOne(1.1f, 0).beyond, 1u);
  EXPECT_EQ(compareOne(1.1f, 0.11f).beyond, 0u);
  EXPECT_EQ(compareOne(1.1f, 0.11f).normError(), 0);
  EXPECT_EQ(compareOne(1.2f, 0.11f).beyond, 1u);
  EXPECT_NEAR(compareOne(1.001f, 0.001f).normError(), 0.0005, 1e-6);
  EXPECT_EQ(compareOne(HUGE_VALF, 0.11f).otherClass, 1u);
}

TEST(Measure, RowsHaveTheirOwnScale) {
  std::vector<float> expected(64, 100.0f);
  for (size_t i = 32; i < 64; ++i)
    expected[i] = i % 2 ? 0.01f : 0;
  std::vector<float> found = expected;
  found[40] = 0.01f;
  Tolerance tolerance;
  tolerance.element = 0.01;
  auto beyond = [&] {
    Comparison comparison;
    EXPECT_TRUE(measure::compare(found.data(), ElementType::F32,
                                 expected.data(), ElementType::F32, nullptr, 64,
                                 tolerance, comparison));
    return comparison.beyond;
  };
  EXPECT_EQ(beyond(), 0u);
  tolerance.row = 32;
  EXPECT_EQ(beyond(), 1u);
  tolerance.leastScale = 1;
  EXPECT_EQ(beyond(), 0u);
}

TEST(Measure, TiesAndBounds) {
  constexpr size_t row = 64, count = 8 * row;
  std::vector<float> data(count);
  Fill how;
  how.values = Fill::Values::Ties;
  how.row = row;
  ASSERT_TRUE(measure::fill(data.data(), ElementType::F32, count, how, 5));
  for (size_t i = 0; i < 8; ++i) {
    auto begin = data.begin() + static_cast<std::ptrdiff_t>(i * row);
    size_t equal = static_cast<size_t>(std::count(begin, begin + row, *begin));
    EXPECT_EQ(equal == row, i % 2 == 0) << i;
    EXPECT_GT(equal, 4u);
  }
  how.values = Fill::Values::Bounds;
  how.low = 0;
  how.high = 7;
  std::vector<int32_t> integers(count);
  ASSERT_TRUE(measure::fill(integers.data(), ElementType::I32, count, how, 5));
  EXPECT_GT(std::count(integers.begin(), integers.end(), 0), 100);
  EXPECT_GT(std::count(integers.begin(), integers.end(), 6), 100);
  EXPECT_EQ(std::count(integers.begin(), integers.end(), 0) +
                std::count(integers.begin(), integers.end(), 6),
            static_cast<std::ptrdiff_t>(count));
}

TEST(Measure, FactorsMultiplyInAnyOrder) {
  // As the bundle writes them for products of 1,000 elements.
  constexpr size_t length = 1000, rows = 1000;
  Fill how;
  how.values = Fill::Values::Factors;
  how.high = 0.92;
  std::vector<float> data(length * rows);
  ASSERT_TRUE(
      measure::fill(data.data(), ElementType::F32, data.size(), how, 5));
  size_t negative = 0;
  for (size_t row = 0; row < rows; ++row) {
    float forward = 1, backward = 1, strided = 1;
    const float *factors = data.data() + row * length;
    for (size_t i = 0; i < length; ++i) {
      forward *= factors[i];
      backward *= factors[length - 1 - i];
      strided *= factors[i * 7 % length];
      negative += factors[i] < 0;
      for (float product : {forward, backward, strided})
        ASSERT_TRUE(std::isnormal(product)) << row << ", " << i;
    }
    EXPECT_NEAR(forward / backward, 1, 1e-3);
    EXPECT_NEAR(forward / strided, 1, 1e-3);
  }
  EXPECT_NEAR(double(negative), 0.5 * length * rows, 0.01 * length * rows);
  how.sign = Fill::Sign::Positive;
  ASSERT_TRUE(measure::fill(data.data(), ElementType::F32, 1000, how, 5));
  EXPECT_GT(*std::min_element(data.begin(), data.begin() + 1000), 0.5);
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
                               ElementType::F32, nullptr, 3, Tolerance(),
                               comparison));
  EXPECT_EQ(comparison.beyond, 1u);
  EXPECT_EQ(comparison.firstBad, 2);
}

TEST(Measure, LargeIntegersAreComparedExactly) {
  std::vector<int64_t> expected = {(1ll << 60) + 1}, found = {1ll << 60};
  Comparison comparison;
  ASSERT_TRUE(measure::compare(found.data(), ElementType::I64, expected.data(),
                               ElementType::I64, nullptr, 1, Tolerance(),
                               comparison));
  EXPECT_EQ(comparison.beyond, 1u);
}

TEST(Measure, ChecksumSeesSwappedElements) {
  auto checksum = [](std::vector<float> data) {
    uint64_t sum = 0;
    EXPECT_TRUE(measure::addChecksum(data.data(), ElementType::F32, data.size(),
                                     Columns(), &sum, nullptr));
    return sum;
  };
  EXPECT_NE(checksum({1, 2, 3}), checksum({2, 1, 3}));
  EXPECT_NE(checksum({0.0f}), checksum({-0.0f}));
  // Any NaN is as good as any other.
  EXPECT_EQ(checksum({1, std::nanf("1")}), checksum({1, -std::nanf("2")}));
}

/// Rows of two elements and a spare one.
TEST(Measure, SpareElementsAreNotCompared) {
  const float nan = std::nanf("1");
  std::vector<float> expected = {1, 2, nan, 3, 4, nan};
  auto compare = [&](std::vector<float> found, Columns spare) {
    Tolerance tolerance;
    tolerance.spare = spare;
    Comparison comparison;
    EXPECT_TRUE(measure::compare(found.data(), ElementType::F32,
                                 expected.data(), ElementType::F32, nullptr, 6,
                                 tolerance, comparison));
    EXPECT_EQ(comparison.referenceNotFinite, 2u);
    return comparison.otherClass + comparison.beyond;
  };
  auto checksum = [](std::vector<float> data) {
    uint64_t sum = 0;
    EXPECT_TRUE(measure::addChecksum(data.data(), ElementType::F32, data.size(),
                                     Columns{2, 3, 3}, &sum, nullptr));
    return sum;
  };
  std::vector<float> written = {1, 2, 0, 3, 4, 0}, wrong = {1, 2, 0, 3, 5, 0};
  EXPECT_EQ(compare(written, {}), 2u);
  EXPECT_EQ(compare(written, {2, 3, 3}), 0u);
  EXPECT_EQ(compare(wrong, {2, 3, 3}), 1u);
  EXPECT_EQ(checksum(written), checksum(expected));
  EXPECT_NE(checksum(written), checksum(wrong));
}

} // namespace
