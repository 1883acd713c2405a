//===- Row.cuh - Normalizations, softmax and reductions of rows -*- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each row: v = prologue(operands...), statistics of v in fp32, n = v
// normalized (or, of a reduction, its one value), and for each result
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
// multiples of it. With `RowSchedule<threads, rows, vector, true>`, the rows of
// a block move through shared memory (RowTiles.cuh).
//
// A reduction (Sum, Mean, Max, Min, Product, ArgMax, ArgMin) may also have
// results of one element a row, with operands of their own. They follow the
// schedule:
//
//   // exp(max(x)) of each row, plus one value of each
//   struct RowEpilogue {
//     FACT_DEVICE float apply(float reduced, float y) { return expf(reduced) +
//     y; }
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

#include "RowTiles.cuh"

namespace fact {

template <int64_t Rows, int Columns> struct Extent {
  static constexpr int64_t rows = Rows;
  static constexpr int columns = Columns;
};

template <int ThreadsPerRow, int RowsPerBlock, int Vector, bool Staged = false>
struct RowSchedule {
  static constexpr int threads_per_row = ThreadsPerRow;
  static constexpr int rows_per_block = RowsPerBlock;
  static constexpr int vector = Vector;
  static constexpr bool staged = Staged;

  static_assert(
      !Staged || ThreadsPerRow < 32,
      "rows that share a warp stay together for the block's barriers");

  static_assert(ThreadsPerRow % 32 == 0 || 32 % ThreadsPerRow == 0,
                "threads per row must divide 32 or be a multiple of it");
  static_assert(ThreadsPerRow * RowsPerBlock <= 1024 &&
                    ThreadsPerRow * RowsPerBlock % 32 == 0,
                "a block has whole warps and at most 1024 threads");
};

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
  static_assert(
      can_use_vector<Inputs..., Tensors..., typename List::Tensor...>(),
      "strides and offsets must be multiples of the vector");

public:
  static constexpr int buffer_count =
      count_buffers<Inputs..., Tensors..., typename List::Tensor...,
                    RowTensors..., typename RowList::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = threads * Schedule::rows_per_block;

  static constexpr bool staged = Schedule::staged;
  using Tiles = row::Tiles<Extent, Schedule::rows_per_block, block_threads,
                           Inputs..., typename List::Tensor...>;
  static constexpr int shared_bytes = staged ? Tiles::bytes : 0;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    for (int i = 0; i < buffer_count; ++i) {
      if ((vector > 1 || staged) && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = (Extent::rows + Schedule::rows_per_block - 1) /
                               Schedule::rows_per_block;
    static_assert(blocks < INT32_MAX, "too many rows for one grid");
    return launch_kernel(&row_kernel<Row>, dim3(unsigned(blocks)), dim3(1),
                         dim3(threads, Schedule::rows_per_block), shared_bytes,
                         state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    __shared__ float scratch[2][32];
    int64_t row = int64_t(blockIdx.x) * Schedule::rows_per_block + threadIdx.y;
    // A warp of several rows stays together for its shuffles.
    bool in_range = row < Extent::rows;
    if (threads >= 32 && !in_range)
      return;
    if constexpr (staged) {
      copy_tiles<false, 0>(state, Operands<Inputs...>{},
                           std::index_sequence_for<Inputs...>{});
      __syncthreads();
    }

    float values[count];
    bool valid[count];
    HeldInputs<std::index_sequence_for<Inputs...>> held;
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      int column = (i * threads + threadIdx.x) * vector;
      bool inside = in_range && is_inside(i, column);
#pragma unroll
      for (int j = 0; j < vector; ++j) {
        values[i * vector + j] = 0.0f;
        valid[i * vector + j] = inside;
      }
      if (inside)
        load(state, row, column, i * vector, held, &values[i * vector],
             std::index_sequence_for<Inputs...>{});
    }

    float normalized[count];
    Normalization::template apply<Schedule, Extent::columns>(
        values, valid, normalized, scratch);

#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      int column = (i * threads + threadIdx.x) * vector;
      if (sizeof...(List) > 0 && in_range && is_inside(i, column))
        store(state, row, column, i * vector, held, &normalized[i * vector],
              &values[i * vector], std::index_sequence_for<Tensors...>{},
              std::index_sequence_for<List...>{});
    }
    if constexpr (staged && sizeof...(List) > 0) {
      __syncthreads();
      copy_tiles<true, sizeof...(Inputs)>(state,
                                          Operands<typename List::Tensor...>{},
                                          std::index_sequence_for<List...>{});
    }
    if (in_range && threadIdx.x == 0)
      (store_row<RowList>(state, row, normalized[0],
                          std::index_sequence_for<RowTensors...>{}),
       ...);
  }

private:
  FACT_DEVICE char *tiles() {
    extern __shared__ __align__(16) char row_memory[];
    return row_memory;
  }
  template <bool Stores, size_t First, class... All, size_t... I>
  FACT_DEVICE void copy_tiles(State const &state, Operands<All...>,
                              std::index_sequence<I...>) {
    (Tiles::template copy<Stores, First + I, All>(tiles(), state.buffers), ...);
  }
  template <class Tensor> static constexpr bool is_staged() {
    return staged && is_row_major<Tensor>::value;
  }

  /// Whether the thread has vector `i`. Free but for the last ones.
  FACT_DEVICE bool is_inside(int i, int column) {
    return (i + 1) * threads * vector <= Extent::columns ||
           column < Extent::columns;
  }

  /// An input that results need too stays in registers, in its own type: the
  /// compiler would read it again after a barrier.
  template <class Input> static constexpr bool is_held() {
    return is_row_major<Input>::value &&
           (false || ... || std::is_same_v<Input, Tensors>);
  }
  template <size_t I, class Input> struct HeldInput {
    typename Input::Element values[is_held<Input>() ? count : 1];
  };
  template <class Numbers> struct HeldInputs;
  template <size_t... I>
  struct HeldInputs<std::index_sequence<I...>> : HeldInput<I, Inputs>... {};

  template <size_t I, class Input>
  FACT_DEVICE void load_input(State const &state, int64_t row, int column,
                              int first, HeldInput<I, Input> &held,
                              float *values) {
    using Access = row::Access<Input>;
    if constexpr (is_staged<Input>()) {
      auto const *tile = Tiles::template address<I, Input>(tiles(), column);
#pragma unroll
      for (int j = 0; j < vector; ++j) {
        if constexpr (is_held<Input>())
          held.values[first + j] = tile[j];
        values[j] = widen(tile[j]);
      }
    } else if constexpr (is_held<Input>()) {
      load_elements<vector, Input::is_streamed>(
          Access::address(state.buffers, row, column), &held.values[first]);
#pragma unroll
      for (int j = 0; j < vector; ++j)
        values[j] = widen(held.values[first + j]);
    } else {
      Access::template load<vector>(state.buffers, row, column, values);
    }
  }

  template <class Input, size_t I>
  FACT_DEVICE typename Input::Element const *
  get_held(HeldInput<I, Input> const &held) {
    return held.values;
  }
  template <class Tensor, class Held>
  FACT_DEVICE void load_operand(State const &state, int64_t row, int column,
                                int first, Held const &held, float *values) {
    if constexpr (is_row_major<Tensor>::value &&
                  (false || ... || std::is_same_v<Tensor, Inputs>)) {
#pragma unroll
      for (int j = 0; j < vector; ++j)
        values[j] = widen(get_held<Tensor>(held)[first + j]);
    } else {
      row::Access<Tensor>::template load<vector>(state.buffers, row, column,
                                                 values);
    }
  }

  template <class Held, size_t... I>
  FACT_DEVICE void load(State const &state, int64_t row, int column, int first,
                        Held &held, float *values, std::index_sequence<I...>) {
    float operands[sizeof...(Inputs)][vector];
    (load_input<I, Inputs>(state, row, column, first, held, operands[I]), ...);
#pragma unroll
    for (int j = 0; j < vector; ++j)
      values[j] = Prologue::apply(operands[I][j]...);
  }

  template <class Held, size_t... I, size_t... R>
  FACT_DEVICE void store(State const &state, int64_t row, int column, int first,
                         Held const &held, float const *normalized,
                         float const *values, std::index_sequence<I...>,
                         std::index_sequence<R...>) {
    float operands[sizeof...(Tensors) + 1][vector];
    (load_operand<Tensors>(state, row, column, first, held, operands[I]), ...);
    auto store_result = [&](auto result, auto number) {
      using Result = decltype(result);
      using Tensor = typename Result::Tensor;
      float outputs[vector];
#pragma unroll
      for (int j = 0; j < vector; ++j)
        outputs[j] =
            Result::Functor::apply(normalized[j], values[j], operands[I][j]...);
      if constexpr (is_staged<Tensor>()) {
        auto *tile = Tiles::template address<decltype(number)::value, Tensor>(
            tiles(), column);
#pragma unroll
        for (int j = 0; j < vector; ++j)
          tile[j] = narrow<typename Tensor::Element>(outputs[j]);
      } else {
        row::Access<Tensor>::template store<vector>(state.buffers, row, column,
                                                    outputs);
      }
    };
    (store_result(List{},
                  std::integral_constant<size_t, sizeof...(Inputs) + R>{}),
     ...);
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
    static_cast<Element *>(
        state.buffers[Tensor::buffer])[Tensor::offset + row] =
        narrow<Element>(Result::Functor::apply(reduced, operands[I][0]...));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_ROW_CUH
