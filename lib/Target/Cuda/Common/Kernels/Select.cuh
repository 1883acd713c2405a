//===- Select.cuh - The first places of rows, without a sort ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first `Count` places of each row in ascending or descending order, or
// only the last of these. Rows lie along the middle of [outer, length, inner];
// elements are compared as integers that are above their places (SortKeys.cuh).
//
//   // the 50 largest of each row
//   #include "fact/cutlass/Select.cuh"
//
//   namespace fact::sort_0 {
//   using Kernel = Select<RowsOf<512, 20000, 1>, f32, 50, /*Descending=*/true,
//                         /*OnlyLast=*/false,
//                         SelectSchedule<256, 1, 1>>;  // threads, rows, splits
//   FACT_KERNEL(sort_0, Kernel)
//   } // namespace fact::sort_0
//
// A pass counts the keys of each row by 8 of their bits, from the highest on,
// among the keys that agree with the last one that is wanted in the bits above.
// It ends as soon as all of those with these bits are wanted. The keys that are
// wanted are then collected, and sorted in shared memory. Rows that a block's
// registers can hold are read once.
//
// With splits, a row's parts are rows first. The keys that each of them
// collects are the row of a second kernel. For the last place alone see
// SelectTogether.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SELECT_CUH
#define FACT_CUTLASS_SELECT_CUH

#include "SortKeys.cuh"

namespace fact {

/// Threads of a row, rows of a block, and parts of a row.
template <int Threads, int Rows, int Splits> struct SelectSchedule {
  static constexpr int threads = Threads, rows = Rows, splits = Splits;
  static_assert(Threads * Rows % 32 == 0 && Threads * Rows <= 1024,
                "a block has whole warps");
};

//===----------------------------------------------------------------------===//
// Sources of keys
//===----------------------------------------------------------------------===//

/// The parts of rows of elements. `Vector` neighbors are read at once.
template <class Rows, class Element, bool Descending, int Splits>
struct ElementSource {
  using Keys = SortKeys<Element, Rows::length, Descending>;
  using Key = typename Keys::Key;
  /// What a thread keeps of an element, and the bits of its key below that.
  using Held = typename Keys::Order;
  static constexpr int held_shift = Keys::place_bits;
  /// The bits of keys: places are below the order.
  static constexpr int order_bits = Keys::order_bits;
  static constexpr int place_bits = Keys::place_bits;
  static constexpr int64_t length = (Rows::length + Splits - 1) / Splits;
  static constexpr int64_t count = Rows::count * Splits;
  /// Whether neighbors in memory are of different rows.
  static constexpr bool across = Rows::inner > 1;
  static constexpr int count_vector() {
    int size = sizeof(Element) > 1 ? 16 / int(sizeof(Element)) : 8;
    while (size > 1 && (across || Rows::length % size || length % size))
      size /= 2;
    return size;
  }
  static constexpr int vector = count_vector();

  Element const *elements;

  /// Rows next to each other in memory are neighbors, whatever the split.
  __device__ __forceinline__ int64_t get_row(int64_t part) const {
    return Splits > 1 ? part % Rows::count : part;
  }
  __device__ __forceinline__ int64_t get_begin(int64_t part) const {
    return Splits > 1 ? part / Rows::count * length : 0;
  }
  /// How many elements a part has.
  __device__ __forceinline__ int64_t get_length(int64_t part) const {
    int64_t const rest = Rows::length - get_begin(part);
    return rest < length ? rest : length;
  }
  __device__ __forceinline__ void load(int64_t part, int64_t place,
                                       Held *held) const {
    Element values[vector];
    load_elements<vector>(elements + Rows::begin(get_row(part)) +
                              (get_begin(part) + place) * Rows::inner,
                          values);
#pragma unroll
    for (int i = 0; i < vector; ++i)
      held[i] = Keys::get_order(values[i]);
  }
  __device__ __forceinline__ Key make_key(int64_t part, Held held,
                                          int64_t place) const {
    return Keys::make(held, get_begin(part) + place);
  }
};

/// The keys that the parts of rows have left.
template <class Parts, int64_t Count, int64_t RowCount, int Splits>
struct KeySource {
  using Keys = typename Parts::Keys;
  using Key = typename Parts::Key;
  using Held = Key;
  static constexpr int held_shift = 0;
  static constexpr int order_bits = Parts::order_bits;
  static constexpr int place_bits = Parts::place_bits;
  static constexpr int64_t length = Count * Splits, count = RowCount;
  static constexpr bool across = false;
  static constexpr int vector = 1;

  Key const *keys;

  __device__ __forceinline__ int64_t get_length(int64_t) const {
    return length;
  }
  __device__ __forceinline__ void load(int64_t row, int64_t place,
                                       Held *held) const {
    *held = keys[(place / Count * RowCount + row) * Count + place % Count];
  }
  __device__ __forceinline__ Key make_key(int64_t, Held held, int64_t) const {
    return held;
  }
};

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

static constexpr int digit_bits = 8, digits = 1 << digit_bits;

/// Passes over a source's keys. Keys are different, so a row ends with the last
/// bits, if not before.
template <class Source>
constexpr int max_passes =
    (Source::order_bits + Source::place_bits) / digit_bits;

/// The bits below those that a pass counts by.
template <class Source> __host__ __device__ constexpr int get_shift(int pass) {
  return digit_bits * (max_passes<Source> - 1 - pass);
}

struct FoundDigit {
  int digit;
  /// Keys with smaller digits, and with this one.
  unsigned below, count;
};

/// One warp finds the digit of key `wanted`, counted from 1. Returns whether
/// this lane has found it; the others have then read what they need.
template <class Counters>
__device__ __forceinline__ bool find_digit(Counters counters, unsigned wanted,
                                           FoundDigit &found) {
  constexpr int each = digits / 32;
  int const lane = int(threadIdx.x % 32);
  unsigned counts[each], sum = 0;
#pragma unroll
  for (int i = 0; i < each; ++i)
    sum += counts[i] = counters[lane * each + i];
  unsigned below = sum;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    unsigned const other = __shfl_up_sync(0xffffffffu, below, distance);
    if (lane >= distance)
      below += other;
  }
  below -= sum;
  if (below >= wanted || below + sum < wanted)
    return false;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    if (below < wanted && below + counts[i] >= wanted)
      found = {lane * each + i, below, counts[i]};
    below += counts[i];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// What one block does: `Rows` rows, each by `Threads` threads.
template <class Source, int64_t Count, bool OnlyLast, int Threads, int Rows>
class Selection {
  using Key = typename Source::Key;
  using Held = typename Source::Held;
  /// With room for a step past the end.
  using Place = std::conditional_t < Source::length<(1 << 30), int, int64_t>;
  static constexpr int vector = Source::vector;
  static constexpr int block_threads = Threads * Rows;
  /// Rows' counters of one digit are in different banks.
  static constexpr int digit_stride = digits + 1;
  static constexpr int64_t steps =
      (Source::length + int64_t(Threads) * vector - 1) / (Threads * vector);
  /// As much as registers hold without spills.
  static constexpr bool is_held =
      steps * vector * sizeof(Held) <= (block_threads > 512 ? 64 : 128);
  static constexpr int held_steps = is_held ? int(steps) : 1;

  static constexpr int64_t count_padded() {
    int64_t size = 1;
    while (size < Count)
      size *= 2;
    return OnlyLast ? 0 : size;
  }

public:
  static constexpr int padded = int(count_padded());

  struct Memory {
    /// Keys that are wanted.
    Key chosen[Rows * (padded ? padded : 1)];
    /// The last key that is wanted, in its bits from `shift` on.
    Key limit[Rows];
    unsigned digits[Rows * digit_stride];
    /// Of the keys that agree with `limit`, how many are wanted.
    unsigned wanted[Rows];
    unsigned collected[Rows];
    int shift[Rows];
    /// Whether a row needs another pass.
    bool is_open[Rows];
  };

  __device__ __forceinline__ Selection(Source const &source, Memory &memory)
      : source(source), memory(memory),
        row(int(Source::across ? threadIdx.x % Rows : threadIdx.x / Threads)),
        lane(int(Source::across ? threadIdx.x / Rows : threadIdx.x % Threads)),
        global_row(int64_t(blockIdx.x) * Rows + row),
        length(global_row < Source::count ? Place(source.get_length(global_row))
                                          : 0) {
    if constexpr (is_held) {
#pragma unroll
      for (int step = 0; step < held_steps; ++step)
        if (get_place(step, 0) < length)
          source.load(global_row, get_place(step, 0), held + step * vector);
    }
  }

  /// Leaves the keys that are wanted in `memory.chosen`, in order.
  __device__ __forceinline__ void choose() {
    find_limits();
    for (int i = threadIdx.x; i < Rows * padded; i += block_threads)
      memory.chosen[i] = Source::Keys::last;
    __syncthreads();
    int const shift = memory.shift[row];
    Key const limit = memory.limit[row] >> shift;
    for_each_key([&](Key key) {
      if (key >> shift <= limit)
        memory.chosen[row * padded + atomicAdd(&memory.collected[row], 1u)] =
            key;
    });
    __syncthreads();
    sort_chosen();
  }

  /// Visits the last key that is wanted, in one thread per row.
  template <class Function>
  __device__ __forceinline__ void choose_last(Function &&function) {
    find_limits();
    int const shift = memory.shift[row];
    Key const limit = memory.limit[row] >> shift;
    for_each_key([&](Key key) {
      if (key >> shift == limit)
        function(global_row, key);
    });
  }

private:
  __device__ __forceinline__ Place get_place(Place step, int item) const {
    return (step * Threads + lane) * vector + item;
  }

  /// The thread's elements and their places. Lengths are whole vectors.
  template <class Function>
  __device__ __forceinline__ void for_each(Function &&function) {
    if constexpr (is_held) {
#pragma unroll
      for (int step = 0; step < held_steps; ++step)
        if (get_place(step, 0) < length) {
#pragma unroll
          for (int item = 0; item < vector; ++item)
            function(held[step * vector + item], get_place(step, item));
        }
    } else {
      // Several loads are on their way at once.
      constexpr int batch = vector < 8 ? 8 / vector : 2;
      for (Place begin = 0; get_place(begin, 0) < length; begin += batch) {
        Held loaded[batch * vector];
#pragma unroll
        for (int step = 0; step < batch; ++step)
          if (get_place(begin + step, 0) < length)
            source.load(global_row, get_place(begin + step, 0),
                        loaded + step * vector);
#pragma unroll
        for (int step = 0; step < batch; ++step)
          if (get_place(begin + step, 0) < length) {
#pragma unroll
            for (int item = 0; item < vector; ++item)
              function(loaded[step * vector + item],
                       get_place(begin + step, item));
          }
      }
    }
  }
  template <class Function>
  __device__ __forceinline__ void for_each_key(Function &&function) {
    for_each([&](Held held, Place place) {
      function(source.make_key(global_row, held, place));
    });
  }

  __device__ __forceinline__ void find_limits() {
    for (int i = threadIdx.x; i < Rows; i += block_threads) {
      int64_t const index = int64_t(blockIdx.x) * Rows + i;
      int64_t const length =
          index < Source::count ? source.get_length(index) : 0;
      memory.limit[i] = 0;
      memory.wanted[i] = unsigned(length < Count ? length : Count);
      memory.collected[i] = 0;
      memory.shift[i] = 0;
      memory.is_open[i] = length > 0;
    }
    for (int pass = 0; pass < max_passes<Source>; ++pass) {
      int const shift = get_shift<Source>(pass);
      for (int i = threadIdx.x; i < Rows * digit_stride; i += block_threads)
        memory.digits[i] = 0;
      __syncthreads();
      if (memory.is_open[row])
        count_digits(shift);
      __syncthreads();
      bool goes_on = false;
      for (int i = threadIdx.x / 32; i < Rows; i += block_threads / 32)
        if (memory.is_open[i])
          goes_on |= choose_digit(i, shift);
      if (!__syncthreads_or(goes_on))
        break;
    }
  }

  /// Counts the thread's keys that agree with the row's limit in the bits
  /// above. Most passes see what is held alone, which is less than a key.
  __device__ __forceinline__ void count_digits(int shift) {
    Key const limit = memory.limit[row];
    unsigned *counters = memory.digits + row * digit_stride;
    if (shift >= Source::held_shift) {
      Held const high = Held(limit >> Source::held_shift);
      int const held_shift = shift - Source::held_shift;
      for_each([&](Held held, Place) {
        if ((held ^ high) >> held_shift >> digit_bits == 0)
          atomicAdd(&counters[unsigned(held >> held_shift) & (digits - 1)], 1u);
      });
    } else {
      for_each_key([&](Key key) {
        if ((key ^ limit) >> shift >> digit_bits == 0)
          atomicAdd(&counters[unsigned(key >> shift) & (digits - 1)], 1u);
      });
    }
  }

  /// One warp chooses the next bits of a row's limit. Returns whether the row
  /// needs another pass, in one of the lanes.
  __device__ __forceinline__ bool choose_digit(int i, int shift) {
    FoundDigit found;
    if (!find_digit(memory.digits + i * digit_stride, memory.wanted[i], found))
      return false;
    memory.limit[i] |= Key(unsigned(found.digit)) << shift;
    memory.wanted[i] -= found.below;
    memory.shift[i] = shift;
    bool const ends = found.count == (OnlyLast ? 1u : memory.wanted[i]);
    memory.is_open[i] = !ends;
    return !ends;
  }

  __device__ __forceinline__ void sort_chosen() {
    for (int size = 2; size <= padded; size *= 2)
      for (int distance = size / 2; distance > 0; distance /= 2) {
        for (int pair = threadIdx.x; pair < Rows * padded / 2;
             pair += block_threads) {
          int const low = pair / distance * (2 * distance) + pair % distance;
          Key &x = memory.chosen[low], &y = memory.chosen[low + distance];
          bool const ascending = (low & (padded - 1) & size) == 0;
          if ((y < x) == ascending) {
            Key const moved = x;
            x = y;
            y = moved;
          }
        }
        __syncthreads();
      }
  }

  Source source;
  Memory &memory;
  int row, lane;
  int64_t global_row;
  Place length;
  Held held[is_held ? held_steps * vector : 1];
};

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    select_parts_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::select_parts(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::final_threads)
    select_rows_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::select_rows(state);
}

template <class Rows, class Element, int64_t Count, bool Descending,
          bool OnlyLast, class Schedule>
class Select {
  static constexpr int splits = Schedule::splits;
  static constexpr bool is_split = splits > 1;
  using Parts = ElementSource<Rows, Element, Descending, splits>;
  using Keys = typename Parts::Keys;
  using Key = typename Parts::Key;
  using Chosen = KeySource<Parts, Count, Rows::count, splits>;
  static constexpr int part_rows = Schedule::rows;

public:
  static constexpr int block_threads = Schedule::threads * part_rows;
  static constexpr int final_threads = is_split ? 256 : block_threads;

private:
  static constexpr int final_rows = is_split ? 1 : part_rows;
  using PartSelection =
      Selection<Parts, Count, false, Schedule::threads, part_rows>;
  using FinalSelection =
      Selection<std::conditional_t<is_split, Chosen, Parts>, Count, OnlyLast,
                final_threads / final_rows, final_rows>;
  static_assert(Parts::length * (splits - 1) < Rows::length,
                "every part has elements");
  static_assert(!is_split || !OnlyLast, "SelectTogether.cuh");

public:
  static constexpr int buffer_count = 2;
  static constexpr uint64_t workspace_bytes =
      is_split ? uint64_t(Parts::count) * Count * sizeof(Key) : 0;

  struct State {
    Element const *input;
    int64_t *output;
    Key *keys;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    state = {static_cast<Element const *>(buffers[0]),
             static_cast<int64_t *>(buffers[1]), static_cast<Key *>(workspace)};
    int error = allow_shared_memory(&select_rows_kernel<Select>,
                                    sizeof(typename FinalSelection::Memory));
    if (is_split && !error)
      error = allow_shared_memory(&select_parts_kernel<Select>,
                                  sizeof(typename PartSelection::Memory));
    return error;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t part_blocks = (Parts::count + part_rows - 1) / part_rows;
    constexpr int64_t row_blocks = (Rows::count + final_rows - 1) / final_rows;
    static_assert(part_blocks < INT32_MAX, "too many rows for one grid");
    if constexpr (is_split)
      if (int error = launch_kernel(
              &select_parts_kernel<Select>, dim3(unsigned(part_blocks)),
              dim3(1), dim3(block_threads),
              int(sizeof(typename PartSelection::Memory)), state, stream))
        return error;
    return launch_kernel(
        &select_rows_kernel<Select>, dim3(unsigned(row_blocks)), dim3(1),
        dim3(final_threads), int(sizeof(typename FinalSelection::Memory)),
        state, stream);
  }

  FACT_DEVICE void select_parts(State const &state) {
    if constexpr (is_split) {
      extern __shared__ __align__(16) char select_memory[];
      auto &memory =
          *reinterpret_cast<typename PartSelection::Memory *>(select_memory);
      PartSelection selection(Parts{state.input}, memory);
      selection.choose();
      write<part_rows, PartSelection::padded>(
          memory.chosen, Parts::count, [&](int64_t part, int place, Key key) {
            state.keys[part * Count + place] = key;
          });
    }
  }

  FACT_DEVICE void select_rows(State const &state) {
    extern __shared__ __align__(16) char select_memory[];
    auto &memory =
        *reinterpret_cast<typename FinalSelection::Memory *>(select_memory);
    auto const source = [&] {
      if constexpr (is_split)
        return Chosen{state.keys};
      else
        return Parts{state.input};
    }();
    FinalSelection selection(source, memory);
    if constexpr (OnlyLast) {
      selection.choose_last([&](int64_t row, Key key) {
        state.output[row] = Keys::get_place(key);
      });
    } else {
      selection.choose();
      write<final_rows, FinalSelection::padded>(
          memory.chosen, Rows::count, [&](int64_t row, int place, Key key) {
            state.output[Rows::template begin<Count>(row) +
                         place * Rows::inner] = Keys::get_place(key);
          });
    }
  }

private:
  template <int BlockRows, int Padded, class Function>
  FACT_DEVICE void write(Key const *chosen, int64_t count,
                         Function &&function) {
    int64_t const first = int64_t(blockIdx.x) * BlockRows;
    for (int i = threadIdx.x; i < BlockRows * int(Count); i += blockDim.x) {
      // Neighbors in memory, of a row or of neighboring rows.
      int const row = Rows::inner > 1 ? i % BlockRows : i / int(Count);
      int const place = Rows::inner > 1 ? i / BlockRows : i % int(Count);
      if (first + row < count)
        function(first + row, place, chosen[row * Padded + place]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SELECT_CUH
