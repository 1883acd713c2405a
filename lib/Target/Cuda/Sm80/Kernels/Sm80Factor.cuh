//===- Sm80Factor.cuh - Factors of products in shared memory ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A factor is seen as [outer, K]: outer is M of A and N of B. A tile of it lies
// in shared memory as it does in global memory: in rows along K, or along the
// outer dimension. Any strides, alignment and extents are taken:
//
// - rows whose elements lie together and begin at multiples of 4 bytes or more
//   are copied asynchronously;
// - other elements are read one by one, into registers first.
//
// What is outside of the factor becomes 0.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80FACTOR_CUH
#define FACT_CUTLASS_SM80FACTOR_CUH

#include "Instructions.cuh"
#include "Vector.cuh"

namespace fact {
namespace sm80 {

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// The strides of a tensor as matrices [batches, rows, columns]: batch b is run
/// b / InnerBatches, and b % InnerBatches in it.
template <int64_t Row, int64_t Column, int64_t Batch, int64_t InnerBatches = 1,
          int64_t InnerBatch = 0>
struct Strides {
  static constexpr int64_t row = Row, column = Column, batch = Batch;
  static constexpr int64_t inner_batches = InnerBatches,
                           inner_batch = InnerBatch;
  /// Whether all matrices begin at multiples of these elements.
  static constexpr bool has_aligned_batches(int64_t elements) {
    return batch % elements == 0 && inner_batch % elements == 0;
  }
};

template <class Tensor> struct MatrixStrides : Strides<0, 0, 0> {};
template <int B, class E, int64_t L, int64_t S, int64_t O>
struct MatrixStrides<RowMajor<B, E, L, S, O>> : Strides<L, 1, S> {};
template <int B, class E, int64_t L, int64_t S, int64_t O>
struct MatrixStrides<ColumnMajor<B, E, L, S, O>> : Strides<1, L, S> {};
template <int B, class E, int64_t S, int64_t O>
struct MatrixStrides<RowVector<B, E, S, O>> : Strides<0, 1, S> {};
template <int B, class E, int64_t S, int64_t O>
struct MatrixStrides<ColumnVector<B, E, S, O>> : Strides<1, 0, S> {};
template <int B, class E, int64_t R, int64_t C, int64_t S, int64_t O, int64_t I,
          int64_t T>
struct MatrixStrides<StridedMatrix<B, E, R, C, S, O, I, T>>
    : Strides<R, C, S, I, T> {};

/// The first element of a batch.
template <class Tensor>
FACT_DEVICE typename Tensor::Element *begin_of(void *const *buffers,
                                               int64_t batch) {
  using Own = MatrixStrides<Tensor>;
  return static_cast<typename Tensor::Element *>(buffers[Tensor::buffer]) +
         Tensor::offset + batch / Own::inner_batches * Own::batch +
         batch % Own::inner_batches * Own::inner_batch;
}

constexpr int divide_up(int64_t size, int64_t unit) {
  return int((size + unit - 1) / unit);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Elements to copy, `given` of which exist.
template <class Element> struct Run {
  Element const *source;
  int given;
};

/// The most bytes, up to 16, whose elements `are_whole` accepts; 0 where
/// elements do not lie together.
template <class Element, class Function>
constexpr int alignment_of(bool is_together, Function are_whole) {
  int bytes = is_together ? 16 : 0;
  while (bytes > int(sizeof(Element)) &&
         !are_whole(bytes / int(sizeof(Element))))
    bytes /= 2;
  return bytes;
}

/// A factor and its extents; `OuterStride` and `KStride` count elements.
template <class Tensor_, int Outer, int K, int64_t OuterStride, int64_t KStride>
struct Factor {
  using Tensor = Tensor_;
  using Element = typename Tensor::Element;

  /// Whether rows of tiles go along K.
  static constexpr bool along_k =
      KStride == 1 || (OuterStride != 1 && KStride <= OuterStride);
  static constexpr int64_t row_stride = along_k ? OuterStride : KStride;
  static constexpr int64_t element_stride = along_k ? KStride : OuterStride;
  static constexpr int rows = along_k ? Outer : K;
  static constexpr int length = along_k ? K : Outer;

  /// The bytes that all rows begin at multiples of, up to 16; 0 where the
  /// elements of a row do not lie together.
  static constexpr int alignment() {
    return alignment_of<Element>(element_stride == 1, [](int elements) {
      return row_stride % elements == 0 && Tensor::offset % elements == 0 &&
             MatrixStrides<Tensor>::has_aligned_batches(elements);
    });
  }

  /// `Count` elements of a row of tiles.
  template <int Count>
  FACT_DEVICE Run<Element> locate(Element const *batch, int row, int column) {
    int left = length - column;
    int given = row >= rows || left < 0 ? 0 : left < Count ? left : Count;
    return {batch + int64_t(row) * row_stride +
                int64_t(column) * element_stride,
            given};
  }

  /// 16 bytes of elements that do not lie together.
  template <int Count>
  FACT_DEVICE uint4 read(Element const *batch, int row, int column) {
    using Word = typename AccessType<sizeof(Element)>::type;
    auto [source, given] = locate<Count>(batch, row, column);
    Word elements[Count];
#pragma unroll
    for (int j = 0; j < Count; ++j)
      elements[j] = j < given ? __ldg(reinterpret_cast<Word const *>(
                                    source + j * element_stride))
                              : Word(0);
    uint4 words;
    memcpy(&words, elements, sizeof(words));
    return words;
  }
};

/// The first factor; windows of images are another one (Sm80Windows.cuh).
template <class Problem, class Tensor> struct FactorOfA {
  using type =
      Factor<Tensor, Problem::m, Problem::k, MatrixStrides<Tensor>::row,
             MatrixStrides<Tensor>::column>;
};
template <class Problem, class Tensor>
using FactorA = typename FactorOfA<Problem, Tensor>::type;
template <class Problem, class Tensor>
using FactorB =
    Factor<Tensor, Problem::n, Problem::k, MatrixStrides<Tensor>::column,
           MatrixStrides<Tensor>::row>;

/// Outer x K elements of a factor, and how a block of threads copies them.
template <class Factor, int Outer, int K, int Threads> struct FactorTile {
  using Element = typename Factor::Element;
  static constexpr bool along_k = Factor::along_k;
  static constexpr int size = sizeof(Element);
  static constexpr int rows = along_k ? Outer : K;
  static constexpr int length = along_k ? K : Outer;
  /// Bytes between rows, so that eight of them, or four of 32-bit elements that
  /// are read along the outer dimension, are in different banks.
  static constexpr int pitch =
      length * size + (size == 4 && !along_k ? 32 : 16);
  static constexpr int bytes = rows * pitch;
  static_assert(length * size % 32 == 0, "rows are multiples of 32 bytes");

  static constexpr bool is_async = Factor::alignment() >= 4;
  /// Elements that a thread copies at once.
  static constexpr int vector = (is_async ? Factor::alignment() : 16) / size;
  static constexpr int row_vectors = length / vector;
  static constexpr int count = rows * row_vectors;
  static constexpr int per_thread = divide_up(count, Threads);

  /// What was read and is not in shared memory yet.
  struct Registers {
    uint4 words[is_async ? 1 : per_thread];
  };

  /// Starts to copy the tile at (outer, k) of a batch; `finish` ends it.
  FACT_DEVICE void start(char *tile, Registers &registers, Element const *batch,
                         int outer, int k) {
    int first_row = along_k ? outer : k, first = along_k ? k : outer;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      auto [row, column] = get_place(i);
      if (count % Threads != 0 && row >= rows)
        break;
      if constexpr (is_async) {
        auto [source, given] = Factor::template locate<vector>(
            batch, first_row + row, first + column);
        copy_async<vector * size>(
            shared_address(tile + row * pitch + column * size),
            given > 0 ? source : batch, given * size);
      } else {
        registers.words[i] = Factor::template read<vector>(
            batch, first_row + row, first + column);
      }
    }
  }

  FACT_DEVICE void finish(char *tile, Registers const &registers) {
    if constexpr (!is_async) {
#pragma unroll
      for (int i = 0; i < per_thread; ++i) {
        auto [row, column] = get_place(i);
        if (count % Threads != 0 && row >= rows)
          break;
        *reinterpret_cast<uint4 *>(tile + row * pitch + column * size) =
            registers.words[i];
      }
    }
  }

  /// 16 outer elements times 32 bytes along K, as `multiply` takes them: four
  /// words of (outer 0, K 0), (outer 8, K 0), (outer 0, K 16 bytes) and (outer
  /// 8, K 16 bytes).
  FACT_DEVICE void load(uint32_t (&words)[4], char const *tile, int outer,
                        int k) {
    int lane = threadIdx.x % 32;
    if constexpr (along_k) {
      int row = outer + lane % 16, column = k * size + lane / 16 * 16;
      load_matrices(words, shared_address(tile + row * pitch + column));
    } else if constexpr (size == 2) {
      int row = k + lane / 16 * 8 + lane % 8,
          column = outer + lane % 16 / 8 * 8;
      load_matrices_transposed(
          words, shared_address(tile + row * pitch + column * size));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] = *reinterpret_cast<uint32_t const *>(
            tile + (k + i / 2 * 4 + lane % 4) * pitch +
            (outer + i % 2 * 8 + lane / 4) * size);
    }
  }

private:
  /// The row and the first element of a vector of the thread, with all that is
  /// the same for all threads as a constant: addresses then differ by
  /// constants, and take few registers.
  struct Place {
    int row, column;
  };
  FACT_DEVICE Place get_place(int i) {
    static_assert(Threads % row_vectors == 0 || row_vectors % Threads == 0,
                  "threads copy whole rows, or parts of one");
    if constexpr (Threads >= row_vectors) {
      int thread = int(threadIdx.x);
      return {thread / row_vectors + i * (Threads / row_vectors),
              thread % row_vectors * vector};
    } else {
      constexpr int parts = row_vectors / Threads;
      return {i / parts, (int(threadIdx.x) + i % parts * Threads) * vector};
    }
  }
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80FACTOR_CUH
