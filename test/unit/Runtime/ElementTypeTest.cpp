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

const ElementType allTypes[] = {
#define FACT_ELEMENT_TYPE(Type, ...) ElementType::Type,
#include "fact/Runtime/ElementTypes.def"
};

TEST(ElementType, NamesAreThoseOfTheBundle) {
  ElementType type;
  for (const char *name :
       {"f64", "f32", "f16", "bf16", "i64", "i32", "i8", "i1"}) {
    ASSERT_TRUE(parseElementType(name, type));
    EXPECT_STREQ(nameOf(type), name);
  }
  EXPECT_FALSE(parseElementType("float", type));
  EXPECT_STREQ(elementTypeNames(), "f64, f32, f16, bf16, i64, i32, i8, i1");
}

TEST(ElementType, LimitsAreThoseOfTheStorage) {
  for (ElementType type : allTypes) {
    if (!isFloat(type))
      continue;
    SCOPED_TRACE(nameOf(type));
    auto stored = [type](double value) {
      uint64_t element = 0;
      storeElement(&element, type, 0, value);
      return loadElement(&element, type, 0);
    };
    double largest = largestFinite(type), overflow = overflowThreshold(type);
    EXPECT_EQ(stored(largest), largest);
    EXPECT_EQ(stored(smallestPositive(type)), smallestPositive(type));
    // Neighbors of 1 are two roundings apart, and a rounding is a tie.
    double rounding = roundingOf(type);
    EXPECT_EQ(stored(1 + 2 * rounding), 1 + 2 * rounding);
    EXPECT_EQ(stored(1 + rounding), 1);
    if (type == ElementType::F64)
      continue;
    EXPECT_TRUE(isInfinite(stored(overflow)));
    EXPECT_EQ(stored(overflow * (1 - rounding / 4)), largest);
    EXPECT_EQ(stored(smallestPositive(type) * 0.4375), 0);
  }
}

TEST(ElementType, NarrowFloatsComputeInF32) {
  for (ElementType type : allTypes) {
    SCOPED_TRACE(nameOf(type));
    EXPECT_EQ(isFloat(type) + isInteger(type) + isBoolean(type), 1);
    EXPECT_EQ(computeTypeOf(computeTypeOf(type)), computeTypeOf(type));
    EXPECT_EQ(isNarrowFloat(type), isFloat(type) && bytesOf(type) < 4);
    if (isNarrowFloat(type)) {
      EXPECT_EQ(computeTypeOf(type), ElementType::F32);
      EXPECT_EQ(referenceTypeOf(type), ElementType::F32);
    } else {
      EXPECT_EQ(computeTypeOf(type), type);
      EXPECT_EQ(referenceTypeOf(type), isFloat(type) ? ElementType::F64 : type);
    }
  }
}

TEST(ElementType, BytesOtherThan0And1AreNoBooleans) {
  uint8_t bytes[] = {0, 1, 2};
  EXPECT_EQ(loadElement(bytes, ElementType::I1, 2), 2);
  storeElement(bytes, ElementType::I1, 2, 0.5);
  EXPECT_EQ(bytes[2], 1);
}

} // namespace
