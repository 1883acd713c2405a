//===- Sort.cuh - Places of sorted rows ------------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first `Count` places of each row in ascending or descending order. Rows
// lie along the middle of [outer, length, inner]. An element and its place are
// one integer, so no two are equal and every sort is stable: the high bits
// order elements as the comparison does, with NaN above all else.
//
//   // the 50 largest of each row
//   #include "fact/cutlass/Sort.cuh"
//
//   namespace fact::sort_0 {
//   using Kernel = Sort<RowsOf<512, 2000, 1>, f32, 50, /*Descending=*/true,
//                       SortSchedule<2048, 512>>;  // tile, threads
//   FACT_KERNEL(sort_0, Kernel)
//   } // namespace fact::sort_0
//
// A bitonic network sorts tiles in shared memory. Longer rows are runs of one
// tile each, which further kernels merge pair by pair in the workspace; only
// the first `Count` elements of a run are kept.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SORT_CUH
#define FACT_CUTLASS_SORT_CUH

#include "Scan.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Elements as integers
//===----------------------------------------------------------------------===//

namespace sort {

template <class Value>
using Order = std::conditional_t<sizeof(Value) == 8, uint64_t, uint32_t>;

/// An unsigned integer that is smaller if and only if the value comes before.
template <class Value> FACT_DEVICE Order<Value> get_order(Value value) {
  if constexpr (std::is_same_v<Value, float>) {
    if (value != value)
      return 0xffffffffu;
    // Both zeros are equal.
    uint32_t const bits = __float_as_uint(value == 0.0f ? 0.0f : value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
  } else if constexpr (std::is_same_v<Value, double>) {
    if (value != value)
      return ~uint64_t(0);
    uint64_t const bits =
        uint64_t(__double_as_longlong(value == 0.0 ? 0.0 : value));
    return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
  } else if constexpr (sizeof(Value) == 8) {
    return uint64_t(value) ^ uint64_t(1) << 63;
  } else {
    return uint32_t(int32_t(value)) ^ 0x80000000u;
  }
}

} // namespace sort

template <int Tile, int Threads> struct SortSchedule {
  /// Elements that a network sorts, and threads of a block.
  static constexpr int tile = Tile, threads = Threads;
  static_assert((Tile & (Tile - 1)) == 0, "a tile is a power of two");
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
  using Order = sort::Order<Compute<Element>>;
  /// The order of an element above its place.
  using Key =
      std::conditional_t<sizeof(Order) == 8, unsigned __int128, uint64_t>;
  static constexpr int tile = Schedule::tile;
  static constexpr int64_t runs = (Rows::length + tile - 1) / tile;
  /// Short rows share a block.
  static constexpr int rows = runs == 1 && tile < 1024 ? 1024 / tile : 1;
  static constexpr int elements = rows * tile;
  static constexpr int64_t kept = Count < tile ? Count : tile;
  static constexpr int merge_threads = 256;
  /// A run without a partner grows too: as many as the next power of two.
  static constexpr int64_t count_padded_runs() {
    int64_t count = 1;
    while (count < runs)
      count *= 2;
    return count;
  }

  static_assert(Rows::length < (int64_t(1) << 32), "places have 32 bits");

public:
  static constexpr int buffer_count = 2;
  static constexpr uint64_t run_bytes =
      uint64_t(Rows::count) * count_padded_runs() * kept * sizeof(Key);
  static constexpr uint64_t workspace_bytes = runs > 1 ? 2 * run_bytes : 0;
  static constexpr int block_threads = Schedule::threads;
  static constexpr int shared_bytes = elements * int(sizeof(Key));

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
      int64_t const outputs = Rows::count * ((count + 1) / 2) * merged;
      int64_t const grid = (outputs + merge_threads - 1) / merge_threads;
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
    for (int i = threadIdx.x; i < elements; i += block_threads) {
      int64_t const row = first + i / tile, place = run * tile + i % tile;
      keys[i] =
          row < Rows::count && place < Rows::length
              ? make_key(state.input[Rows::begin(row) + place * Rows::inner],
                         place)
              : ~Key(0);
    }
    __syncthreads();
    for (int size = 2; size <= tile; size *= 2)
      for (int distance = size / 2; distance > 0; distance /= 2) {
        for (int pair = threadIdx.x; pair < elements / 2; pair += block_threads)
          order_pair(keys, pair, size, distance);
        __syncthreads();
      }
    for (int i = threadIdx.x; i < elements; i += block_threads) {
      int64_t const row = first + i / tile, place = i % tile;
      if (row >= Rows::count || place >= kept)
        continue;
      if constexpr (runs > 1)
        state.runs[0][(row * runs + run) * kept + place] = keys[i];
      else if (place < Count)
        store(state.output, row, place, keys[i]);
    }
  }

  /// Each thread finds one element of a merged run.
  FACT_DEVICE void merge_runs(Merge const &merge) {
    int64_t const pairs = (merge.count + 1) / 2;
    int64_t const index = int64_t(blockIdx.x) * merge_threads + threadIdx.x;
    if (index >= Rows::count * pairs * merge.merged)
      return;
    int64_t const place = index % merge.merged;
    int64_t const pair = index / merge.merged % pairs;
    int64_t const row = index / merge.merged / pairs;
    Key const *first =
        merge.from + (row * merge.count + 2 * pair) * merge.length;
    Key const *second = first + merge.length;
    int64_t const others = 2 * pair + 1 < merge.count ? merge.length : 0;
    // Elements of the first run among those before `place`, by bisection.
    int64_t low = place > others ? place - others : 0;
    int64_t high = place < merge.length ? place : merge.length;
    while (low < high) {
      int64_t const middle = (low + high) / 2;
      if (first[middle] <= second[place - 1 - middle])
        low = middle + 1;
      else
        high = middle;
    }
    int64_t const other = place - low;
    bool const is_first =
        other >= others || (low < merge.length && first[low] <= second[other]);
    // Past the end of a last run that has no partner.
    Key const key =
        is_first ? (low < merge.length ? first[low] : ~Key(0)) : second[other];
    if (merge.output)
      store(merge.output, row, place, key);
    else
      merge.to[(row * pairs + pair) * merge.merged + place] = key;
  }

private:
  FACT_DEVICE Key make_key(Element element, int64_t place) {
    Order order = sort::get_order(widen(element));
    if (Descending)
      order = ~order;
    return Key(order) << 32 | Key(uint32_t(place));
  }

  /// One comparison of a bitonic network for runs of `size` elements.
  FACT_DEVICE void order_pair(Key *keys, int pair, int size, int distance) {
    int const low = pair / distance * (2 * distance) + pair % distance;
    int const high = low + distance;
    bool const ascending = (low & (tile - 1) & size) == 0;
    Key const x = keys[low], y = keys[high];
    if ((y < x) == ascending) {
      keys[low] = y;
      keys[high] = x;
    }
  }

  FACT_DEVICE void store(int64_t *output, int64_t row, int64_t place, Key key) {
    output[Rows::template begin<Count>(row) + place * Rows::inner] =
        int64_t(uint32_t(key));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SORT_CUH
