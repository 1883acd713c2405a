//===- Elements.h - Elements in memory and as numbers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References are compiled by nvcc for CUDA and by a C++ compiler for the host,
// from the same text. Hundreds of them are compiled in a run of the tests, so
// these headers include next to nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_ELEMENTS_H
#define FACT_REFERENCE_ELEMENTS_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FACT_FUNCTION __host__ __device__ inline
#include <math.h>
#define FACT_MATH(name) ::name
#else
#define FACT_FUNCTION inline
#define FACT_MATH(name) __builtin_##name
#endif

namespace fact {
namespace reference {

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

#define FACT_UNARY_MATH(name)                                                  \
  FACT_FUNCTION double name(double x) { return FACT_MATH(name)(x); }
namespace math {
FACT_UNARY_MATH(ceil)
FACT_UNARY_MATH(cos)
FACT_UNARY_MATH(erfc)
FACT_UNARY_MATH(erf)
FACT_UNARY_MATH(exp)
FACT_UNARY_MATH(expm1)
FACT_UNARY_MATH(fabs)
FACT_UNARY_MATH(floor)
FACT_UNARY_MATH(log)
FACT_UNARY_MATH(log1p)
FACT_UNARY_MATH(rint)
FACT_UNARY_MATH(sin)
FACT_UNARY_MATH(sqrt)
FACT_UNARY_MATH(tanh)
FACT_FUNCTION double fmod(double x, double y) { return FACT_MATH(fmod)(x, y); }
FACT_FUNCTION double pow(double x, double y) { return FACT_MATH(pow)(x, y); }
} // namespace math
#undef FACT_UNARY_MATH

FACT_FUNCTION double infinity() { return __builtin_huge_val(); }
FACT_FUNCTION double not_a_number() { return infinity() - infinity(); }
FACT_FUNCTION bool is_nan(double x) { return x != x; }
FACT_FUNCTION bool is_finite(double x) { return x - x == 0; }
FACT_FUNCTION double larger(double x, double y) { return x > y ? x : y; }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct bf16 {
  uint16_t bits;
};
struct f16 {
  uint16_t bits;
};
using f32 = float;
using f64 = double;
using i64 = int64_t;
using i32 = int32_t;
using i8 = int8_t;
using i1 = bool;

FACT_FUNCTION float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
FACT_FUNCTION double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
FACT_FUNCTION uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The value of an element in memory: floats as doubles, integers and booleans
/// unchanged.
FACT_FUNCTION double number(f64 x) { return x; }
FACT_FUNCTION double number(f32 x) { return x; }
FACT_FUNCTION double number(bf16 x) {
  return float_of(static_cast<uint32_t>(x.bits) << 16);
}
FACT_FUNCTION double number(f16 x) {
  uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  uint32_t rest = x.bits & 0x7fff;
  if (rest >= 0x7c00)
    return float_of(sign | 0x7f800000u | (rest & 0x3ff) << 13);
  // Reads a 5-bit exponent with bias 15 as an 8-bit one with bias 127.
  double magnitude = static_cast<double>(float_of(rest << 13)) * 0x1p112;
  return sign ? -magnitude : magnitude;
}
FACT_FUNCTION i64 number(i64 x) { return x; }
FACT_FUNCTION i32 number(i32 x) { return x; }
FACT_FUNCTION i8 number(i8 x) { return x; }
FACT_FUNCTION i1 number(i1 x) { return x; }

//===----------------------------------------------------------------------===//
// Rounding to narrower types
//===----------------------------------------------------------------------===//

/// Rounds to nearest even with `bits` of significand and exponents from
/// `lowest`; values beyond `largest` become infinite.
FACT_FUNCTION double round_to(double x, int bits, int lowest, double largest) {
  if (!is_finite(x) || x == 0)
    return x;
  int exponent = static_cast<int>(bits_of(x) >> 52 & 0x7ff) - 1023;
  if (exponent < lowest)
    exponent = lowest;
  double unit =
      double_of(static_cast<uint64_t>(exponent - bits + 1 + 1023) << 52);
  double rounded = math::rint(x / unit) * unit;
  if (rounded > largest)
    return infinity();
  return rounded < -largest ? -infinity() : rounded;
}

/// Limits a value to the range of f32, but keeps the precision of a double.
FACT_FUNCTION double in_range_of_f32(double x) {
  double magnitude = math::fabs(x);
  bool normal = magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127;
  return normal || x == 0 ? x : static_cast<double>(static_cast<float>(x));
}

//===----------------------------------------------------------------------===//
// Values with error bounds
//===----------------------------------------------------------------------===//

/// A value, a bound on how far that of a correct candidate may be from it, and
/// whether rounding may have decided it: in a comparison, a truncation, an
/// argmax, or by the side of a pole.
template <class T> struct Tracked {
  T value;
  float error;
  bool undecided;
};

static_assert(sizeof(Tracked<double>) == 16 && sizeof(Tracked<i64>) == 16 &&
                  sizeof(Tracked<i32>) == 12 && sizeof(Tracked<i8>) == 12 &&
                  sizeof(Tracked<i1>) == 12,
              "the emitter lays out workspaces by these sizes");

template <class A, class B> struct IsSame {
  static constexpr bool value = false;
};
template <class A> struct IsSame<A, A> {
  static constexpr bool value = true;
};

/// An element of a value, tracked or not.
template <class T> FACT_FUNCTION T value_of(T x) { return x; }
template <class T> FACT_FUNCTION T value_of(Tracked<T> x) { return x.value; }
template <class T> FACT_FUNCTION double error_of(T) { return 0; }
template <class T> FACT_FUNCTION double error_of(Tracked<T> x) {
  return static_cast<double>(x.error);
}
template <class T> FACT_FUNCTION bool is_undecided(T) { return false; }
template <class T> FACT_FUNCTION bool is_undecided(Tracked<T> x) {
  return x.undecided;
}

/// Makes an element of type E.
template <class E> struct Make {
  FACT_FUNCTION static E of(E value, double = 0, bool = false) { return value; }
};
template <class T> struct Make<Tracked<T>> {
  FACT_FUNCTION static Tracked<T> of(T value, double error = 0,
                                     bool undecided = false) {
    return {value, static_cast<float>(error), undecided};
  }
};

/// A value as a candidate computes it in f32: with the range of f32, and an
/// error of four ulp.
FACT_FUNCTION double in_f32(double x) { return in_range_of_f32(x); }
FACT_FUNCTION Tracked<double> in_f32(Tracked<double> x) {
  double magnitude = math::fabs(x.value);
  double error = is_finite(x.value) ? magnitude * 0x1p-21 : 0;
  // Candidates may flush denormals to 0.
  if (magnitude > 0 && magnitude < 0x1p-100)
    error += 0x1p-126;
  return Make<Tracked<double>>::of(in_range_of_f32(x.value),
                                   error_of(x) + error, x.undecided);
}
/// A sum or product, which candidates round as IEEE has it: exact where f32 can
/// hold it as a normal number.
FACT_FUNCTION double rounded_in_f32(double x) { return in_f32(x); }
FACT_FUNCTION Tracked<double> rounded_in_f32(Tracked<double> x) {
  double magnitude = math::fabs(x.value);
  bool isNormal = magnitude >= 0x1p-100 && magnitude <= 0x1.fffffep127;
  bool isExact = isNormal && x.error == 0 &&
                 x.value == static_cast<double>(static_cast<float>(x.value));
  return isExact ? x : in_f32(x);
}
/// A quotient, too on the host, so that 6 / 3 is not below 2. On a GPU, kernels
/// multiply by reciprocals of constants, as PyTorch does there.
template <class E> FACT_FUNCTION E quotient_in_f32(E x) {
#ifdef __CUDACC__
  return in_f32(x);
#else
  return rounded_in_f32(x);
#endif
}
FACT_FUNCTION double in_f64(double x) { return x; }
FACT_FUNCTION Tracked<double> in_f64(Tracked<double> x) {
  double error = is_finite(x.value) ? math::fabs(x.value) * 0x1p-50 : 0;
  return Make<Tracked<double>>::of(x.value, error_of(x) + error, x.undecided);
}

} // namespace reference
} // namespace fact

#endif // FACT_REFERENCE_ELEMENTS_H
