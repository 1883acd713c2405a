//===- Math.cuh - Scalar functions for generated functors ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kinds. Exact functions are CUDA's own (expf, tanhf, erff, ...) and are
// used as they are. The fast ones below are for 16-bit results: their error is
// well below the result's rounding, and they cost a few instructions, which is
// what decides whether an epilogue hides behind the products.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_MATH_CUH
#define FACT_CUTLASS_MATH_CUH

#include "Kernel.cuh"

namespace fact {

/// 2^x; relative error 2^-22. One instruction (denormal results become 0).
FACT_DEVICE float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// e^x. The argument's rounding adds |x| * 2^-24 to the relative error.
FACT_DEVICE float fast_exp(float x) {
  return fast_exp2(x * 1.4426950408889634f);
}

/// log2(x); absolute error 2^-22 near 1.
FACT_DEVICE float fast_log2(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

FACT_DEVICE float fast_log(float x) {
  return fast_log2(x) * 0.6931471805599453f;
}

/// log(1 + x); relative error 2^-15. Both the sum and the machine's logarithm
/// near 1 have an absolute error, so small x use the series.
FACT_DEVICE float fast_log1p(float x) {
  float series = fmaf(x * x, -0.5f, x);
  return fabsf(x) < 0x1p-7f ? series : fast_log(1.0f + x);
}

/// x^y; relative error 2^-16, that of y log2(x) < 2^7 in f32. The sign is that
/// of x for odd y; finite negative x have no powers of fractions.
FACT_DEVICE float fast_pow(float x, float y) {
  float size = fabsf(x);
  float power = fast_exp2(y * log2f(size));
  // Also where the other is infinite or NaN.
  power = y == 0.0f || size == 1.0f ? 1.0f : power;
  bool is_whole = floorf(y) == y;
  bool is_odd = is_whole && floorf(0.5f * y) != 0.5f * y;
  power = is_odd ? copysignf(power, x) : power;
  return x < 0.0f && size < INFINITY && !is_whole ? NAN : power;
}

/// tanh(x); relative error 2^-11. One instruction.
FACT_DEVICE float tanh_approx(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / x; error 1 ulp. 0 for |x| > 2^126.
FACT_DEVICE float fast_reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// x / y; error 2 ulp. 0 for 2^126 < |y| < 2^128.
FACT_DEVICE float fast_divide(float x, float y) { return __fdividef(x, y); }

/// 1 / sqrt(x); relative error 2^-22.
FACT_DEVICE float fast_rsqrt(float x) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// sqrt(x); relative error 2^-23. Denormals are exact enough, too.
FACT_DEVICE float fast_sqrt(float x) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / (1 + e^-x), by tanh: absolute error 2^-12.
FACT_DEVICE float fast_sigmoid(float x) {
  return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f);
}

/// x / (1 + e^-x).
FACT_DEVICE float fast_silu(float x) {
  float half = 0.5f * x;
  return fmaf(half, tanh_approx(half), half);
}

/// erf(x); absolute error 5e-7 (Abramowitz and Stegun 7.1.26 has 1.5e-7 before
/// the approximate instructions).
FACT_DEVICE float fast_erf(float x) {
  float a = fabsf(x);
  float t = fast_reciprocal(fmaf(0.3275911f, a, 1.0f));
  float p = fmaf(1.061405429f, t, -1.453152027f);
  p = fmaf(p, t, 1.421413741f);
  p = fmaf(p, t, -0.284496736f);
  p = fmaf(p, t, 0.254829592f);
  float tail = p * t * fast_exp2(a * a * -1.4426950408889634f);
  return copysignf(1.0f - tail, x);
}

/// What is left of x when matrix units have truncated it to TF32, rounded to
/// nearest. It has the sign of x, and is not 0 where x is not: infinities of
/// the other operand keep their sign, and do not become NaN.
FACT_DEVICE float small_part(float x) {
  constexpr uint32_t dropped = 0x1fff;
  float big = __uint_as_float(__float_as_uint(x) & ~dropped);
  float rest = fmaf(big, 0x1p-30f, x - big);
  // Matrix units truncate this one too.
  rest = __uint_as_float(__float_as_uint(rest) + (dropped + 1) / 2);
  bool finite = fabsf(x) <= 3.402823466e+38f;
  return finite ? rest : copysignf(1.0f, x);
}

} // namespace fact

#endif // FACT_CUTLASS_MATH_CUH
