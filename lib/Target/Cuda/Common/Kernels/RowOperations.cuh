//===- RowOperations.cuh - What a kernel of rows does with them -*- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_ROWOPERATIONS_CUH
#define FACT_CUTLASS_ROWOPERATIONS_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Scalars.cuh"
#include "Vector.cuh"

namespace fact {

namespace row {

//===----------------------------------------------------------------------===//
// Reductions over the threads of a row
//===----------------------------------------------------------------------===//

struct Add {
  static constexpr float identity = 0.0f;
  FACT_DEVICE float apply(float a, float b) { return a + b; }
};
struct Maximum {
  static constexpr float identity = -INFINITY;
  FACT_DEVICE float apply(float a, float b) { return fmaxf(a, b); }
};

// Of results, where NaN counts.
struct NanMaximum {
  static constexpr float identity = -INFINITY;
  FACT_DEVICE float apply(float a, float b) { return nan_maximum(a, b); }
};
struct NanMinimum {
  static constexpr float identity = INFINITY;
  FACT_DEVICE float apply(float a, float b) { return nan_minimum(a, b); }
};
struct Multiply {
  static constexpr float identity = 1.0f;
  FACT_DEVICE float apply(float a, float b) { return a * b; }
};

/// Reduces over the row's threads; all of them get the result. `scratch` holds
/// one float for each warp of the row and is used by one reduction only.
template <class Operation, int Threads>
__device__ __forceinline__ float reduce(float value, float *scratch) {
#pragma unroll
  for (int distance = (Threads < 32 ? Threads : 32) / 2; distance > 0;
       distance /= 2)
    value =
        Operation::apply(value, __shfl_xor_sync(0xffffffffu, value, distance));
  if constexpr (Threads > 32) {
    constexpr int warps = Threads / 32;
    if (threadIdx.x % 32 == 0)
      scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = scratch[0];
#pragma unroll
    for (int warp = 1; warp < warps; ++warp)
      value = Operation::apply(value, scratch[warp]);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Operands: `load` gives the vector of values at a row and column.
//===----------------------------------------------------------------------===//

template <class Tensor> struct Access;

template <int B, class E, int64_t L, int64_t S, int64_t O>
struct Access<RowMajor<B, E, L, S, O>> {
  template <int Count> static constexpr bool can_use_vector() {
    return L % Count == 0 && O % Count == 0;
  }
  FACT_DEVICE E *address(void *const *buffers, int64_t row, int column) {
    return static_cast<E *>(buffers[B]) + (O + row * L + column);
  }
  template <int Count, bool Streams = false>
  FACT_DEVICE void load(void *const *buffers, int64_t row, int column,
                        float *values) {
    load_vector<Count, Streams>(address(buffers, row, column), values);
  }
  template <int Count>
  FACT_DEVICE void store(void *const *buffers, int64_t row, int column,
                         float const *values) {
    store_vector<Count>(address(buffers, row, column), values);
  }
};

template <class Matrix> struct Access<Streamed<Matrix>> : Access<Matrix> {
  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t row, int column,
                        float *values) {
    Access<Matrix>::template load<Count, true>(buffers, row, column, values);
  }
};

template <int B, class E, int64_t S, int64_t O>
struct Access<RowVector<B, E, S, O>> {
  template <int Count> static constexpr bool can_use_vector() {
    return O % Count == 0;
  }
  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t, int column,
                        float *values) {
    load_vector<Count>(static_cast<E const *>(buffers[B]) + (O + column),
                       values);
  }
};

template <int B, class E, int64_t S, int64_t O>
struct Access<ColumnVector<B, E, S, O>> {
  template <int Count> static constexpr bool can_use_vector() { return true; }
  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t row, int, float *values) {
    float value = widen(static_cast<E const *>(buffers[B])[O + row]);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      values[i] = value;
  }
};

template <int B, class E, int64_t O> struct Access<Scalar<B, E, O>> {
  template <int Count> static constexpr bool can_use_vector() { return true; }
  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t, int, float *values) {
    Access<ColumnVector<B, E, 0, O>>::template load<Count>(buffers, 0, 0,
                                                           values);
  }
};

} // namespace row

//===----------------------------------------------------------------------===//
// Normalizations: from a thread's values (0 where not valid) to the result.
//===----------------------------------------------------------------------===//

/// (v - mean) / sqrt(variance + epsilon). The variance is taken around the
/// mean, not as a difference of squares: the row is at hand.
template <class Epsilon> struct LayerNorm {
  template <class Schedule, int Columns, int Count>
  FACT_DEVICE void apply(float const (&values)[Count],
                         bool const (&valid)[Count], float (&result)[Count],
                         float (*scratch)[32]) {
    constexpr int threads = Schedule::threads_per_row;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      sum += values[i];
    float mean =
        row::reduce<row::Add, threads>(sum, scratch[0]) * (1.0f / Columns);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      result[i] = values[i] - mean;
      squares = valid[i] ? fmaf(result[i], result[i], squares) : squares;
    }
    float variance =
        row::reduce<row::Add, threads>(squares, scratch[1]) * (1.0f / Columns);
    float scale = rsqrtf(variance + Epsilon::value);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      result[i] *= scale;
  }
};

/// v / sqrt(mean(v^2) + epsilon)
template <class Epsilon> struct RmsNorm {
  template <class Schedule, int Columns, int Count>
  FACT_DEVICE void apply(float const (&values)[Count], bool const (&)[Count],
                         float (&result)[Count], float (*scratch)[32]) {
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      squares = fmaf(values[i], values[i], squares);
    squares =
        row::reduce<row::Add, Schedule::threads_per_row>(squares, scratch[0]);
    float scale = rsqrtf(fmaf(squares, 1.0f / Columns, Epsilon::value));
#pragma unroll
    for (int i = 0; i < Count; ++i)
      result[i] = values[i] * scale;
  }
};

/// e^(v - max) / sum
struct Softmax {
  template <class Schedule, int Columns, int Count>
  FACT_DEVICE void apply(float const (&values)[Count],
                         bool const (&valid)[Count], float (&result)[Count],
                         float (*scratch)[32]) {
    constexpr int threads = Schedule::threads_per_row;
    float maximum = -INFINITY;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      maximum = valid[i] ? fmaxf(maximum, values[i]) : maximum;
    maximum = row::reduce<row::Maximum, threads>(maximum, scratch[0]);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      // Exact 0 distance for the maximum, and one multiplication less.
      result[i] = valid[i] ? expf(values[i] - maximum) : 0.0f;
      sum += result[i];
    }
    sum = row::reduce<row::Add, threads>(sum, scratch[1]);
    float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      result[i] *= scale;
  }
};

//===----------------------------------------------------------------------===//
// Reductions: every element of the result is the row's one value.
//===----------------------------------------------------------------------===//

template <class Operation, bool IsMean = false> struct Reduction {
  template <class Schedule, int Columns, int Count>
  FACT_DEVICE void apply(float const (&values)[Count],
                         bool const (&valid)[Count], float (&result)[Count],
                         float (*scratch)[32]) {
    float value = Operation::identity;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      value = valid[i] ? Operation::apply(value, values[i]) : value;
    value =
        row::reduce<Operation, Schedule::threads_per_row>(value, scratch[0]);
    if (IsMean)
      value /= Columns;
#pragma unroll
    for (int i = 0; i < Count; ++i)
      result[i] = value;
  }
};

using Sum = Reduction<row::Add>;
using Mean = Reduction<row::Add, true>;
using Max = Reduction<row::NanMaximum>;
using Min = Reduction<row::NanMinimum>;
using Product = Reduction<row::Multiply>;

/// The place of the first extreme element; NaN is the extreme of both. Places
/// are exact in floats: a row has at most 2^16 elements.
template <bool IsMaximum> struct Extreme {
  struct Best {
    float value, column;
  };
  FACT_DEVICE Best choose(Best a, Best b) {
    bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    bool beyond = IsMaximum ? a.value > b.value : a.value < b.value;
    bool equal = a.value == b.value || (a_nan && b_nan);
    bool first = (a_nan && !b_nan) || (beyond && !b_nan) ||
                 (equal && a.column < b.column);
    return first ? a : b;
  }

  template <class Schedule, int Columns, int Count>
  FACT_DEVICE void apply(float const (&values)[Count],
                         bool const (&valid)[Count], float (&result)[Count],
                         float (*scratch)[32]) {
    constexpr int threads = Schedule::threads_per_row;
    constexpr int vector = Schedule::vector;
    // A column that no element has comes last.
    Best best{IsMaximum ? -INFINITY : INFINITY, INFINITY};
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      int column = (i / vector * threads + threadIdx.x) * vector + i % vector;
      if (valid[i])
        best = choose({values[i], float(column)}, best);
    }
#pragma unroll
    for (int distance = (threads < 32 ? threads : 32) / 2; distance > 0;
         distance /= 2)
      best = choose({__shfl_xor_sync(0xffffffffu, best.value, distance),
                     __shfl_xor_sync(0xffffffffu, best.column, distance)},
                    best);
    if constexpr (threads > 32) {
      if (threadIdx.x % 32 == 0) {
        scratch[0][threadIdx.x / 32] = best.value;
        scratch[1][threadIdx.x / 32] = best.column;
      }
      __syncthreads();
      best = {scratch[0][0], scratch[1][0]};
#pragma unroll
      for (int warp = 1; warp < threads / 32; ++warp)
        best = choose({scratch[0][warp], scratch[1][warp]}, best);
    }
#pragma unroll
    for (int i = 0; i < Count; ++i)
      result[i] = best.column;
  }
};

using ArgMax = Extreme<true>;
using ArgMin = Extreme<false>;

} // namespace fact

#endif // FACT_CUTLASS_ROWOPERATIONS_CUH
