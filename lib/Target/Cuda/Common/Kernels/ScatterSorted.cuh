//===- ScatterSorted.cuh - Many updates, sorted by row ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source is copied, updates are sorted by row (a stable radix sort, a few
// bits of the row per pass), and threads combine `chunk` of them each. What
// goes to one row lies together; where it crosses from one chunk to the next,
// the parts are combined in order by another kernel. So a row that takes all
// updates costs little more than many that share them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCATTERSORTED_CUH
#define FACT_CUTLASS_SCATTERSORTED_CUH

#include "Scatter.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Sorting updates by row
//===----------------------------------------------------------------------===//

/// An update and the row it goes to.
struct PlacedUpdate {
  uint32_t row, update;
};

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

  /// Updates without a row go to one after the last.
  static constexpr int count_bits(int64_t size) {
    int bits = 1;
    while (size >> bits)
      ++bits;
    return bits;
  }
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
      uint32_t const peers = find_peers(digit, inside);
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
    if (pass.from)
      return pass.from[place];
    int64_t const row = Tensors::Indices::get(pass.indices, place);
    bool const exists = row >= 0 && row < Shape::size;
    return {uint32_t(exists ? row : Shape::size), uint32_t(place)};
  }

  FACT_DEVICE uint32_t get_digit(SortPass const &pass, PlacedUpdate update) {
    return update.row >> pass.shift & (digits - 1);
  }

  /// The lanes inside that have this digit.
  FACT_DEVICE uint32_t find_peers(uint32_t digit, bool inside) {
    uint32_t peers = __ballot_sync(0xffffffffu, inside);
#pragma unroll
    for (int bit = 0; bit < bits; ++bit) {
      bool const own = digit >> bit & 1;
      uint32_t const others = __ballot_sync(0xffffffffu, own);
      peers &= own ? others : ~others;
    }
    return peers;
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
// Combining
//===----------------------------------------------------------------------===//

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads) scatter_chunks_kernel(
    typename Kernel::State const __grid_constant__ state) {
  Kernel::combine_chunk(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scatter_parts_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::combine_parts(state);
}

template <class Tensors, int Vector, int Chunk> class ScatterSorted {
  using Rows = ScatterRows<Tensors, Vector>;
  using Shape = typename Tensors::Shape;
  using Value = typename Tensors::Value;
  using Sum = typename Tensors::Sum;
  using Sort = ScatterSort<Tensors>;

  static constexpr int64_t chunks = (Shape::count + Chunk - 1) / Chunk;
  /// Threads that combine: [outer, chunks, columns].
  static constexpr int64_t workers = Shape::outer * chunks * Rows::columns;
  static constexpr int64_t worker_blocks =
      (workers + Rows::threads - 1) / Rows::threads;
  /// Of each chunk: what belongs to the row of the chunk before, and what the
  /// chunk after goes on with.
  static constexpr uint64_t part_bytes =
      uint64_t(workers) * Vector * sizeof(Sum);

  static_assert(worker_blocks < INT32_MAX, "too many updates for one grid");

public:
  static constexpr int buffer_count = Tensors::result_buffer + 1;
  static constexpr uint64_t workspace_bytes =
      2 * Sort::update_bytes + Sort::count_bytes + 2 * part_bytes;
  static constexpr int block_threads = Rows::threads;

  struct State {
    void *buffers[buffer_count];
    PlacedUpdate *updates[2];
    uint32_t *counts;
    Sum *heads, *tails;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    auto *memory = static_cast<char *>(workspace);
    auto take = [&](uint64_t bytes) {
      void *taken = memory;
      memory += bytes;
      return taken;
    };
    for (PlacedUpdate *&updates : state.updates)
      updates = static_cast<PlacedUpdate *>(take(Sort::update_bytes));
    state.counts = static_cast<uint32_t *>(take(Sort::count_bytes));
    state.heads = static_cast<Sum *>(take(part_bytes));
    state.tails = static_cast<Sum *>(take(part_bytes));
    return Rows::bind(state.buffers, buffers);
  }

  static int launch(State &state, cudaStream_t stream) {
    int error = enqueue(&scatter_rows_kernel<ScatterSorted>, Rows::blocks,
                        state, stream);
    for (int i = 0; i < Sort::passes && !error; ++i) {
      SortPass pass{state.buffers[Tensors::Indices::buffer],
                    i == 0 ? nullptr : state.updates[(i - 1) % 2],
                    state.updates[i % 2],
                    state.counts,
                    state.counts + Sort::digits * Sort::blocks,
                    i * Sort::bits};
      error = sort(pass, stream);
    }
    if (!error)
      error = enqueue(&scatter_chunks_kernel<ScatterSorted>, worker_blocks,
                      state, stream);
    if (!error && chunks > 1)
      error = enqueue(&scatter_parts_kernel<ScatterSorted>, worker_blocks,
                      state, stream);
    return error;
  }

  /// Copies the source.
  FACT_DEVICE void write_rows(State const &state) {
    typename Rows::Place places[Rows::items];
    Value values[Rows::items][Vector];
#pragma unroll
    for (int i = 0; i < Rows::items; ++i) {
      places[i] = Rows::get(i);
      if (places[i].inside)
        Rows::load_source(state.buffers, places[i], values[i]);
    }
#pragma unroll
    for (int i = 0; i < Rows::items; ++i)
      if (places[i].inside)
        Rows::store(state.buffers, places[i], values[i]);
  }

  FACT_DEVICE void combine_chunk(State const &state) {
    Worker const worker = get_worker();
    if (!worker.inside)
      return;
    PlacedUpdate const *updates = get_sorted(state);
    uint32_t row = updates[worker.begin].row;
    bool is_head = worker.begin > 0 && updates[worker.begin - 1].row == row;
    Sum sum[Vector];
    bool is_first = true;
    // Loads of several updates are in flight together.
    constexpr int batch = Chunk < 4 ? Chunk : 4;
    for (int64_t place = worker.begin; place < worker.end; place += batch) {
      PlacedUpdate next[batch];
      Value values[batch][Vector];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        next[i] = place + i < worker.end ? updates[place + i]
                                         : PlacedUpdate{Shape::size, 0};
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (next[i].row < Shape::size)
          load_update(state, worker, next[i].update, values[i]);
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        if (next[i].row >= Shape::size)
          continue;
        if (next[i].row != row) {
          if (is_head)
            store_part(state.heads, worker.part, sum);
          else
            store(state, worker, row, sum);
          row = next[i].row;
          is_head = false;
          is_first = true;
        }
#pragma unroll
        for (int j = 0; j < Vector; ++j)
          sum[j] = is_first
                       ? Sum(values[i][j])
                       : Tensors::Operation::apply(sum[j], Sum(values[i][j]));
        is_first = false;
      }
    }
    if (is_first)
      return;
    if (is_head)
      store_part(state.heads, worker.part, sum);
    else if (worker.end < Shape::count && updates[worker.end].row == row)
      store_part(state.tails, worker.part, sum);
    else
      store(state, worker, row, sum);
  }

  /// Combines the parts of a row that begins in this chunk and goes on.
  FACT_DEVICE void combine_parts(State const &state) {
    Worker const worker = get_worker();
    PlacedUpdate const *updates = get_sorted(state);
    if (!worker.inside || worker.end >= Shape::count)
      return;
    uint32_t const row = updates[worker.end].row;
    bool const begins_here =
        updates[worker.end - 1].row == row &&
        !(worker.begin > 0 && updates[worker.begin - 1].row == row);
    if (row >= Shape::size || !begins_here)
      return;
    // The end of the row's updates, by bisection.
    int64_t low = worker.end + 1, high = Shape::count;
    while (low < high) {
      int64_t const middle = (low + high) / 2;
      if (updates[middle].row == row)
        low = middle + 1;
      else
        high = middle;
    }
    int64_t const others = (low - worker.end + Chunk - 1) / Chunk;
    Sum sum[Vector];
    load_part(state.tails, worker.part, sum);
#pragma unroll 4
    for (int64_t i = 1; i <= others; ++i) {
      Sum part[Vector];
      load_part(state.heads, worker.part + i * Shape::inner, part);
#pragma unroll
      for (int j = 0; j < Vector; ++j)
        sum[j] = Tensors::Operation::apply(sum[j], part[j]);
    }
    store(state, worker, row, sum);
  }

private:
  /// A thread's chunk of updates, and its columns.
  struct Worker {
    bool inside;
    int64_t outer, column, begin, end;
    /// Of its first element among heads or tails.
    int64_t part;
  };

  FACT_DEVICE Worker get_worker() {
    int64_t const index = int64_t(blockIdx.x) * block_threads + threadIdx.x;
    int64_t const chunk = index / Rows::columns % chunks;
    int64_t const end = (chunk + 1) * Chunk;
    return {index < workers,
            index / Rows::columns / chunks,
            index % Rows::columns * Vector,
            chunk * Chunk,
            end < Shape::count ? end : Shape::count,
            index * Vector};
  }

  FACT_DEVICE PlacedUpdate const *get_sorted(State const &state) {
    return state.updates[(Sort::passes - 1) % 2];
  }

  FACT_DEVICE void load_update(State const &state, Worker const &worker,
                               uint32_t update, Value *values) {
    Tensors::Updates::template load<typename Tensors::Element, Vector>(
        state.buffers,
        (worker.outer * Shape::count + update) * Shape::inner + worker.column,
        values);
  }

  FACT_DEVICE void store(State const &state, Worker const &worker, uint32_t row,
                         Sum const *sum) {
    typename Rows::Place place{};
    place.result =
        (worker.outer * Shape::size + row) * Shape::inner + worker.column;
    Value values[Vector];
    Sum results[Vector];
    Rows::load_source(state.buffers, place, values);
#pragma unroll
    for (int j = 0; j < Vector; ++j)
      results[j] = Tensors::Operation::apply(Sum(values[j]), sum[j]);
    Rows::store(state.buffers, place, results);
  }

  FACT_DEVICE void store_part(Sum *parts, int64_t part, Sum const *sum) {
#pragma unroll
    for (int j = 0; j < Vector; ++j)
      parts[part + j] = sum[j];
  }
  FACT_DEVICE void load_part(Sum const *parts, int64_t part, Sum *sum) {
#pragma unroll
    for (int j = 0; j < Vector; ++j)
      sum[j] = parts[part + j];
  }

  template <class Params>
  static int enqueue(void (*kernel)(Params), int64_t blocks,
                     std::remove_cv_t<std::remove_reference_t<Params>> &params,
                     cudaStream_t stream) {
    return launch_kernel(kernel, dim3(unsigned(blocks)), dim3(1),
                         dim3(block_threads), 0, params, stream);
  }

  static int sort(SortPass &pass, cudaStream_t stream) {
    if (int error =
            enqueue(&scatter_count_kernel<Sort>, Sort::blocks, pass, stream))
      return error;
    if (int error =
            enqueue(&scatter_scan_kernel<Sort>, Sort::digits, pass, stream))
      return error;
    return enqueue(&scatter_move_kernel<Sort>, Sort::blocks, pass, stream);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCATTERSORTED_CUH
