//===- Row.cuh - Normalisations, softmax and reductions of rows -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each row: v = prologue(operands...), statistics of v in fp32, n = v
// normalised (or, of a reduction, its one value), and for each result
// D_r = f_r(n, v, operands...). A row is read once and stays in registers, so
// the kernel moves each byte once.
//
//   // s = x + r; y = layer_norm(s) * weight + bias; both are results
//   #include "fact/cutlass/Row.cuh"
//
//   namespace fact::norm_0 {
//
//   struct Epsilon { static constexpr float value = 1e-5f; };
//   struct Prologue {
//     FACT_DEVICE float apply(float x, float r) { return x + r; }
//   };
//   struct Epilogue0 {
//     FACT_DEVICE float apply(float normalized, float value, float weight,
//                             float bias) {
//       return fmaf(normalized, weight, bias);
//     }
//   };
//   struct Epilogue1 {
//     FACT_DEVICE float apply(float normalized, float value, float weight,
//                             float bias) {
//       return value;
//     }
//   };
//
//   using Kernel = Row<
//       Extent<65536, 768>,                             // rows, columns
//       LayerNorm<Epsilon>,                             // RmsNorm, Softmax
//       Prologue, Operands<RowMajor<0, bf16, 768>, RowMajor<1, bf16, 768>>,
//       Operands<RowVector<2, bf16>, RowVector<3, bf16>>,
//       Results<Result<Epilogue0, RowMajor<4, bf16, 768>>,
//               Result<Epilogue1, RowMajor<5, bf16, 768>>>,
//       RowSchedule<32, 4, 8>>;      // threads a row, rows a block, vector
//
//   FACT_KERNEL(norm_0, Kernel)
//
//   } // namespace fact::norm_0
//
// Operands are RowMajor, RowVector, ColumnVector or Scalar. A vector of 1 takes
// any number of columns; wider ones want columns, strides and offsets that are
// multiples of it.
//
// A reduction (Sum, Mean, Max, Min, Product, ArgMax, ArgMin) may also have
// results of one element a row, with operands of their own. They follow the
// schedule:
//
//   // exp(max(x)) of each row, plus one value of each
//   struct RowEpilogue {
//     FACT_DEVICE float apply(float reduced, float y) { return expf(reduced) + y; }
//   };
//   using Kernel = Row<
//       Extent<65536, 768>, Max, Identity, Operands<RowMajor<0, bf16, 768>>,
//       Operands<>, Results<>, RowSchedule<32, 4, 8>,
//       Operands<ColumnVector<1, bf16>>,
//       Results<Result<RowEpilogue, ColumnVector<2, bf16>>>>;
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_ROW_CUH
#define FACT_CUTLASS_ROW_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Vector.cuh"

namespace fact {

template <int64_t Rows, int Columns> struct Extent {
  static constexpr int64_t rows = Rows;
  static constexpr int columns = Columns;
};

template <int ThreadsPerRow, int RowsPerBlock, int Vector> struct RowSchedule {
  static constexpr int threads_per_row = ThreadsPerRow;
  static constexpr int rows_per_block = RowsPerBlock;
  static constexpr int vector = Vector;

  static_assert(ThreadsPerRow % 32 == 0 || 32 % ThreadsPerRow == 0,
                "threads per row must divide 32 or be a multiple of it");
  static_assert(ThreadsPerRow * RowsPerBlock <= 1024 &&
                    ThreadsPerRow * RowsPerBlock % 32 == 0,
                "a block has whole warps and at most 1024 threads");
};

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
  FACT_DEVICE float apply(float a, float b) { return a > b || a != a ? a : b; }
};
struct NanMinimum {
  static constexpr float identity = INFINITY;
  FACT_DEVICE float apply(float a, float b) { return a < b || a != a ? a : b; }
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
    value = Operation::apply(value,
                             __shfl_xor_sync(0xffffffffu, value, distance));
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
  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t row, int column,
                        float *values) {
    load_vector<Count>(address(buffers, row, column), values);
  }
  template <int Count>
  FACT_DEVICE void store(void *const *buffers, int64_t row, int column,
                         float const *values) {
    store_vector<Count>(address(buffers, row, column), values);
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
  FACT_DEVICE void load(void *const *buffers, int64_t row, int,
                        float *values) {
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
// Normalisations: from a thread's values (0 where not valid) to the result.
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
    squares = row::reduce<row::Add, Schedule::threads_per_row>(squares,
                                                               scratch[0]);
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
    value = row::reduce<Operation, Schedule::threads_per_row>(value, scratch[0]);
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

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Extent, class Normalization, class Prologue, class InputList,
          class OperandList, class ResultList, class Schedule,
          class RowOperandList = Operands<>, class RowResultList = Results<>>
class Row;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    row_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Extent, class Normalization, class Prologue, class... Inputs,
          class... Tensors, class... List, class Schedule, class... RowTensors,
          class... RowList>
class Row<Extent, Normalization, Prologue, Operands<Inputs...>,
          Operands<Tensors...>, Results<List...>, Schedule,
          Operands<RowTensors...>, Results<RowList...>> {
  static constexpr int threads = Schedule::threads_per_row;
  static constexpr int vector = Schedule::vector;
  static constexpr int vectors =
      (Extent::columns + threads * vector - 1) / (threads * vector);
  static constexpr int count = vectors * vector;

  static_assert(threads <= 32 || Schedule::rows_per_block == 1,
                "a row of several warps takes a block of its own");
  static_assert(Extent::columns % vector == 0,
                "columns must be a multiple of the vector");
  static_assert(count <= 128, "more than 128 values a thread would spill: use "
                              "more threads for each row");
  template <class... All> static constexpr bool can_use_vector() {
    return (row::Access<All>::template can_use_vector<vector>() && ...);
  }
  static_assert(can_use_vector<Inputs..., Tensors..., typename List::Tensor...>(),
                "strides and offsets must be multiples of the vector");

public:
  static constexpr int buffer_count =
      count_buffers<Inputs..., Tensors..., typename List::Tensor...,
                    RowTensors..., typename RowList::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = threads * Schedule::rows_per_block;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    for (int i = 0; i < buffer_count; ++i) {
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks =
        (Extent::rows + Schedule::rows_per_block - 1) / Schedule::rows_per_block;
    static_assert(blocks < INT32_MAX, "too many rows for one grid");
    return launch_kernel(&row_kernel<Row>, dim3(unsigned(blocks)), dim3(1),
                         dim3(threads, Schedule::rows_per_block), 0, state,
                         stream);
  }

  FACT_DEVICE void run(State const &state) {
    __shared__ float scratch[2][32];
    int64_t row = int64_t(blockIdx.x) * Schedule::rows_per_block + threadIdx.y;
    // A warp of several rows stays together for its shuffles.
    bool in_range = row < Extent::rows;
    if (threads >= 32 && !in_range)
      return;

    float values[count];
    bool valid[count];
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      int column = (i * threads + threadIdx.x) * vector;
      bool inside = in_range && is_inside(column);
#pragma unroll
      for (int j = 0; j < vector; ++j) {
        values[i * vector + j] = 0.0f;
        valid[i * vector + j] = inside;
      }
      if (inside)
        load(state, row, column, &values[i * vector],
             std::index_sequence_for<Inputs...>{});
    }

    float normalized[count];
    Normalization::template apply<Schedule, Extent::columns>(
        values, valid, normalized, scratch);

#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      int column = (i * threads + threadIdx.x) * vector;
      if (sizeof...(List) > 0 && in_range && is_inside(column))
        store(state, row, column, &normalized[i * vector], &values[i * vector],
              std::index_sequence_for<Tensors...>{});
    }
    if (in_range && threadIdx.x == 0)
      (store_row<RowList>(state, row, normalized[0],
                          std::index_sequence_for<RowTensors...>{}),
       ...);
  }

private:
  /// Free where threads and vectors divide the columns.
  FACT_DEVICE bool is_inside(int column) {
    return count * threads == Extent::columns || column < Extent::columns;
  }

  template <size_t... I>
  FACT_DEVICE void load(State const &state, int64_t row, int column,
                        float *values, std::index_sequence<I...>) {
    float operands[sizeof...(Inputs)][vector];
    (row::Access<Inputs>::template load<vector>(state.buffers, row, column,
                                                operands[I]),
     ...);
#pragma unroll
    for (int j = 0; j < vector; ++j)
      values[j] = Prologue::apply(operands[I][j]...);
  }

  template <size_t... I>
  FACT_DEVICE void store(State const &state, int64_t row, int column,
                         float const *normalized, float const *values,
                         std::index_sequence<I...>) {
    float operands[sizeof...(Tensors) + 1][vector];
    (row::Access<Tensors>::template load<vector>(state.buffers, row, column,
                                                 operands[I]),
     ...);
    auto store_result = [&](auto result) {
      using Result = decltype(result);
      float outputs[vector];
#pragma unroll
      for (int j = 0; j < vector; ++j)
        outputs[j] =
            Result::Functor::apply(normalized[j], values[j], operands[I][j]...);
      row::Access<typename Result::Tensor>::template store<vector>(
          state.buffers, row, column, outputs);
    };
    (store_result(List{}), ...);
  }

  /// A result of one element a row, in the element's own type.
  template <class Result, size_t... I>
  FACT_DEVICE void store_row(State const &state, int64_t row, float reduced,
                             std::index_sequence<I...>) {
    float operands[sizeof...(RowTensors) + 1][1];
    (row::Access<RowTensors>::template load<1>(state.buffers, row, 0,
                                               operands[I]),
     ...);
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    static_cast<Element *>(state.buffers[Tensor::buffer])[Tensor::offset + row] =
        narrow<Element>(Result::Functor::apply(reduced, operands[I][0]...));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_ROW_CUH
