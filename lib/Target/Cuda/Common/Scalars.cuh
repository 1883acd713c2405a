//===- Scalars.cuh - Scalar operations without a CUDA name -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_SCALARS_CUH
#define FACT_CUTLASS_SCALARS_CUH

#include <cmath>

namespace fact {

/// The larger value; NaN wins, as in PyTorch, and +0 is more than -0, whatever
/// their order. (fmaxf loses NaNs.)
static __device__ __forceinline__ float nan_maximum(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

static __device__ __forceinline__ double nan_maximum(double x, double y) {
  return x > y || x != x || (x == y && copysign(1.0, y) < 0) ? x : y;
}

/// The smaller value; NaN wins, and -0 is less than +0.
static __device__ __forceinline__ float nan_minimum(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

static __device__ __forceinline__ double nan_minimum(double x, double y) {
  return x < y || x != x || (x == y && copysign(1.0, x) < 0) ? x : y;
}

} // namespace fact

#endif // FACT_CUTLASS_SCALARS_CUH
