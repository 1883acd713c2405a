//===- ElementType.h - Element types and their conversions ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of ElementTypes.def, and conversions of the narrow ones by integer
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

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

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
    return static_cast<uint16_t>(sign |
                                 (detail::bitsOf(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

/// Elements that no C++ type of every compiler holds, by their bits.
struct Float16 {
  uint16_t bits;
  FACT_HOST_DEVICE explicit Float16(double value)
      : bits(floatToFloat16(static_cast<float>(value))) {}
  FACT_HOST_DEVICE explicit operator double() const {
    return float16ToFloat(bits);
  }
};

struct Bfloat16 {
  uint16_t bits;
  FACT_HOST_DEVICE explicit Bfloat16(double value)
      : bits(floatToBfloat16(static_cast<float>(value))) {}
  FACT_HOST_DEVICE explicit operator double() const {
    return bfloat16ToFloat(bits);
  }
};

/// A byte: memory may hold others than 0 and 1, which a `bool` may not.
struct Boolean {
  uint8_t bits;
  FACT_HOST_DEVICE explicit Boolean(double value) : bits(value != 0) {}
  FACT_HOST_DEVICE explicit operator double() const { return bits; }
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

enum class ElementType : uint8_t {
#define FACT_ELEMENT_TYPE(Type, ...) Type,
#include "fact/Runtime/ElementTypes.def"
};

enum class ElementKind : uint8_t { Float, Integer, Boolean };

FACT_HOST_DEVICE inline constexpr uint32_t bytesOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, ...)                            \
  case ElementType::Type:                                                      \
    return sizeof(Storage);
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

FACT_HOST_DEVICE inline constexpr ElementKind kindOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, ...)             \
  case ElementType::Type:                                                      \
    return ElementKind::Kind;
#include "fact/Runtime/ElementTypes.def"
  }
  return ElementKind::Integer;
}

FACT_HOST_DEVICE inline constexpr bool isFloat(ElementType type) {
  return kindOf(type) == ElementKind::Float;
}
FACT_HOST_DEVICE inline constexpr bool isInteger(ElementType type) {
  return kindOf(type) == ElementKind::Integer;
}
FACT_HOST_DEVICE inline constexpr bool isBoolean(ElementType type) {
  return kindOf(type) == ElementKind::Boolean;
}

/// The type of the arithmetic on elements of `type`.
FACT_HOST_DEVICE inline constexpr ElementType computeTypeOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, ...)                   \
  case ElementType::Type:                                                      \
    return ElementType::Compute;
#include "fact/Runtime/ElementTypes.def"
  }
  return type;
}

/// Whether the type is only one of memory: floats are computed in a wider one.
FACT_HOST_DEVICE inline constexpr bool isNarrowFloat(ElementType type) {
  return isFloat(type) && computeTypeOf(type) != type;
}

/// The type of a reference's results: wide enough to see the rounding of a
/// candidate's.
FACT_HOST_DEVICE inline constexpr ElementType
referenceTypeOf(ElementType type) {
  if (!isFloat(type))
    return type;
  return isNarrowFloat(type) ? ElementType::F32 : ElementType::F64;
}

/// Bits of a float's significand, the hidden one included; value bits of other
/// types.
FACT_HOST_DEVICE inline constexpr uint32_t digitsOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, ...)     \
  case ElementType::Type:                                                      \
    return Digits;
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

/// The largest relative error of one rounding to a float type.
FACT_HOST_DEVICE inline constexpr double roundingOf(ElementType type) {
  return 1.0 / static_cast<double>(1ull << digitsOf(type));
}

/// The largest finite value of a float type.
FACT_HOST_DEVICE inline constexpr double largestFinite(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          ...)                                                 \
  case ElementType::Type:                                                      \
    return Largest;
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

/// The least number that rounds to infinity: half a unit in the last place
/// above the largest finite value. A double has no such number for f64.
FACT_HOST_DEVICE inline constexpr double overflowThreshold(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, ...)                                       \
  case ElementType::Type:                                                      \
    return Overflow;
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

/// The smallest positive value of a float type: near 0, values are this far
/// apart.
FACT_HOST_DEVICE inline constexpr double smallestPositive(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, Compute, Kind, Digits, Largest, \
                          Overflow, Smallest, ...)                             \
  case ElementType::Type:                                                      \
    return Smallest;
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

inline constexpr const char *nameOf(ElementType type) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, ...)                                     \
  case ElementType::Type:                                                      \
    return Name;
#include "fact/Runtime/ElementTypes.def"
  }
  return "?";
}

/// All names, for diagnostics: "f64, f32, ...".
inline constexpr const char *elementTypeNames() {
  constexpr const char *names =
#define FACT_ELEMENT_TYPE(Type, Name, ...) ", " Name
#include "fact/Runtime/ElementTypes.def"
      ;
  return names + 2;
}

/// False when no type has the name.
inline bool parseElementType(const char *name, ElementType &type) {
#define FACT_ELEMENT_TYPE(Type, Name, ...)                                     \
  if (std::strcmp(name, Name) == 0) {                                          \
    type = ElementType::Type;                                                  \
    return true;                                                               \
  }
#include "fact/Runtime/ElementTypes.def"
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

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

/// Element `index` of `data` as a double.
FACT_HOST_DEVICE inline double loadElement(const void *data, ElementType type,
                                           uint64_t index) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, ...)                            \
  case ElementType::Type:                                                      \
    return static_cast<double>(static_cast<const Storage *>(data)[index]);
#include "fact/Runtime/ElementTypes.def"
  }
  return 0;
}

FACT_HOST_DEVICE inline void storeElement(void *data, ElementType type,
                                          uint64_t index, double value) {
  switch (type) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, ...)                            \
  case ElementType::Type:                                                      \
    static_cast<Storage *>(data)[index] = static_cast<Storage>(value);         \
    break;
#include "fact/Runtime/ElementTypes.def"
  }
}

/// The bits of element `index`.
FACT_HOST_DEVICE inline uint64_t elementBits(const void *data, ElementType type,
                                             uint64_t index) {
  uint64_t bits = 0;
  uint32_t bytes = bytesOf(type);
  memcpy(&bits, static_cast<const char *>(data) + index * bytes, bytes);
  return bits;
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_ELEMENTTYPE_H
