//===- ScatterSort.cuh - Updates sorted by row -----------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stable sorts of updates by the row they go to: `ScatterSort`, a radix sort in
// passes of three launches, and `ScatterSortAtOnce`, which is part of one
// launch, for fewer updates.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCATTERSORT_CUH
#define FACT_CUTLASS_SCATTERSORT_CUH

#include "Scatter.cuh"

namespace fact {

/// An update and the row it goes to.
struct PlacedUpdate {
  uint32_t row, update;
};

/// The row of an update; one that does not exist is after the last.
template <class Tensors>
__device__ __forceinline__ PlacedUpdate place_update(void const *indices,
                                                     int64_t update) {
  constexpr int64_t size = Tensors::Shape::size;
  int64_t const row = Tensors::Indices::get(indices, update);
  return {uint32_t(row >= 0 && row < size ? row : size), uint32_t(update)};
}

/// The bits of numbers up to `largest`.
constexpr int count_bits(int64_t largest) {
  int bits = 1;
  while (largest >> bits)
    ++bits;
  return bits;
}

/// The lanes inside that have this number, of so many bits.
template <int Bits>
__device__ __forceinline__ uint32_t find_peers(uint32_t number, bool inside) {
  uint32_t peers = __ballot_sync(0xffffffffu, inside);
#pragma unroll
  for (int bit = 0; bit < Bits; ++bit) {
    bool const own = number >> bit & 1;
    uint32_t const others = __ballot_sync(0xffffffffu, own);
    peers &= own ? others : ~others;
  }
  return peers;
}

/// The sum of the values of all threads before this one; `total` is that of all
/// of them. Ends with all reads of `scratch` done.
template <int Threads>
__device__ __forceinline__ uint32_t sum_before(uint32_t (&scratch)[2][Threads],
                                               uint32_t own, uint32_t &total) {
  int current = 0;
  uint32_t value = own;
  scratch[0][threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int distance = 1; distance < Threads; distance *= 2) {
    if (int(threadIdx.x) >= distance)
      value += scratch[current][threadIdx.x - distance];
    current ^= 1;
    scratch[current][threadIdx.x] = value;
    __syncthreads();
  }
  total = scratch[current][Threads - 1];
  __syncthreads();
  return value - own;
}

//===----------------------------------------------------------------------===//
// Many updates
//===----------------------------------------------------------------------===//

/// One pass of the sort: by some bits of the row from `shift` on.
struct SortPass {
  void const *indices;
  /// Null in the first pass, which reads the indices.
  PlacedUpdate const *from;
  PlacedUpdate *to;
  /// Updates of each digit in each block, [digits, blocks], and in all.
  uint32_t *counts, *totals;
  int shift;
};

template <class Tensors> class ScatterSort {
  using Shape = typename Tensors::Shape;
  static constexpr int warps = 8;
  /// Few updates are spread over more blocks.
  static constexpr int items = Shape::count < (1 << 17) ? 4 : 16;

  static constexpr int row_bits = count_bits(Shape::size);

public:
  static constexpr int threads = 32 * warps;
  static constexpr int passes = (row_bits + 7) / 8;
  static constexpr int bits = (row_bits + passes - 1) / passes;
  static constexpr int digits = 1 << bits;
  static constexpr int64_t tile = threads * items;
  static constexpr int64_t blocks = (Shape::count + tile - 1) / tile;
  static constexpr uint64_t count_bytes =
      (digits * (blocks + 1) * sizeof(uint32_t) + 15) / 16 * 16;
  static constexpr uint64_t update_bytes =
      (Shape::count * sizeof(PlacedUpdate) + 15) / 16 * 16;

  static_assert(digits <= threads, "a thread for each digit");

  FACT_DEVICE void count(SortPass const &pass) {
    __shared__ uint32_t counts[digits];
    if (threadIdx.x < digits)
      counts[threadIdx.x] = 0;
    __syncthreads();
    int64_t const first = int64_t(blockIdx.x) * tile;
#pragma unroll
    for (int i = 0; i < items; ++i) {
      int64_t const place = first + i * threads + threadIdx.x;
      if (place < Shape::count)
        atomicAdd(&counts[get_digit(pass, get(pass, place))], 1u);
    }
    __syncthreads();
    if (threadIdx.x < digits)
      pass.counts[threadIdx.x * blocks + blockIdx.x] = counts[threadIdx.x];
  }

  /// A block for each digit: the counts before each block's own.
  FACT_DEVICE void scan(SortPass const &pass) {
    __shared__ uint32_t scratch[2][threads];
    uint32_t *counts = pass.counts + blockIdx.x * blocks;
    uint32_t carry = 0;
    for (int64_t first = 0; first < blocks; first += threads) {
      int64_t const block = first + threadIdx.x;
      uint32_t total;
      uint32_t const before = sum_before<threads>(
          scratch, block < blocks ? counts[block] : 0, total);
      if (block < blocks)
        counts[block] = carry + before;
      carry += total;
    }
    if (threadIdx.x == 0)
      pass.totals[blockIdx.x] = carry;
  }

  FACT_DEVICE void move(SortPass const &pass) {
    __shared__ uint32_t scratch[2][threads];
    __shared__ uint32_t places[warps][digits];
    int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t total;
    uint32_t first = sum_before<threads>(
        scratch, threadIdx.x < digits ? pass.totals[threadIdx.x] : 0, total);
    for (int i = threadIdx.x; i < warps * digits; i += threads)
      places[i / digits][i % digits] = 0;
    __syncthreads();

    // The place of each update among those of its warp and digit.
    PlacedUpdate updates[items];
    uint32_t ranks[items];
    int64_t const begin = int64_t(blockIdx.x) * tile + warp * (32 * items);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      int64_t const place = begin + i * 32 + lane;
      bool const inside = place < Shape::count;
      updates[i] = inside ? get(pass, place) : PlacedUpdate{0, 0};
      uint32_t const digit = get_digit(pass, updates[i]);
      uint32_t const peers = find_peers<bits>(digit, inside);
      uint32_t const before = __popc(peers & ((1u << lane) - 1));
      ranks[i] = places[warp][digit] + before;
      __syncwarp();
      if (inside && before == 0)
        places[warp][digit] += __popc(peers);
      __syncwarp();
    }
    __syncthreads();
    // Where the updates of each warp and digit begin.
    if (threadIdx.x < digits) {
      first += pass.counts[threadIdx.x * blocks + blockIdx.x];
#pragma unroll
      for (int i = 0; i < warps; ++i) {
        uint32_t const own = places[i][threadIdx.x];
        places[i][threadIdx.x] = first;
        first += own;
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (begin + i * 32 + lane < Shape::count)
        pass.to[places[warp][get_digit(pass, updates[i])] + ranks[i]] =
            updates[i];
  }

private:
  FACT_DEVICE PlacedUpdate get(SortPass const &pass, int64_t place) {
    return pass.from ? pass.from[place]
                     : place_update<Tensors>(pass.indices, place);
  }

  FACT_DEVICE uint32_t get_digit(SortPass const &pass, PlacedUpdate update) {
    return update.row >> pass.shift & (digits - 1);
  }
};

template <class Sort>
__global__ void __launch_bounds__(Sort::threads)
    scatter_count_kernel(SortPass const __grid_constant__ pass) {
  Sort::count(pass);
}
template <class Sort>
__global__ void __launch_bounds__(Sort::threads)
    scatter_scan_kernel(SortPass const __grid_constant__ pass) {
  Sort::scan(pass);
}
template <class Sort>
__global__ void __launch_bounds__(Sort::threads)
    scatter_move_kernel(SortPass const __grid_constant__ pass) {
  Sort::move(pass);
}

//===----------------------------------------------------------------------===//
// Fewer updates
//===----------------------------------------------------------------------===//

/// Each block has a range of rows and reads all indices: it counts those before
/// its range, which is where its updates begin, and those of each row, by warp.
/// Then its warps place their updates, for which they read their indices again
/// where these are too many to be kept. No block waits for another.
/// `Rows` are those of a block; 0 where updates are sorted in passes.
template <class Tensors, int Rows> class ScatterSortAtOnce {
  using Shape = typename Tensors::Shape;
  static constexpr int warps = 32;
  /// Indices of a lane whose loads are in flight together.
  static constexpr int batch = 4;
  /// Updates of a warp that shared memory keeps.
  static constexpr uint32_t most_kept = 32;

public:
  static constexpr int threads = 32 * warps;
  static constexpr bool fits = Rows > 0;

private:
  static constexpr int rows = fits ? Rows : 1;
  /// Updates of a warp.
  static constexpr int share =
      int((Shape::count + warps * 32 - 1) / (warps * 32)) * 32;

public:
  /// One row more, for updates that go nowhere.
  static constexpr int blocks = int((Shape::size + rows) / rows);

  FACT_DEVICE void sort(void const *indices, PlacedUpdate *to) {
    __shared__ uint32_t places[warps][rows];
    __shared__ uint32_t scratch[2][threads];
    __shared__ PlacedUpdate kept[warps][most_kept];
    uint32_t const first = blockIdx.x * rows;
    int const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < warps * rows; i += threads)
      places[i / rows][i % rows] = 0;
    __syncthreads();

    // Updates of the warp that are in the range, the first of them kept.
    uint32_t before = 0, found = 0;
    visit(indices, warp, lane, [&](PlacedUpdate update, bool inside) {
      before += inside && update.row < first;
      bool const matches = inside && update.row - first < uint32_t(rows);
      uint32_t const others = __ballot_sync(0xffffffffu, matches);
      uint32_t const place = found + __popc(others & ((1u << lane) - 1));
      if (matches)
        atomicAdd(&places[warp][update.row - first], 1u);
      if (matches && place < most_kept)
        kept[warp][place] = update;
      found += __popc(others);
    });
    uint32_t begin, total;
    sum_before<threads>(scratch, before, begin);
    // Where the updates of each row and warp begin.
    uint32_t own = 0;
    if (threadIdx.x < rows)
      for (int i = 0; i < warps; ++i)
        own += places[i][threadIdx.x];
    begin += sum_before<threads>(scratch, own, total);
    if (threadIdx.x < rows)
      for (int i = 0; i < warps; ++i) {
        uint32_t const count = places[i][threadIdx.x];
        places[i][threadIdx.x] = begin;
        begin += count;
      }
    __syncthreads();
    if (total == 0)
      return;

    auto place = [&](PlacedUpdate update, bool inside) {
      uint32_t const row = update.row - first;
      bool const matches = inside && row < uint32_t(rows);
      if (!__any_sync(0xffffffffu, matches))
        return;
      uint32_t const peers = find_peers<count_bits(rows - 1)>(row, matches);
      uint32_t const rank = __popc(peers & ((1u << lane) - 1));
      uint32_t const number = matches ? places[warp][row] + rank : 0;
      __syncwarp();
      if (matches && rank == 0)
        places[warp][row] += __popc(peers);
      __syncwarp();
      if (matches)
        to[number] = update;
    };
    if (found > most_kept)
      visit(indices, warp, lane, place);
    else
      for (uint32_t i = lane; i - lane < found; i += 32)
        place(kept[warp][i < found ? i : 0], i < found);
  }

private:
  /// Calls `function` with the updates of a warp, 32 at a time, in their order.
  template <class Function>
  FACT_DEVICE void visit(void const *indices, int warp, int lane,
                         Function function) {
    int const begin = warp * share + lane;
    for (int i = 0; i < share; i += 32 * batch) {
      PlacedUpdate updates[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (exists(begin, i + 32 * j))
          updates[j] = place_update<Tensors>(indices, begin + i + 32 * j);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        function(updates[j], exists(begin, i + 32 * j));
    }
  }
  FACT_DEVICE bool exists(int begin, int step) {
    return step < share && begin + step < Shape::count;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCATTERSORT_CUH
