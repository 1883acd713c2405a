//===- extremes.cu - Checks maxima and minima of two numbers ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of two numbers does not matter, of zeros the sign decides, and a
// NaN is the extreme of both kinds.
//
//===----------------------------------------------------------------------===//

#include "fact/cutlass/Scan.cuh"
#include <cstdio>

namespace {
template <class T> struct Extremes {
  T maximum, minimum;
};
} // namespace

template <class T> __global__ void find(T a, T b, Extremes<T> *found) {
  *found = {fact::RunningMaximum::apply(a, b),
            fact::RunningMinimum::apply(a, b)};
}

template <class T> static bool is_same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) ||
         (a == b && std::signbit(a) == std::signbit(b));
}

/// `small` before `large`, in both orders.
template <class T>
static bool is_right(T small, T large, T minimum, T maximum) {
  Extremes<T> *found;
  cudaMalloc(reinterpret_cast<void **>(&found), sizeof(Extremes<T>));
  bool right = true;
  for (bool swaps : {false, true}) {
    find<<<1, 1>>>(swaps ? large : small, swaps ? small : large, found);
    right &= is_same(found->minimum, minimum) && //
             is_same(found->maximum, maximum);
  }
  cudaFree(found);
  return right;
}

template <class T> static bool are_right() {
  T nan = T(NAN), infinity = T(INFINITY);
  return is_right<T>(T(-2), T(3), T(-2), T(3)) &
         is_right<T>(T(5), T(5), T(5), T(5)) &
         is_right<T>(-T(0), T(0), -T(0), T(0)) &
         is_right<T>(-T(0), -T(0), -T(0), -T(0)) &
         is_right<T>(-infinity, T(0), -infinity, T(0)) &
         is_right<T>(nan, infinity, nan, nan) &
         is_right<T>(nan, -T(0), nan, nan);
}

int main() {
  bool single = are_right<float>(), twice = are_right<double>();
  std::printf("f32 %s, f64 %s\n", single ? "right" : "wrong",
              twice ? "right" : "wrong");
}
