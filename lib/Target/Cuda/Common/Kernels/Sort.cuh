//===- Sort.cuh - Places of sorted rows ------------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first `Count` places of each row in ascending or descending order. Rows
// lie along the middle of [outer, length, inner]; elements are compared as
// integers that are above their places (SortKeys.cuh).
//
//   // the 50 largest of each row
//   #include "fact/cutlass/Sort.cuh"
//
//   namespace fact::sort_0 {
//   using Kernel = Sort<RowsOf<512, 2000, 1>, f32, 50, /*Descending=*/true,
//                       SortSchedule<2048, 16, 1>>;  // tile, items, rows
//   FACT_KERNEL(sort_0, Kernel)
//   } // namespace fact::sort_0
//
// A bitonic network sorts tiles in registers. Longer rows are runs of one tile
// each, which further kernels merge pair by pair in the workspace; only the
// first `Count` elements of a run are kept.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SORT_CUH
#define FACT_CUTLASS_SORT_CUH

#include "SortKeys.cuh"

namespace fact {

/// Elements of a run, elements per thread, and rows of a block.
template <int Tile, int Items, int Rows> struct SortSchedule {
  static constexpr int tile = Tile, items = Items, rows = Rows;
  static constexpr int threads = Tile / Items * Rows;
  static_assert((Tile & (Tile - 1)) == 0 && (Items & (Items - 1)) == 0,
                "a tile and its items are powers of two");
  static_assert(Tile >= Items && threads % 32 == 0 && threads <= 1024,
                "a block has whole warps");
};

//===----------------------------------------------------------------------===//
// Bitonic networks
//===----------------------------------------------------------------------===//

/// Sorts tiles of a block's keys. A thread has `Items` keys whose indices
/// differ in neighboring bits, from bit `step` on. So it does all
/// comparisons along these bits in registers; between groups of bits, keys
/// pass through shared memory.
template <class Key, int Tile, int Items> struct BitonicNetwork {
  static constexpr int log2(int x) { return x > 1 ? 1 + log2(x / 2) : 0; }
  static constexpr int tile_bits = log2(Tile), item_bits = log2(Items);
  /// One place is left free behind so many keys: those of different threads
  /// are then in different banks.
  static constexpr int bank_bits = log2(128 / int(sizeof(Key)));
  static constexpr int pad_bits = bank_bits > item_bits ? bank_bits : item_bits;

  /// Where a key is in shared memory.
  FACT_DEVICE int locate(int index) { return index + (index >> pad_bits); }
  static constexpr int count_keys(int elements) {
    return elements + (elements >> pad_bits);
  }

  /// Keys are in shared memory, before and after.
  FACT_DEVICE void sort(Key *memory) {
    Key keys[Items];
    load(memory, keys, 0);
    sort_items(keys);
    int step = 0;
    Key complement = 0;
    for (int level = item_bits; level <= tile_bits; ++level) {
      // Every other run of 2^level keys is sorted downwards: as complements.
      // Here `step` is 0, and a thread's keys are in one run.
      Key const next =
          level < tile_bits
              ? Key(0) - Key(threadIdx.x >> (level - item_bits) & 1)
              : Key(0);
#pragma unroll
      for (int item = 0; item < Items; ++item)
        keys[item] ^= complement ^ next;
      complement = next;
      for (int bit = level; bit > 0;) {
        int const bits = bit < item_bits ? bit : item_bits;
        bit -= bits;
        if (bit != step)
          move(memory, keys, step, bit);
        step = bit;
        compare(keys, bits);
      }
    }
    store(memory, keys, 0);
  }

private:
  /// Where the first of a thread's keys is if they are 2^`Step` apart. The
  /// others are the same distance away in all threads: the bits of `item` are
  /// none of those of the first.
  template <int Step> FACT_DEVICE int locate_first() {
    int const thread = int(threadIdx.x);
    return locate(thread >> Step << (Step + item_bits) |
                  (thread & ((1 << Step) - 1)));
  }
  /// Each step has code of its own, in which distances are constants.
  template <int Step = 0>
  FACT_DEVICE void load(Key const *memory, Key *keys, int step) {
    if (step == Step) {
      Key const *first = memory + locate_first<Step>();
#pragma unroll
      for (int item = 0; item < Items; ++item)
        keys[item] = first[locate(item << Step)];
    } else if constexpr (Step + item_bits < tile_bits) {
      load<Step + 1>(memory, keys, step);
    }
  }
  template <int Step = 0>
  FACT_DEVICE void store(Key *memory, Key const *keys, int step) {
    if (step == Step) {
      Key *first = memory + locate_first<Step>();
#pragma unroll
      for (int item = 0; item < Items; ++item)
        first[locate(item << Step)] = keys[item];
    } else if constexpr (Step + item_bits < tile_bits) {
      store<Step + 1>(memory, keys, step);
    }
  }

  /// Keys move among 2^max(from, to) neighboring threads. A thread writes only
  /// where it has read last, so one barrier is enough.
  FACT_DEVICE void move(Key *memory, Key *keys, int from, int to) {
    store(memory, keys, from);
    if (from <= 5 && to <= 5)
      __syncwarp();
    else
      __syncthreads();
    load(memory, keys, to);
  }

  FACT_DEVICE void order(Key &x, Key &y) {
    Key const least = x < y ? x : y;
    y = x < y ? y : x;
    x = least;
  }

  /// Makes runs of half a thread's keys, every other one downwards.
  FACT_DEVICE void sort_items(Key *keys) {
#pragma unroll
    for (int level = 1; level < item_bits; ++level)
#pragma unroll
      for (int bit = level - 1; bit >= 0; --bit)
#pragma unroll
        for (int item = 0; item < Items; ++item) {
          int const other = item | 1 << bit;
          if (item == other)
            continue;
          if (item >> level & 1)
            order(keys[other], keys[item]);
          else
            order(keys[item], keys[other]);
        }
  }

  /// Along the lowest `bits` bits of a thread's keys, the highest first.
  FACT_DEVICE void compare(Key *keys, int bits) {
#pragma unroll
    for (int bit = item_bits - 1; bit >= 0; --bit) {
      if (bit >= bits)
        continue;
#pragma unroll
      for (int item = 0; item < Items; ++item)
        if (!(item >> bit & 1))
          order(keys[item], keys[item | 1 << bit]);
    }
  }
};

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Rows, class Element, int64_t Count, bool Descending,
          class Schedule>
class Sort;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    sort_tiles_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::sort_tiles(state);
}

template <class Kernel>
__global__ void __launch_bounds__(256)
    merge_runs_kernel(typename Kernel::Merge const __grid_constant__ merge) {
  Kernel::merge_runs(merge);
}

template <class Rows, class Element, int64_t Count, bool Descending,
          class Schedule>
class Sort {
  using Keys = SortKeys<Element, Rows::length, Descending>;
  using Key = typename Keys::Key;
  static constexpr int tile = Schedule::tile, rows = Schedule::rows;
  using Network = BitonicNetwork<Key, tile, Schedule::items>;
  static constexpr int64_t runs = (Rows::length + tile - 1) / tile;
  static constexpr int elements = rows * tile;
  static constexpr int64_t kept = Count < tile ? Count : tile;
  static constexpr int merge_threads = 256;
  static constexpr int merge_items = 64 / int(sizeof(Key));
  static constexpr int merge_tile = merge_threads * merge_items;
  /// A run without a partner grows too: as many as the next power of two.
  static constexpr int64_t count_padded_runs() {
    int64_t count = 1;
    while (count < runs)
      count *= 2;
    return count;
  }

public:
  static constexpr int buffer_count = 2;
  static constexpr uint64_t run_bytes =
      uint64_t(Rows::count) * count_padded_runs() * kept * sizeof(Key);
  static constexpr uint64_t workspace_bytes = runs > 1 ? 2 * run_bytes : 0;
  static constexpr int block_threads = Schedule::threads;
  static constexpr int shared_bytes =
      Network::count_keys(elements) * int(sizeof(Key));

  struct State {
    Element const *input;
    int64_t *output;
    Key *runs[2];
  };

  /// Pairs of `count` runs of `length` elements each become runs of `merged`.
  struct Merge {
    Key const *from;
    Key *to;
    int64_t *output;
    int64_t count, length, merged;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    auto *memory = static_cast<char *>(workspace);
    state = {static_cast<Element const *>(buffers[0]),
             static_cast<int64_t *>(buffers[1]),
             {reinterpret_cast<Key *>(memory),
              reinterpret_cast<Key *>(memory + (runs > 1 ? run_bytes : 0))}};
    return allow_shared_memory(&sort_tiles_kernel<Sort>, shared_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = (Rows::count + rows - 1) / rows * runs;
    static_assert(blocks < INT32_MAX, "too many rows for one grid");
    int error =
        launch_kernel(&sort_tiles_kernel<Sort>, dim3(unsigned(blocks)), dim3(1),
                      dim3(block_threads), shared_bytes, state, stream);
    int source = 0;
    int64_t length = kept;
    for (int64_t count = runs; count > 1 && !error; count = (count + 1) / 2) {
      int64_t const merged = 2 * length < Count ? 2 * length : Count;
      Merge merge{state.runs[source],
                  state.runs[1 - source],
                  count <= 2 ? state.output : nullptr,
                  count,
                  length,
                  merged};
      int64_t const tiles = (merged + merge_tile - 1) / merge_tile;
      int64_t const grid = Rows::count * ((count + 1) / 2) * tiles;
      if (grid >= INT32_MAX)
        return cudaErrorInvalidConfiguration;
      error = launch_kernel(&merge_runs_kernel<Sort>, dim3(unsigned(grid)),
                            dim3(1), dim3(merge_threads), 0, merge, stream);
      source = 1 - source;
      length = merged;
    }
    return error;
  }

  FACT_DEVICE void sort_tiles(State const &state) {
    extern __shared__ __align__(16) char sort_memory[];
    Key *keys = reinterpret_cast<Key *>(sort_memory);
    int64_t const run = blockIdx.x % runs;
    int64_t const first = int64_t(blockIdx.x / runs) * rows;
    // All loads are on their way before the first is waited for.
    Element loaded[Schedule::items];
    bool exists[Schedule::items];
#pragma unroll
    for (int item = 0; item < Schedule::items; ++item) {
      Position const at = split(item * block_threads + int(threadIdx.x), tile);
      int64_t const row = first + at.row, place = run * tile + at.place;
      exists[item] = row < Rows::count && place < Rows::length;
      if (exists[item])
        load_elements<1>(state.input + Rows::begin(row) + place * Rows::inner,
                         loaded + item);
    }
#pragma unroll
    for (int item = 0; item < Schedule::items; ++item) {
      Position const at = split(item * block_threads + int(threadIdx.x), tile);
      keys[Network::locate(at.row * tile + at.place)] =
          exists[item]
              ? Keys::make(Keys::get_order(loaded[item]), run * tile + at.place)
              : Keys::last;
    }
    __syncthreads();
    Network::sort(keys);
    __syncthreads();
    for (int i = threadIdx.x; i < rows * int(kept); i += block_threads) {
      auto const [slot, place] = split(i, int(kept));
      int64_t const row = first + slot;
      if (row >= Rows::count)
        continue;
      Key const key = keys[Network::locate(slot * tile + place)];
      if constexpr (runs > 1)
        state.runs[0][(row * runs + run) * kept + place] = key;
      else
        store(state.output, row, place, key);
    }
  }

  /// A block writes `merge_tile` elements of a merged run: it finds where they
  /// begin in both runs and loads them, and its threads do the same with
  /// theirs.
  FACT_DEVICE void merge_runs(Merge const &merge) {
    __shared__ Key keys[merge_tile];
    int64_t const pairs = (merge.count + 1) / 2;
    int64_t const tiles = (merge.merged + merge_tile - 1) / merge_tile;
    int64_t const pair = blockIdx.x / tiles % pairs;
    int64_t const row = blockIdx.x / tiles / pairs;
    Key const *first =
        merge.from + (row * merge.count + 2 * pair) * merge.length;
    Key const *second = first + merge.length;
    // A last run may have no partner: it ends before the merged one.
    int64_t const others = 2 * pair + 1 < merge.count ? merge.length : 0;
    int64_t const available = merge.length + others;
    int64_t const begin = blockIdx.x % tiles * merge_tile;
    int64_t const rest = merge.merged - begin;
    int const written = int(rest < merge_tile ? rest : merge_tile);
    int64_t const left = available - begin;
    int const loaded = int(left < 0 ? 0 : left < written ? left : written);

    int64_t const from = find_split(first, merge.length, second, others, begin);
    int const firsts = int(
        find_split(first, merge.length, second, others, begin + loaded) - from);
    int const seconds = loaded - firsts;
#pragma unroll
    for (int item = 0; item < merge_items; ++item)
      if (int const i = item * merge_threads + int(threadIdx.x); i < loaded)
        keys[i] =
            i < firsts ? first[from + i] : second[begin - from + i - firsts];
    __syncthreads();

    int const own = int(threadIdx.x) * merge_items;
    int x = own < loaded ? find_split(keys, firsts, keys + firsts, seconds, own)
                         : firsts;
    int y = own < loaded ? own - x : seconds;
    Key merged[merge_items];
#pragma unroll
    for (int i = 0; i < merge_items; ++i) {
      bool const has_first = x < firsts, has_second = y < seconds;
      bool const takes_first =
          has_first && (!has_second || keys[x] <= keys[firsts + y]);
      merged[i] = takes_first  ? keys[x]
                  : has_second ? keys[firsts + y]
                               : Keys::last;
      x += takes_first;
      y += !takes_first;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < merge_items; ++i)
      keys[own + i] = merged[i];
    __syncthreads();
    for (int i = threadIdx.x; i < written; i += merge_threads)
      if (merge.output)
        store(merge.output, row, begin + i, keys[i]);
      else
        merge.to[(row * pairs + pair) * merge.merged + begin + i] = keys[i];
  }

private:
  /// How many of the first `place` elements of a merged run come from the first
  /// run, by bisection. There may be fewer elements.
  template <class Index>
  FACT_DEVICE Index find_split(Key const *first, Index firsts,
                               Key const *second, Index seconds, Index place) {
    if (place >= firsts + seconds)
      return firsts;
    Index low = place > seconds ? place - seconds : 0;
    Index high = place < firsts ? place : firsts;
    while (low < high) {
      Index const middle = (low + high) / 2;
      if (first[middle] <= second[place - 1 - middle])
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// A row of the block and a place in it, in the order of memory.
  struct Position {
    int row, place;
  };
  FACT_DEVICE Position split(int index, int length) {
    if constexpr (Rows::inner == 1)
      return {index / length, index % length};
    else
      return {index % rows, index / rows};
  }

  FACT_DEVICE void store(int64_t *output, int64_t row, int64_t place, Key key) {
    output[Rows::template begin<Count>(row) + place * Rows::inner] =
        Keys::get_place(key);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SORT_CUH
