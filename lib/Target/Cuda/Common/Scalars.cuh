//===- Scalars.cuh - Scalar operations without a CUDA name -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_SCALARS_CUH
#define FACT_CUTLASS_SCALARS_CUH

#include <cmath>
#include <cstdint>

namespace fact {

/// The larger value; NaN wins, as in PyTorch, and +0 is more than -0, whatever
/// their order. (fmaxf loses NaNs.)
static __device__ __forceinline__ float nan_maximum(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

/// The same for values that many elements share: the compiler computes this
/// once, and repeats an instruction that it does not know.
template <class Value>
static __device__ __forceinline__ Value shared_maximum(Value x, Value y) {
  return x > y || x != x || (x == y && copysign(Value(1), y) < 0) ? x : y;
}

static __device__ __forceinline__ double nan_maximum(double x, double y) {
  return shared_maximum(x, y);
}

/// The smaller value; NaN wins, and -0 is less than +0.
static __device__ __forceinline__ float nan_minimum(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

template <class Value>
static __device__ __forceinline__ Value shared_minimum(Value x, Value y) {
  return x < y || x != x || (x == y && copysign(Value(1), x) < 0) ? x : y;
}

static __device__ __forceinline__ double nan_minimum(double x, double y) {
  return shared_minimum(x, y);
}

/// The nearest bf16, which is the upper half of a float.
static __device__ __forceinline__ float round_to_bf16(float x) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(x), "f"(0.0f));
  return __uint_as_float(word);
}

/// Whether 1 / x < 0: x is negative and finite, -0 included.
static __device__ __forceinline__ bool has_negative_inverse(float x) {
  return __float_as_uint(x) - 0x80000000u < 0x7f800000u;
}

/// x / y, rounded correctly, where many x are divided by one y: its inverse is
/// computed once, and corrected by what a quotient leaves. Where nothing is
/// left, the quotient is exact; where that is not finite, neither is the
/// quotient. |x| below 2^-100 leaves less than it should, and quotients below
/// 2^-126 round twice: then the error is 1.5 ulp.
static __device__ __forceinline__ float divide_by_shared(float x, float y) {
  // Neither the divisor nor its inverse may be subnormal.
  float const scale = fabsf(y) < 0x1p-100f  ? 0x1p64f
                      : fabsf(y) > 0x1p126f ? 0x1p-24f
                                            : 1.0f;
  float const divisor = y * scale;
  float const inverse = __frcp_rn(divisor);
  float result = x * inverse;
  float const left = fmaf(result, divisor, -x);
  if (fabsf(left) > 0.0f && fabsf(left) < INFINITY)
    result = fmaf(-left, inverse, result);
  return result * scale;
}

/// The sine and the cosine of an angle. They share all but a few instructions
/// where both are needed, which CUDA's own do not: those search for the period
/// of a large angle between their first and their last instruction.
struct Sines {
  static constexpr float largest = 105615.0f;
  float sine, cosine;

  /// For |x| <= largest: x = n pi/2 + r, where pi/2 is the sum of three
  /// numbers, and polynomials in r; the error is below 2 ulp, as CUDA's.
  __device__ __forceinline__ explicit Sines(float x) {
    constexpr float shift = 12582912.0f; // 1.5 * 2^23: low bits are n
    float const shifted = fmaf(x, 0.636619772f, shift);
    float const n = shifted - shift;
    float r = fmaf(n, -1.57079601f, x);
    r = fmaf(n, -3.13916473e-7f, r);
    r = fmaf(n, -5.39030253e-15f, r);
    float const square = r * r;
    float odd = fmaf(square, 2.86567956e-6f, -1.98559923e-4f);
    odd = fmaf(odd, square, 8.33338592e-3f);
    odd = fmaf(odd, square, -1.66666672e-1f);
    // Not r + r (...), which is 0 for -0.
    odd = r * fmaf(odd, square, 1.0f);
    float even = fmaf(square, 2.44677067e-5f, -1.38877297e-3f);
    even = fmaf(even, square, 4.16666567e-2f);
    even = fmaf(even, square, -0.5f);
    even = fmaf(even, square, 1.0f);
    uint32_t const quarter = __float_as_uint(shifted);
    bool const swapped = quarter & 1;
    sine = negate_if(swapped ? even : odd, quarter);
    cosine = negate_if(swapped ? odd : even, quarter + 1);
  }

  /// CUDA's own. Not inlined: a call is rare, and has to be short.
  static __device__ __attribute__((noinline)) float sine_of_large(float x) {
    return sinf(x);
  }
  static __device__ __attribute__((noinline)) float cosine_of_large(float x) {
    return cosf(x);
  }

private:
  /// Negates by the second bit of a quarter.
  static __device__ __forceinline__ float negate_if(float x, uint32_t quarter) {
    return __uint_as_float(__float_as_uint(x) ^ (quarter & 2) << 30);
  }
};

static __device__ __forceinline__ float sine(float x) {
  float result = Sines(x).sine;
  if (fabsf(x) > Sines::largest)
    result = Sines::sine_of_large(x);
  return result;
}

static __device__ __forceinline__ float cosine(float x) {
  float result = Sines(x).cosine;
  if (fabsf(x) > Sines::largest)
    result = Sines::cosine_of_large(x);
  return result;
}

} // namespace fact

#endif // FACT_CUTLASS_SCALARS_CUH
