//===- ElementTypeTest.cpp ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/ElementType.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace fact::runtime;

namespace {

TEST(ElementType, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float value = float16ToFloat(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(float16ToFloat(floatToFloat16(value))));
    else
      ASSERT_EQ(floatToFloat16(value), half) << value;
    float wide = bfloat16ToFloat(half);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(bfloat16ToFloat(floatToBfloat16(wide))));
    else
      ASSERT_EQ(floatToBfloat16(wide), half) << wide;
  }
}

#ifdef __FLT16_MAX__
TEST(ElementType, HalfRoundsAsTheCompilerDoes) {
  // A stride that visits every exponent and many mantissas.
  for (uint64_t bits = 0; bits < 0x100000000ull; bits += 10007) {
    float value = detail::floatOf(static_cast<uint32_t>(bits));
    if (std::isnan(value))
      continue;
    _Float16 expected = static_cast<_Float16>(value);
    uint16_t expectedBits;
    std::memcpy(&expectedBits, &expected, sizeof(expectedBits));
    ASSERT_EQ(floatToFloat16(value), expectedBits) << value;
  }
}
#endif

TEST(ElementType, TiesGoToEven) {
  EXPECT_EQ(floatToBfloat16(1.00390625f), 0x3f80); // Between 0x3f80, 0x3f81.
  EXPECT_EQ(floatToBfloat16(1.01171875f), 0x3f82); // Between 0x3f81, 0x3f82.
  EXPECT_EQ(floatToFloat16(65520.0f), 0x7c00);     // Rounds to infinity.
  EXPECT_EQ(floatToFloat16(65519.0f), 0x7bff);
  EXPECT_EQ(floatToFloat16(2.98023223876953125e-8f), 0x0000);
}

TEST(ElementType, NamesAreThoseOfTheBundle) {
  ElementType type;
  for (const char *name :
       {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "i1"}) {
    ASSERT_TRUE(parseElementType(name, type));
    EXPECT_STREQ(nameOf(type), name);
  }
  EXPECT_FALSE(parseElementType("float", type));
}

} // namespace
