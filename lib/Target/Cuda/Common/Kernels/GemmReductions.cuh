//===- GemmReductions.cuh - Rows and columns of a product ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of what an epilogue makes of the rows or the columns of a product.
// Each tile leaves partial results in workspace; a small kernel combines them
// in a fixed order, so results do not differ from run to run, and computes what
// is made of the reductions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GEMMREDUCTIONS_CUH
#define FACT_CUTLASS_GEMMREDUCTIONS_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Vector.cuh"

#include "cutlass/array.h"
#include "cutlass/cutlass.h"
#include "cutlass/functional.h"

namespace fact {

/// How a row or a column is reduced. NaN counts. `finish` makes the result of
/// what is left, given the results of the reductions before it.
struct ReduceUnchanged {
  template <int64_t Length>
  FACT_DEVICE float finish(float value, float const *) {
    return value;
  }
};
struct ReduceSum : ReduceUnchanged {
  template <class T> using Combine = cutlass::plus<T>;
  static constexpr float identity = 0.0f;
};
struct ReduceMean : ReduceSum {
  template <int64_t Length>
  FACT_DEVICE float finish(float value, float const *) {
    return value / Length;
  }
};
struct ReduceMax : ReduceUnchanged {
  template <class T> struct Combine : cutlass::maximum<T, true> {};
  static constexpr float identity = -INFINITY;
};
struct ReduceMin : ReduceUnchanged {
  template <class T> struct Combine : cutlass::minimum<T, true> {};
  static constexpr float identity = INFINITY;
};
struct ReduceProduct : ReduceUnchanged {
  template <class T> using Combine = cutlass::multiplies<T>;
  static constexpr float identity = 1.0f;
};

/// log(exp(a) + exp(b)).
template <class T> struct LogAddExp {
  CUTLASS_DEVICE float operator()(float a, float b) const {
    float largest = cutlass::maximum<float, true>{}(a, b);
    // Equal infinities have no difference.
    float difference = a == b ? 0.0f : -fabsf(a - b);
    return largest + fast_log(1.0f + fast_exp(difference));
  }
};
template <class T, int N> struct LogAddExp<cutlass::Array<T, N>> {
  using Values = cutlass::Array<T, N>;
  CUTLASS_DEVICE Values operator()(Values const &a, Values const &b) const {
    Values result;
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < N; ++i)
      result[i] = LogAddExp<T>{}(a[i], b[i]);
    return result;
  }
};

/// The sum of exponentials against the maximum, which is reduction `Maximum`.
/// Partial results are logarithms of sums, which need no maximum and are in
/// range.
template <int Maximum, bool IsGuarded> struct ReduceExponentials {
  template <class T> using Combine = LogAddExp<T>;
  static constexpr float identity = -INFINITY;
  template <int64_t Length>
  FACT_DEVICE float finish(float value, float const *reduced) {
    float maximum = reduced[Maximum];
    return expf(value - (IsGuarded && isinf(maximum) ? 0.0f : maximum));
  }
};

/// The reduction of what `Functor` makes of the product.
template <class Functor_, class Kind_> struct Reduced {
  using Functor = Functor_;
  using Kind = Kind_;
};

template <class... List> struct Reductions {
  static constexpr int count = sizeof...(List);
};

/// Results of one element a row, made of reductions of rows: their functors
/// take all reductions in order, then the operands, which are ColumnVector or
/// Scalar.
template <class ReductionList, class OperandList, class ResultList>
struct RowEpilogue {};
using NoRowEpilogue = RowEpilogue<Reductions<>, Operands<>, Results<>>;

/// Results of one element a column; the operands are RowVector or Scalar.
template <class ReductionList, class OperandList, class ResultList>
struct ColumnEpilogue {};
using NoColumnEpilogue = ColumnEpilogue<Reductions<>, Operands<>, Results<>>;

namespace sm90 {

/// What a reduction reduces.
enum class Direction { Rows, Columns };

/// Partial results of one reduction: for each batch, each tile along what is
/// reduced and each row or column (of whole tiles) one float.
template <class Problem, class Tile, Direction Along> struct Partials {
  static constexpr bool of_rows = Along == Direction::Rows;
  static constexpr int count = of_rows ? Problem::m : Problem::n;
  static constexpr int length = of_rows ? Problem::n : Problem::m;
  static constexpr int across = of_rows ? Tile::m : Tile::n;
  static constexpr int along = of_rows ? Tile::n : Tile::m;
  static constexpr int64_t stride =
      int64_t(count + across - 1) / across * across;
  static constexpr int tiles = (length + along - 1) / along;
  static constexpr int64_t batch_stride = stride * tiles;
  static constexpr int64_t elements = batch_stride * Problem::batches;
};

struct FinishParams {
  float const *partials;
  void *buffers[32];
};

template <class Tensor> inline constexpr bool is_scalar = false;
template <int B, class E, int64_t O>
inline constexpr bool is_scalar<Scalar<B, E, O>> = true;

/// Combines the partial results of all reductions along one direction.
template <class Layout, class ReductionList, class OperandList,
          class ResultList>
struct Finish;

template <class Layout, class... List, class... Tensors, class... ResultList>
struct Finish<Layout, Reductions<List...>, Operands<Tensors...>,
              Results<ResultList...>> {
  // Where there are many tiles, threads share the work on each result.
  static constexpr int slices = Layout::tiles < 32 ? 1 : 16;
  static constexpr int lanes = slices == 1 ? 128 : 32;
  static constexpr int threads = lanes * slices;
  static constexpr int64_t elements = sizeof...(List) * Layout::elements;

  static dim3 grid(int batches) {
    return dim3((Layout::count + lanes - 1) / lanes, batches);
  }

  template <class Kind>
  FACT_DEVICE float combine(float const *partials, int index) {
    typename Kind::template Combine<float> combine;
    int slice = threadIdx.x / lanes;
    float value = Kind::identity;
    if (index < Layout::count)
      for (int tile = slice; tile < Layout::tiles; tile += slices)
        value = combine(value, partials[tile * Layout::stride + index]);
    if constexpr (slices > 1) {
      __shared__ float shared[threads];
      shared[threadIdx.x] = value;
      __syncthreads();
      if (slice == 0)
        for (int i = 1; i < slices; ++i)
          value = combine(value, shared[i * lanes + threadIdx.x]);
      __syncthreads();
    }
    return value;
  }

  template <class Tensor> FACT_DEVICE int64_t place(int index) {
    if constexpr (is_scalar<Tensor>)
      return Tensor::offset;
    else
      return Tensor::offset + blockIdx.y * Tensor::batch_stride + index;
  }

  template <class Tensor>
  FACT_DEVICE float read(FinishParams const &params, int index) {
    return widen(static_cast<typename Tensor::Element const *>(
        params.buffers[Tensor::buffer])[place<Tensor>(index)]);
  }

  template <class Result, size_t... I, size_t... J>
  FACT_DEVICE void store(FinishParams const &params, int index,
                         float const *reduced, float const *operands,
                         std::index_sequence<I...>, std::index_sequence<J...>) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    static_cast<Element *>(
        params.buffers[Tensor::buffer])[place<Tensor>(index)] =
        narrow<Element>(Result::Functor::apply(reduced[I]..., operands[J]...));
  }

  FACT_DEVICE void run(FinishParams const &params) {
    int index = blockIdx.x * lanes + threadIdx.x % lanes;
    float const *partials = params.partials + blockIdx.y * Layout::batch_stride;
    float reduced[sizeof...(List)];
    int i = 0;
    ((reduced[i] =
          combine<typename List::Kind>(partials + i * Layout::elements, index),
      reduced[i] =
          List::Kind::template finish<Layout::length>(reduced[i], reduced),
      ++i),
     ...);
    if (index >= Layout::count || threadIdx.x >= lanes)
      return;
    float operands[] = {read<Tensors>(params, index)..., 0.0f};
    (store<ResultList>(params, index, reduced, operands,
                       std::index_sequence_for<List...>{},
                       std::index_sequence_for<Tensors...>{}),
     ...);
  }
};

/// Nothing is reduced along this direction.
template <class Layout>
struct Finish<Layout, Reductions<>, Operands<>, Results<>> {
  static constexpr int64_t elements = 0;
};

template <class Finish>
__global__ void __launch_bounds__(Finish::threads)
    finish_reductions(FinishParams const __grid_constant__ params) {
  Finish::run(params);
}

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_GEMMREDUCTIONS_CUH
