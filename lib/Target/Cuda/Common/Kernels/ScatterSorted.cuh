//===- ScatterSorted.cuh - Many updates, sorted by row ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source is copied, updates are sorted by row, and threads combine `chunk`
// of them each. What goes to one row lies together; where it crosses from one
// chunk to the next, the parts are combined in order by another kernel. So a
// row that takes all updates costs little more than many that share them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCATTERSORTED_CUH
#define FACT_CUTLASS_SCATTERSORTED_CUH

#include "ScatterSort.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

/// Threads that a multiprocessor holds.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 &&                          \
    (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
inline constexpr int multiprocessor_threads = 1536;
#else
inline constexpr int multiprocessor_threads = 2048;
#endif

template <class Kernel>
__global__ void __launch_bounds__(Kernel::AtOnce::threads,
                                  multiprocessor_threads /
                                      Kernel::AtOnce::threads)
    scatter_sort_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::sort_at_once(state);
}

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

/// `RowsAtOnce`: as ScatterSortAtOnce has them.
template <class Tensors, int Vector, int Chunk, int RowsAtOnce>
class ScatterSorted {
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
  using AtOnce = ScatterSortAtOnce<Tensors, RowsAtOnce>;
  static constexpr uint64_t workspace_bytes =
      (AtOnce::fits ? Sort::update_bytes
                    : 2 * Sort::update_bytes + Sort::count_bytes) +
      2 * part_bytes;
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
    state.updates[0] = static_cast<PlacedUpdate *>(take(Sort::update_bytes));
    if (!AtOnce::fits) {
      state.updates[1] = static_cast<PlacedUpdate *>(take(Sort::update_bytes));
      state.counts = static_cast<uint32_t *>(take(Sort::count_bytes));
    }
    state.heads = static_cast<Sum *>(take(part_bytes));
    state.tails = static_cast<Sum *>(take(part_bytes));
    return Rows::bind(state.buffers, buffers);
  }

  static int launch(State &state, cudaStream_t stream) {
    int error = launch_sort(state, stream, std::bool_constant<AtOnce::fits>{});
    if (!error)
      error = enqueue(&scatter_chunks_kernel<ScatterSorted>, worker_blocks,
                      state, stream);
    if (!error && chunks > 1)
      error = enqueue(&scatter_parts_kernel<ScatterSorted>, worker_blocks,
                      state, stream);
    return error;
  }

  /// The first blocks sort, the others copy the source meanwhile.
  FACT_DEVICE void sort_at_once(State const &state) {
    if (blockIdx.x < AtOnce::blocks)
      AtOnce::sort(state.buffers[Tensors::Indices::buffer], state.updates[0]);
    else
      copy_source<CopiedRows>(state, blockIdx.x - AtOnce::blocks);
  }

  FACT_DEVICE void write_rows(State const &state) {
    copy_source<Rows>(state, blockIdx.x);
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
    constexpr int batch = Chunk < 8 ? Chunk : 8;
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
    return state.updates[AtOnce::fits ? 0 : (Sort::passes - 1) % 2];
  }

  template <class Copied>
  FACT_DEVICE void copy_source(State const &state, unsigned block) {
    typename Copied::Place places[Copied::items];
    Value values[Copied::items][Vector];
#pragma unroll
    for (int i = 0; i < Copied::items; ++i) {
      places[i] = Copied::get(i, block);
      if (places[i].inside)
        Copied::load_source(state.buffers, places[i], values[i]);
    }
#pragma unroll
    for (int i = 0; i < Copied::items; ++i)
      if (places[i].inside)
        Copied::store(state.buffers, places[i], values[i]);
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

  using CopiedRows = ScatterRows<Tensors, Vector, AtOnce::threads>;

  /// In one launch, or in passes.
  template <class Fits>
  static std::enable_if_t<Fits::value, int>
  launch_sort(State &state, cudaStream_t stream, Fits) {
    return launch_kernel(&scatter_sort_kernel<ScatterSorted>,
                         dim3(unsigned(AtOnce::blocks + CopiedRows::blocks)),
                         dim3(1), dim3(AtOnce::threads), 0, state, stream);
  }

  template <class Fits>
  static std::enable_if_t<!Fits::value, int>
  launch_sort(State &state, cudaStream_t stream, Fits) {
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
    return error;
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
