//===- Sm80Windows.cuh - Products of windows of images, sm_80 --*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a product whose A has a row for each window and a column for
// each tap and channel:
//
//   A[(place...), (tap..., channel)] =
//       X[place * step + tap * dilation - zeros..., channel]
//
// with zeros outside of X. A is not stored: threads find the elements of its
// tiles in X as they copy them, channels that follow each other in vectors.
// All else is as in any product (Sm80Gemm.cuh).
//
//   // relu(conv2d(x, w, stride=2, padding=1) + bias), 3x3, 72 -> 200 channels
//   using Kernel = Sm80Gemm<
//       Problem<8 * 28 * 28, 200, 3 * 3 * 72>,
//       WindowRows<0, bf16, 72, 1, 0, 0,
//                  WindowDim<8, 56 * 56 * 72, 0, 8, 1, 1, 1>,     // images
//                  WindowDim<56, 56 * 72, 1, 28, 3, 2, 1>,
//                  WindowDim<56, 72, 1, 28, 3, 2, 1>>,
//       Factors<ColumnMajor<1, bf16, 3 * 3 * 72>>,
//       Operands<RowVector<2, bf16>>,
//       Results<Result<Epilogue, RowMajor<3, bf16, 200>>>,
//       Sm80Schedule<Tile<128, 64, 32>, Warps<4, 1>, Stages<4>, Splits<1>>>;
//
// Filters are [filters, taps, channels]. Groups of channels with filters of
// their own are batches of the problem.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80WINDOWS_CUH
#define FACT_CUTLASS_SM80WINDOWS_CUH

#include "Sm80Gemm.cuh"
#include "WindowDim.cuh"
#include <tuple>

namespace fact {

/// Windows of images [Dims..., Channels] as rows of A.
template <int Buffer, class Element, int64_t Channels, int64_t ChannelStride,
          int64_t BatchStride, int64_t Offset, class... Dims>
struct WindowRows : View<Buffer, Element, Offset> {
  using DimList = std::tuple<Dims...>;
  static constexpr int channels = Channels;
  static constexpr int64_t channel_stride = ChannelStride;

  /// Whether all pixels begin at multiples of these elements.
  static constexpr bool has_aligned_pixels(int64_t elements) {
    return channels % elements == 0 && Offset % elements == 0 &&
           ((Dims::stride % elements == 0) && ...);
  }
};

namespace sm80 {

template <int B, class E, int64_t C, int64_t S, int64_t T, int64_t O,
          class... Dims>
struct MatrixStrides<WindowRows<B, E, C, S, T, O, Dims...>> : Strides<0, 0, T> {
};

/// Windows as a factor [windows, taps and channels].
template <class Tensor_, int Outer, int K> struct WindowFactor {
  using Tensor = Tensor_;
  using Element = typename Tensor::Element;

  static constexpr bool along_k = true;
  static constexpr int rows = Outer, length = K;

  /// The bytes that all runs of channels begin at multiples of, up to 16; 0
  /// where channels do not lie together.
  static constexpr int alignment() {
    return alignment_of<Element>(Tensor::channel_stride == 1, [](int elements) {
      return Tensor::has_aligned_pixels(elements) &&
             MatrixStrides<Tensor>::has_aligned_batches(elements);
    });
  }

  /// `Count` channels of a tap, or zeros.
  template <int Count>
  FACT_DEVICE Run<Element> locate(Element const *batch, int row, int column) {
    int64_t offset =
        int64_t(column % Tensor::channels) * Tensor::channel_stride;
    bool is_inside = row < rows && column < length;
    walk<dims - 1>(row, column / Tensor::channels, offset, is_inside);
    return {batch + offset, is_inside ? Count : 0};
  }

  /// Each element apart.
  template <int Count>
  FACT_DEVICE uint4 read(Element const *batch, int row, int column) {
    using Word = typename AccessType<sizeof(Element)>::type;
    Word elements[Count];
#pragma unroll
    for (int j = 0; j < Count; ++j) {
      auto [source, given] = locate<1>(batch, row, column + j);
      elements[j] =
          given ? __ldg(reinterpret_cast<Word const *>(source)) : Word(0);
    }
    uint4 words;
    memcpy(&words, elements, sizeof(words));
    return words;
  }

private:
  static constexpr int dims = std::tuple_size_v<typename Tensor::DimList>;

  /// Adds where an element is along the dimensions up to number I, the last of
  /// which changes fastest.
  template <int I>
  FACT_DEVICE void walk(int row, int tap, int64_t &offset, bool &is_inside) {
    if constexpr (I >= 0) {
      using Own = std::tuple_element_t<I, typename Tensor::DimList>;
      constexpr int count = Own::count, kernel = Own::kernel;
      constexpr bool reaches_out =
          Own::zeros > 0 ||
          (Own::count - 1) * Own::step + (Own::kernel - 1) * Own::dilation >=
              Own::extent;
      int place = I > 0 ? row % count : row;
      int at = place * int(Own::step) + tap % kernel * int(Own::dilation) -
               int(Own::zeros);
      if (reaches_out)
        is_inside = is_inside && unsigned(at) < unsigned(Own::extent);
      offset += at * Own::stride;
      walk<I - 1>(row / count, tap / kernel, offset, is_inside);
    }
  }
};

template <class Problem, int B, class E, int64_t C, int64_t S, int64_t T,
          int64_t O, class... Dims>
struct FactorOfA<Problem, WindowRows<B, E, C, S, T, O, Dims...>> {
  using type = WindowFactor<WindowRows<B, E, C, S, T, O, Dims...>, Problem::m,
                            Problem::k>;
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80WINDOWS_CUH
