//===- Sm80Epilogue.cuh - Functors of products, row by row -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products become results: a thread takes `vector` columns of a row,
// reads the same columns of the operands, applies the functors and stores what
// they return. Operands and results have any strides and element types; those
// whose columns lie together move in wide accesses.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80EPILOGUE_CUH
#define FACT_CUTLASS_SM80EPILOGUE_CUH

#include "Math.cuh"
#include "Sm80Factor.cuh"

namespace fact {
namespace sm80 {

/// Whether `count` columns from a multiple of `count` lie together, aligned.
template <class Tensor> constexpr bool moves_in_vectors(int count) {
  using Strides = MatrixStrides<Tensor>;
  return Strides::column == 1 && Strides::row % count == 0 &&
         Tensor::offset % count == 0 && Strides::has_aligned_batches(count);
}

/// `Count` columns of one row of an operand; those from `given` on are unknown.
template <class Tensor, int Count> struct Columns {
  using Element = typename Tensor::Element;
  Compute<Element> values[Count];

  __device__ __forceinline__ Columns(void *const *buffers, int64_t batch,
                                     int row, int column, int given) {
    using Strides = MatrixStrides<Tensor>;
    Element const *source = begin_of<Tensor>(buffers, batch) +
                            row * Strides::row + column * Strides::column;
    if constexpr (Strides::column == 0) {
      Compute<Element> value = widen(*source);
#pragma unroll
      for (int i = 0; i < Count; ++i)
        values[i] = value;
      return;
    }
    if constexpr (Count > 1 && moves_in_vectors<Tensor>(Count)) {
      if (given >= Count) {
        load_vector<Count>(source, values);
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < Count; ++i)
      values[i] =
          i < given ? widen(source[i * Strides::column]) : Compute<Element>(0);
  }
};

template <class Problem, int Products, class OperandList, class ResultList>
struct Epilogue;

template <class Problem, int Products, class... Tensors, class... List>
struct Epilogue<Problem, Products, Operands<Tensors...>, Results<List...>> {
  /// Whether all results have contiguous columns: threads then walk down them.
  static constexpr bool by_columns =
      ((MatrixStrides<typename List::Tensor>::row == 1 &&
        MatrixStrides<typename List::Tensor>::column != 1) &&
       ...);

  /// As many columns as all results can store at once: 16 bytes of the
  /// narrowest, and at most eight.
  static constexpr int get_vector() {
    int vector = by_columns ? 1 : 8;
    while (vector > 1 &&
           !((moves_in_vectors<typename List::Tensor>(vector) &&
              vector * sizeof(typename List::Tensor::Element) <= 16) &&
             ...))
      vector /= 2;
    return vector;
  }
  static constexpr int vector = get_vector();

  /// Vectors of which a thread reads the operands before it stores any: each
  /// read waits for memory.
  static constexpr int together = sizeof...(Tensors) == 0 ? 1
                                  : vector >= 4           ? 2
                                                          : 4;

  /// Computes columns of one row from the sums of all products; `next` is
  /// called after the operands were read, and before anything is stored. There
  /// are `given` columns, or fewer than one.
  template <class Next>
  FACT_DEVICE void apply(void *const *buffers, int64_t batch, int row,
                         int column, int given,
                         float const (&sums)[Products][vector], Next next) {
    store_all(buffers, batch, row, column, given, sums, next,
              Columns<Tensors, vector>(buffers, batch, row, column, given)...);
  }

private:
  template <class Next, class... Arguments>
  FACT_DEVICE void store_all(void *const *buffers, int64_t batch, int row,
                             int column, int given,
                             float const (&sums)[Products][vector], Next next,
                             Arguments const &...operands) {
    next();
    if (given > 0)
      (store<List>(buffers, batch, row, column, given, sums,
                   std::make_index_sequence<Products>{}, operands...),
       ...);
  }

  template <class Result, size_t... P, class... Arguments>
  FACT_DEVICE void
  store(void *const *buffers, int64_t batch, int row, int column, int given,
        float const (&sums)[Products][vector], std::index_sequence<P...>,
        Arguments const &...operands) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    using Strides = MatrixStrides<Tensor>;
    decltype(Result::Functor::apply(sums[P][0]...,
                                    operands.values[0]...)) values[vector];
#pragma unroll
    for (int i = 0; i < vector; ++i)
      values[i] = Result::Functor::apply(sums[P][i]..., operands.values[i]...);
    Element *target = begin_of<Tensor>(buffers, batch) + row * Strides::row +
                      column * Strides::column;
    if constexpr (vector > 1 && Problem::n % vector == 0) {
      store_vector<vector>(target, values);
    } else if (vector > 1 && given >= vector) {
      store_vector<vector>(target, values);
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        if (i < given)
          target[i * Strides::column] = narrow<Element>(values[i]);
    }
  }
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80EPILOGUE_CUH
