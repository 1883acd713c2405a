//===- ScanRows.cuh - Running reductions -----------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element i of a row is the reduction of what `Prologue` gives for its elements
// 0 to i. Results are pointwise functions of it and of other operands. Rows lie
// along the middle of [outer, length, inner]; tensors have strides of outer,
// inner and length.
//
//   // logarithms of running sums of exponentials of 4096 rows
//   #include "fact/cutlass/ScanRows.cuh"
//
//   namespace fact::scan_0 {
//   struct Prologue {
//     FACT_DEVICE float apply(float x) { return expf(x); }
//   };
//   struct Epilogue {
//     FACT_DEVICE float apply(float scanned) { return logf(scanned); }
//   };
//   using Kernel = ScanRows<
//       RowsOf<4096, 1000, 1>, float, RunningSum, Prologue,
//       Operands<Strided<0, f32, Strides<1000, 0, 1>>>,  // of the prologue
//       Operands<>,                                      // of results
//       Results<Result<Epilogue, Strided<1, f32, Strides<1000, 0, 1>>>>,
//       ScanSchedule<128, 1, 4>>;  // lanes, splits, vector
//   FACT_KERNEL(scan_0, Kernel)
//   } // namespace fact::scan_0
//
// `lanes` threads share a row and take eight elements each at a time; the
// result of all before them is carried on. Of contiguous rows, neighbors take
// neighboring vectors, one after the other, and are scanned by shuffles. Where
// there are too few rows to fill the machine, `splits` blocks share a row: a
// first kernel reduces what each has, and the second starts from what is before
// it. All is combined in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCANROWS_CUH
#define FACT_CUTLASS_SCANROWS_CUH

#include "ReductionStages.cuh"

namespace fact {

template <int Lanes, int Splits, int Vector> struct ScanSchedule {
  static constexpr int threads = 256, lanes = Lanes, splits = Splits;
  /// Elements per access.
  static constexpr int vector = Vector;
  static_assert((Lanes & (Lanes - 1)) == 0 && Lanes <= threads,
                "lanes are a power of two");
};

template <class Rows, class Value, class Operation, class Prologue,
          class InputList, class OperandList, class ResultList, class Schedule>
class ScanRows;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scan_totals_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::template run<true>(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scan_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::template run<false>(state);
}

template <class Rows, class Value, class Operation, class Prologue,
          class... Inputs, class... Tensors, class... List, class Schedule>
class ScanRows<Rows, Value, Operation, Prologue, Operands<Inputs...>,
               Operands<Tensors...>, Results<List...>, Schedule> {
  static constexpr int threads = Schedule::threads;
  static constexpr int lanes = Schedule::lanes;
  static constexpr int splits = Schedule::splits;
  static constexpr int vector = Schedule::vector;
  static constexpr int slots = threads / lanes;
  static constexpr int items = 8;
  static constexpr int64_t tile = lanes * items;
  static constexpr bool contiguous = Rows::inner == 1;
  /// Neighbors of a row that a thread has, and how many such parts of a tile.
  static constexpr int run_length = contiguous ? vector : items;
  static constexpr int parts = items / run_length;
  /// Lanes of one warp, and warps, that share a row.
  static constexpr int width = lanes < 32 ? lanes : 32;
  static constexpr int warps = lanes / width;
  static constexpr int64_t groups = (Rows::count + slots - 1) / slots;
  /// Elements per split: whole tiles.
  static constexpr int64_t chunk =
      ((Rows::length + splits - 1) / splits + tile - 1) / tile * tile;

  static_assert(vector == 1 || (Rows::inner == 1 && Rows::length % vector == 0),
                "vectors need contiguous rows of whole vectors");

public:
  static constexpr int buffer_count =
      count_buffers<Inputs..., Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes =
      splits > 1 ? uint64_t(Rows::count) * splits * sizeof(Value) : 0;
  static constexpr int block_threads = threads;

  struct State {
    void *buffers[buffer_count];
    Value *totals;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    for (int i = 0; i < buffer_count; ++i) {
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    state.totals = static_cast<Value *>(workspace);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    static_assert(groups * splits < INT32_MAX, "too many rows for one grid");
    dim3 const grid(unsigned(groups * splits));
    if constexpr (splits > 1)
      if (int error = launch_kernel(&scan_totals_kernel<ScanRows>, grid,
                                    dim3(1), dim3(threads), 0, state, stream))
        return error;
    return launch_kernel(&scan_kernel<ScanRows>, grid, dim3(1), dim3(threads),
                         0, state, stream);
  }

  template <bool TotalsOnly> FACT_DEVICE void run(State const &state) {
    __shared__ Value scratch[2][threads];
    int64_t const split = blockIdx.x % splits;
    // Neighboring threads read neighboring elements.
    int const lane = contiguous ? threadIdx.x % lanes : threadIdx.x / slots;
    int const slot = contiguous ? threadIdx.x / lanes : threadIdx.x % slots;
    int64_t const row = int64_t(blockIdx.x / splits) * slots + slot;
    bool const active = row < Rows::count;
    int64_t const safe = active ? row : 0;
    Where const where{safe / Rows::inner, safe % Rows::inner};

    Value carry = Operation::template identity<Value>();
    if (!TotalsOnly && splits > 1 && active)
      for (int64_t before = 0; before < split; ++before)
        carry = Operation::apply(carry, state.totals[row * splits + before]);

    int64_t const end =
        (split + 1) * chunk < Rows::length ? (split + 1) * chunk : Rows::length;
    int buffer = 0;
    for (int64_t first = split * chunk; first < end;
         first += tile, buffer ^= 1) {
      Value values[items], before[parts];
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        Value *run = values + part * run_length;
        load(state, where, active ? get_place(first, part, lane) : end, end,
             run, std::index_sequence_for<Inputs...>{});
#pragma unroll
        for (int i = 1; i < run_length; ++i)
          run[i] = Operation::apply(run[i - 1], run[i]);
        before[part] = run[run_length - 1];
      }
      if constexpr (contiguous)
        scan_warps(scratch[buffer], before, carry, lane, slot);
      else
        scan_lanes(scratch, before[0], carry, lane, slot);
      if (TotalsOnly || !active)
        continue;
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        Value *run = values + part * run_length;
#pragma unroll
        for (int i = 0; i < run_length; ++i)
          run[i] = Operation::apply(before[part], run[i]);
        store(state, where, get_place(first, part, lane), end, run,
              std::index_sequence_for<Tensors...>{});
      }
    }
    if (TotalsOnly && active && lane == 0)
      state.totals[row * splits + split] = carry;
  }

private:
  struct Where {
    int64_t outer, inner;
  };

  template <class Tensor>
  FACT_DEVICE int64_t get_offset(Where where, int64_t place) {
    return reduction::offset_of<Tensor>(where.outer, where.inner, place);
  }

  FACT_DEVICE int64_t get_place(int64_t first, int part, int lane) {
    return first + (part * lanes + lane) * run_length;
  }

  /// Turns the reduction of each part of a lane into that of all before it, and
  /// carries that of all on. Lanes are neighbors in warps. Calls alternate
  /// between two `scratch`, so that one barrier is enough.
  FACT_DEVICE void scan_warps(Value (&scratch)[threads], Value (&values)[parts],
                              Value &carry, int lane, int slot) {
    constexpr unsigned all = 0xffffffffu;
    static_assert(parts * warps * slots <= threads || warps == 1,
                  "totals of warps fit scratch");
    int const place = lane % width, warp = lane / width;
    Value totals[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      Value value = values[part];
#pragma unroll
      for (int distance = 1; distance < width; distance *= 2) {
        Value other = __shfl_up_sync(all, value, distance, width);
        if (place >= distance)
          value = Operation::apply(other, value);
      }
      totals[part] = __shfl_sync(all, value, width - 1, width);
      Value other = __shfl_up_sync(all, value, 1, width);
      values[part] = place > 0 ? other : Operation::template identity<Value>();
    }
    if constexpr (warps > 1) {
      if (place == 0)
#pragma unroll
        for (int part = 0; part < parts; ++part)
          scratch[(part * warps + warp) * slots + slot] = totals[part];
      __syncthreads();
    }
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      Value before = carry;
      if constexpr (warps > 1) {
#pragma unroll
        for (int other = 0; other < warps; ++other) {
          before = other == warp ? carry : before;
          carry = Operation::apply(
              carry, scratch[(part * warps + other) * slots + slot]);
        }
      } else {
        carry = Operation::apply(carry, totals[part]);
      }
      values[part] = Operation::apply(before, values[part]);
    }
  }

  /// The same for one part and lanes anywhere in the block. Ends with all reads
  /// of `scratch` done.
  FACT_DEVICE void scan_lanes(Value (&scratch)[2][threads], Value &value,
                              Value &carry, int lane, int slot) {
    int current = 0;
    scratch[0][lane * slots + slot] = value;
    __syncthreads();
#pragma unroll
    for (int distance = 1; distance < lanes; distance *= 2) {
      if (lane >= distance)
        value = Operation::apply(
            scratch[current][(lane - distance) * slots + slot], value);
      current ^= 1;
      scratch[current][lane * slots + slot] = value;
      __syncthreads();
    }
    Value const total = scratch[current][(lanes - 1) * slots + slot];
    value = lane > 0 ? scratch[current][(lane - 1) * slots + slot]
                     : Operation::template identity<Value>();
    value = Operation::apply(carry, value);
    carry = Operation::apply(carry, total);
    __syncthreads();
  }

  /// What the prologue gives for a run from `place` on; past `end`, what
  /// changes nothing.
  template <size_t... I>
  FACT_DEVICE void load(State const &state, Where where, int64_t place,
                        int64_t end, Value *values, std::index_sequence<I...>) {
#pragma unroll
    for (int i = 0; i < run_length; i += vector) {
      if (place + i >= end) {
#pragma unroll
        for (int j = 0; j < vector; ++j)
          values[i + j] = Operation::template identity<Value>();
        continue;
      }
      reduction::Slots<vector, typename Inputs::Element...> loaded;
      (reduction::load<Inputs, vector>(state.buffers,
                                       get_offset<Inputs>(where, place + i),
                                       reduction::get<I>(loaded)),
       ...);
#pragma unroll
      for (int j = 0; j < vector; ++j)
        values[i + j] =
            Value(Prologue::apply(widen(reduction::get<I>(loaded)[j])...));
    }
  }

  template <size_t... I>
  FACT_DEVICE void store(State const &state, Where where, int64_t place,
                         int64_t end, Value const *values,
                         std::index_sequence<I...>) {
#pragma unroll
    for (int i = 0; i < run_length; i += vector) {
      if (place + i >= end)
        continue;
      reduction::Slots<vector, typename Tensors::Element...> loaded;
      (reduction::load<Tensors, vector>(state.buffers,
                                        get_offset<Tensors>(where, place + i),
                                        reduction::get<I>(loaded)),
       ...);
      auto store_result = [&](auto result) {
        using Tensor = typename decltype(result)::Tensor;
        using Functor = typename decltype(result)::Functor;
        decltype(Functor::apply(
            values[0], widen(reduction::get<I>(loaded)[0])...)) results[vector];
#pragma unroll
        for (int j = 0; j < vector; ++j)
          results[j] = Functor::apply(values[i + j],
                                      widen(reduction::get<I>(loaded)[j])...);
        reduction::store<Tensor, vector>(
            state.buffers, get_offset<Tensor>(where, place + i), results);
      };
      (store_result(List{}), ...);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCANROWS_CUH
