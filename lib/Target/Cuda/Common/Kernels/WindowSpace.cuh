//===- WindowSpace.cuh - Windows of images, and loads of them --*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How windows lie in images, how a thread walks over them, and loads by the
// strides of a tensor. WindowReduction.cuh says what is computed.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_WINDOWSPACE_CUH
#define FACT_CUTLASS_WINDOWSPACE_CUH

#include "Pointwise.cuh"

namespace fact {

/// `Count` windows along a dimension of `Size` elements, the first of which
/// begins `Low` elements before it.
template <int64_t Count, int64_t Size, int64_t Low, int Kernel, int Stride,
          int Dilation>
struct WindowAxis {
  static constexpr int count = Count, size = Size, low = Low, kernel = Kernel;
  static constexpr int stride = Stride, dilation = Dilation;

  /// The elements that `windows` neighbors with `taps` each extend over.
  static constexpr int span(int windows, int taps) {
    return (windows - 1) * stride + (taps - 1) * dilation + 1;
  }
  /// Whether any of them reads element `place` of that span.
  static constexpr bool reads(int place, int windows, int taps) {
    for (int window = 0; window < windows; ++window) {
      int rest = place - window * stride;
      if (rest >= 0 && rest % dilation == 0 && rest / dilation < taps)
        return true;
    }
    return false;
  }
  /// All of them, as bits.
  static constexpr uint64_t reads(int windows, int taps) {
    uint64_t mask = 0;
    for (int place = 0; place < span(windows, taps) && place < 64; ++place)
      mask |= uint64_t(reads(place, windows, taps)) << place;
    return mask;
  }
  /// Whether tiles of `windows` reach beyond the elements.
  static constexpr bool leaves(int windows) {
    int tiles = (count + windows - 1) / windows;
    return low > 0 || span(tiles * windows, kernel) - low > size;
  }
};

/// `Lanes` is 1 where columns are the neighbors in memory.
template <class Outer_, class Depth_, class Rows_, class Columns_,
          int64_t Lanes>
struct WindowSpace {
  using Outer = Outer_;
  using Depth = Depth_;
  using Rows = Rows_;
  using Columns = Columns_;
  static constexpr int lanes = Lanes;
};

/// The fill of windows that stay inside of the images.
struct NoFill {
  static constexpr int value = 0;
};

/// sweep: all taps of a row at a time, each row of the images once.
/// rows: one row of taps after the other, each with its rows of the images.
/// taps: one tap after the other.
enum class WindowTraversal { sweep, rows, taps };

/// `Vector` are the elements per load: lanes, or columns of the images.
template <int Threads, int Vector, int Columns, int Rows,
          WindowTraversal Traversal>
struct WindowSchedule {
  static constexpr int threads = Threads, vector = Vector;
  static constexpr int columns = Columns, rows = Rows;
  static constexpr WindowTraversal traversal = Traversal;
};

namespace windows {

template <class Strides> struct Dimension;
template <int64_t... Values> struct Dimension<Strides<Values...>> {
  static constexpr __device__ int64_t stride(int dimension) {
    int64_t result = 0;
    int i = 0;
    ((result = i++ == dimension ? Values : result), ...);
    return result;
  }
};
template <class Tensor> constexpr __device__ int64_t stride(int dimension) {
  return Dimension<typename Tensor::Strides>::stride(dimension);
}

/// Whether `Count` neighbors along a dimension are contiguous and aligned.
template <class Tensor, int Rank, int Count>
constexpr __device__ bool moves_in_vectors(int dimension) {
  bool aligned = Count > 1 && Tensor::offset % Count == 0;
  for (int d = 0; d < Rank; ++d)
    aligned &= d == dimension ? stride<Tensor>(d) == 1
                              : stride<Tensor>(d) % Count == 0;
  return aligned;
}

template <int Count, bool IsVector, int64_t Stride, class Element>
FACT_DEVICE void load(Element const *source, Element *values) {
  if constexpr (IsVector) {
    load_elements<Count>(source, values);
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      values[i] = source[i * Stride];
  }
}

} // namespace windows
} // namespace fact

#endif // FACT_CUTLASS_WINDOWSPACE_CUH
