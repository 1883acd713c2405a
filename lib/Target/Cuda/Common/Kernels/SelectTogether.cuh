//===- SelectTogether.cuh - One place of long rows -------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The place at `Count` - 1 of each row in ascending or descending order, as a
// median is, where rows are few and long.
//
//   // the median of 2^24 elements
//   #include "fact/cutlass/SelectTogether.cuh"
//
//   namespace fact::sort_0 {
//   using Kernel =
//       SelectTogether<RowsOf<1, 16777216, 1>, f32, 8388608,
//                      /*Descending=*/false,
//                      SelectSchedule<512, 1, 264>>;  // threads, rows, splits
//   FACT_KERNEL(sort_0, Kernel)
//   } // namespace fact::sort_0
//
// As in Select.cuh, a pass counts keys by 8 of their bits, but all blocks of a
// row add their counts in the workspace. The block that is last chooses the
// next bits of the row's limit, and each pass is a launch.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SELECTTOGETHER_CUH
#define FACT_CUTLASS_SELECTTOGETHER_CUH

#include "Select.cuh"

namespace fact {

template <class Kernel>
__global__ void __launch_bounds__(256)
    begin_rows_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::begin_rows(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    count_digits_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::count_digits(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    find_place_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::find_place(state);
}

template <class Rows, class Element, int64_t Count, bool Descending,
          class Schedule>
class SelectTogether {
  static constexpr int splits = Schedule::splits, rows = Schedule::rows;
  using Parts = ElementSource<Rows, Element, Descending, splits>;
  using Keys = typename Parts::Keys;
  using Key = typename Parts::Key;
  static constexpr int vector = Parts::vector;
  static constexpr int digit_stride = digits + 1;
  static constexpr int begin_threads = 256;
  static constexpr int64_t blocks = (Parts::count + rows - 1) / rows;
  static_assert(blocks < INT32_MAX, "too many rows for one grid");

  /// What is known of a row.
  struct Row {
    Key limit;
    /// The place among the keys that agree with `limit`, counted from 1.
    unsigned wanted;
    unsigned finished_parts;
    int shift;
    bool is_open;
    unsigned digits[fact::digits];
  };

public:
  static constexpr int buffer_count = 2;
  static constexpr uint64_t workspace_bytes = Rows::count * sizeof(Row);
  static constexpr int block_threads = Schedule::threads * rows;

  struct State {
    Element const *input;
    int64_t *output;
    Row *rows;
    int shift;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    state = {static_cast<Element const *>(buffers[0]),
             static_cast<int64_t *>(buffers[1]), static_cast<Row *>(workspace),
             0};
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t begin_blocks =
        (Rows::count * digits + begin_threads - 1) / begin_threads;
    static_assert(begin_blocks < INT32_MAX, "too many rows for one grid");
    int error = launch_kernel(&begin_rows_kernel<SelectTogether>,
                              dim3(unsigned(begin_blocks)), dim3(1),
                              dim3(begin_threads), 0, state, stream);
    for (int pass = 0; pass < max_passes<Parts> && !error; ++pass) {
      State next = state;
      next.shift = get_shift<Parts>(pass);
      error = launch_kernel(&count_digits_kernel<SelectTogether>,
                            dim3(unsigned(blocks)), dim3(1),
                            dim3(block_threads), 0, next, stream);
    }
    if (error)
      return error;
    return launch_kernel(&find_place_kernel<SelectTogether>,
                         dim3(unsigned(blocks)), dim3(1), dim3(block_threads),
                         0, state, stream);
  }

  FACT_DEVICE void begin_rows(State const &state) {
    int64_t const index = int64_t(blockIdx.x) * begin_threads + threadIdx.x;
    if (index >= Rows::count * digits)
      return;
    Row &row = state.rows[index / digits];
    row.digits[index % digits] = 0;
    if (index % digits == 0) {
      row.limit = 0;
      row.wanted = unsigned(Count);
      row.finished_parts = 0;
      row.shift = 0;
      row.is_open = true;
    }
  }

  FACT_DEVICE void count_digits(State const &state) {
    __shared__ unsigned counters[rows * digit_stride];
    __shared__ bool is_last[rows];
    Parts const parts{state.input};
    int64_t const first = int64_t(blockIdx.x) * rows;
    for (int i = threadIdx.x; i < rows * digit_stride; i += block_threads)
      counters[i] = 0;
    __syncthreads();
    Share const share;
    if (share.part < Parts::count) {
      Row const &row = state.rows[parts.get_row(share.part)];
      Key const limit = row.limit;
      int const shift = state.shift;
      unsigned *own = counters + share.slot * digit_stride;
      if (row.is_open)
        for_each(parts, share, [&](Key key) {
          if ((key ^ limit) >> shift >> digit_bits == 0)
            atomicAdd(&own[unsigned(key >> shift) & (digits - 1)], 1u);
        });
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * digits; i += block_threads) {
      unsigned const count = counters[i / digits * digit_stride + i % digits];
      // Parts past the end have counted nothing.
      if (count)
        atomicAdd(
            &state.rows[parts.get_row(first + i / digits)].digits[i % digits],
            count);
    }
    // The counts are there before the block is among the finished.
    __threadfence();
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += block_threads) {
      is_last[i] = false;
      if (first + i < Parts::count) {
        Row &row = state.rows[parts.get_row(first + i)];
        is_last[i] =
            row.is_open && atomicAdd(&row.finished_parts, 1u) == splits - 1;
      }
    }
    __syncthreads();
    for (int i = threadIdx.x / 32; i < rows; i += block_threads / 32)
      if (is_last[i])
        choose_digit(state.rows[parts.get_row(first + i)], state.shift);
  }

  FACT_DEVICE void find_place(State const &state) {
    Parts const parts{state.input};
    Share const share;
    if (share.part >= Parts::count)
      return;
    int64_t const index = parts.get_row(share.part);
    int const shift = state.rows[index].shift;
    Key const limit = state.rows[index].limit >> shift;
    for_each(parts, share, [&](Key key) {
      if (key >> shift == limit)
        state.output[index] = Keys::get_place(key);
    });
  }

private:
  /// What a thread has to do with: a part, its slot in the block, and every
  /// so many of its elements from `lane` on.
  struct Share {
    int slot, lane;
    int64_t part;

    __device__ __forceinline__ Share()
        : slot(int(Parts::across ? threadIdx.x % rows
                                 : threadIdx.x / Schedule::threads)),
          lane(int(Parts::across ? threadIdx.x / rows
                                 : threadIdx.x % Schedule::threads)),
          part(int64_t(blockIdx.x) * rows + slot) {}
  };

  template <class Function>
  FACT_DEVICE void for_each(Parts const &parts, Share const &share,
                            Function &&function) {
    int64_t const length = parts.get_length(share.part);
    for (int64_t place = int64_t(share.lane) * vector; place < length;
         place += int64_t(Schedule::threads) * vector) {
      typename Parts::Held held[vector];
      parts.load(share.part, place, held);
#pragma unroll
      for (int i = 0; i < vector; ++i)
        function(parts.make_key(share.part, held[i], place + i));
    }
  }

  /// One warp, after all blocks have added their counts, which are in the cache
  /// that they share.
  FACT_DEVICE void choose_digit(Row &row, int shift) {
    __threadfence();
    struct Counters {
      unsigned const *counters;
      __device__ unsigned operator[](int i) const {
        return __ldcg(counters + i);
      }
    };
    FoundDigit found;
    if (find_digit(Counters{row.digits}, row.wanted, found)) {
      row.limit |= Key(unsigned(found.digit)) << shift;
      row.wanted -= found.below;
      row.shift = shift;
      row.is_open = found.count != 1;
      row.finished_parts = 0;
    }
    __syncwarp();
    for (int i = threadIdx.x % 32; i < digits; i += 32)
      row.digits[i] = 0;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SELECTTOGETHER_CUH
