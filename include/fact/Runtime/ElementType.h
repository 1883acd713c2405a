//===- ElementType.h - Element types and their conversions ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types a bundle names, and conversions of the 16-bit ones by integer
// arithmetic, so that the same code runs on the host and on a device without
// any library.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_ELEMENTTYPE_H
#define FACT_RUNTIME_ELEMENTTYPE_H

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define FACT_HOST_DEVICE __host__ __device__
#else
#define FACT_HOST_DEVICE
#endif

namespace fact {
namespace runtime {

enum class ElementType : uint8_t { F64, F32, F16, BF16, I64, I32, I8, I1 };

FACT_HOST_DEVICE inline constexpr uint32_t bytesOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I8:
  case ElementType::I1:
    return 1;
  }
  return 0;
}

FACT_HOST_DEVICE inline constexpr bool isFloat(ElementType type) {
  return type == ElementType::F64 || type == ElementType::F32 ||
         type == ElementType::F16 || type == ElementType::BF16;
}

inline constexpr const char *nameOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "f64";
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::I64:
    return "i64";
  case ElementType::I32:
    return "i32";
  case ElementType::I8:
    return "i8";
  case ElementType::I1:
    return "i1";
  }
  return "?";
}

/// False when `name` is none of the bundle's types.
inline bool parseElementType(const char *name, ElementType &type) {
  for (int i = 0; i <= static_cast<int>(ElementType::I1); ++i) {
    type = static_cast<ElementType>(i);
    if (std::strcmp(name, nameOf(type)) == 0)
      return true;
  }
  return false;
}

/// The largest finite value.
FACT_HOST_DEVICE inline double largestFinite(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 65504.0;
  case ElementType::BF16:
    return 3.3895313892515355e38;
  case ElementType::F32:
    return 3.4028234663852886e38;
  default:
    return 1.7976931348623157e308;
  }
}

/// What rounds to infinity: half a unit in the last place above the largest
/// finite value.
FACT_HOST_DEVICE inline double overflowThreshold(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 65520.0;
  case ElementType::BF16:
    return 3.3961775292304601e38;
  case ElementType::F32:
    return 3.4028235677973366e38;
  default:
    return 1.7976931348623157e308;
  }
}

/// The smallest positive value: near 0, values are this far apart.
FACT_HOST_DEVICE inline double smallestPositive(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 5.9604644775390625e-8;
  case ElementType::BF16:
    return 9.1835496157991212e-41;
  case ElementType::F32:
    return 1.4012984643248171e-45;
  default:
    return 4.9406564584124654e-324;
  }
}

/// By its bits, so that it also holds under -ffast-math.
FACT_HOST_DEVICE inline bool isFinite(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}

FACT_HOST_DEVICE inline bool isInfinite(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (bits & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}

FACT_HOST_DEVICE inline bool isNan(double value) {
  return !isFinite(value) && !isInfinite(value);
}

namespace detail {
FACT_HOST_DEVICE inline uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
FACT_HOST_DEVICE inline float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
} // namespace detail

FACT_HOST_DEVICE inline float bfloat16ToFloat(uint16_t bits) {
  return detail::floatOf(static_cast<uint32_t>(bits) << 16);
}

FACT_HOST_DEVICE inline uint16_t floatToBfloat16(float value) {
  uint32_t bits = detail::bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

FACT_HOST_DEVICE inline float float16ToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu)
    return detail::floatOf(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return detail::floatOf(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  // Subnormal: an integer times 2^-24, exact in f32.
  float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
  return sign ? -magnitude : magnitude;
}

FACT_HOST_DEVICE inline uint16_t floatToFloat16(float value) {
  uint32_t bits = detail::bitsOf(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) // 65536 and up; rounding handles the rest.
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Subnormal result: adding 0.5 aligns the last bit with 2^-24, and the
    // hardware rounds to nearest even.
    float shifted = detail::floatOf(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (detail::bitsOf(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

/// Element `index` of `data` as a double.
FACT_HOST_DEVICE inline double loadElement(const void *data, ElementType type,
                                           uint64_t index) {
  switch (type) {
  case ElementType::F64:
    return static_cast<const double *>(data)[index];
  case ElementType::F32:
    return static_cast<const float *>(data)[index];
  case ElementType::F16:
    return float16ToFloat(static_cast<const uint16_t *>(data)[index]);
  case ElementType::BF16:
    return bfloat16ToFloat(static_cast<const uint16_t *>(data)[index]);
  case ElementType::I64:
    return static_cast<double>(static_cast<const int64_t *>(data)[index]);
  case ElementType::I32:
    return static_cast<const int32_t *>(data)[index];
  case ElementType::I8:
    return static_cast<const int8_t *>(data)[index];
  case ElementType::I1:
    return static_cast<const uint8_t *>(data)[index];
  }
  return 0;
}

FACT_HOST_DEVICE inline void storeElement(void *data, ElementType type,
                                          uint64_t index, double value) {
  switch (type) {
  case ElementType::F64:
    static_cast<double *>(data)[index] = value;
    break;
  case ElementType::F32:
    static_cast<float *>(data)[index] = static_cast<float>(value);
    break;
  case ElementType::F16:
    static_cast<uint16_t *>(data)[index] =
        floatToFloat16(static_cast<float>(value));
    break;
  case ElementType::BF16:
    static_cast<uint16_t *>(data)[index] =
        floatToBfloat16(static_cast<float>(value));
    break;
  case ElementType::I64:
    static_cast<int64_t *>(data)[index] = static_cast<int64_t>(value);
    break;
  case ElementType::I32:
    static_cast<int32_t *>(data)[index] = static_cast<int32_t>(value);
    break;
  case ElementType::I8:
    static_cast<int8_t *>(data)[index] = static_cast<int8_t>(value);
    break;
  case ElementType::I1:
    static_cast<uint8_t *>(data)[index] = value != 0;
    break;
  }
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_ELEMENTTYPE_H
