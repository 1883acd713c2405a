//===- Scan.cuh - Rows and running operations ------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What scans and reductions do with the elements of a row, one after the other.
// Rows lie along the middle of [outer, length, inner].
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCAN_CUH
#define FACT_CUTLASS_SCAN_CUH

#include "Scalars.cuh"
#include "Vector.cuh"
#include <cmath>
#include <limits>

namespace fact {

/// Rows of `Length` elements; neighbors of a row are `Inner` elements apart.
template <int64_t Outer, int64_t Length, int64_t Inner> struct RowsOf {
  static constexpr int64_t outer = Outer, length = Length, inner = Inner;
  static constexpr int64_t count = Outer * Inner;

  /// The first element of a row, where rows have `Size` elements.
  template <int64_t Size = Length> FACT_DEVICE int64_t begin(int64_t row) {
    return row / Inner * (Size * Inner) + row % Inner;
  }
};

//===----------------------------------------------------------------------===//
// Operations. A NaN is the extreme of both kinds.
//===----------------------------------------------------------------------===//

struct RunningSum {
  template <class T> FACT_DEVICE T identity() { return T(0); }
  template <class T> FACT_DEVICE T apply(T a, T b) { return a + b; }
};

struct RunningProduct {
  template <class T> FACT_DEVICE T identity() { return T(1); }
  template <class T> FACT_DEVICE T apply(T a, T b) { return a * b; }
};

struct RunningMaximum {
  template <class T> FACT_DEVICE T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return -T(INFINITY);
    else
      return std::numeric_limits<T>::min();
  }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return nan_maximum(a, b);
    else
      return a > b ? a : b;
  }
  /// Whether `next` is the extreme of both, and not `before`.
  template <class T> FACT_DEVICE bool exceeds(T next, T before) {
    return !(next <= before) && before == before;
  }
};

struct RunningMinimum {
  template <class T> FACT_DEVICE T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return T(INFINITY);
    else
      return std::numeric_limits<T>::max();
  }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return nan_minimum(a, b);
    else
      return a < b ? a : b;
  }
  /// Whether `next` is the extreme of both, and not `before`.
  template <class T> FACT_DEVICE bool exceeds(T next, T before) {
    return !(next >= before) && before == before;
  }
};

/// log(exp(a) + exp(b)), shifted by the larger, so that no exponential
/// overflows. If both are the same infinity, their difference is NaN.
struct RunningLogSumExp {
  template <class T> FACT_DEVICE T identity() { return -T(INFINITY); }
  template <class T> FACT_DEVICE T apply(T a, T b) {
    T larger = RunningMaximum::apply(a, b);
    T distance = RunningMinimum::apply(a, b) - larger;
    return distance != distance ? larger : larger + log1p(exp(distance));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCAN_CUH
