//===- WindowReduction.cuh - Reductions of windows -------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pool or a depthwise convolution: each result is a reduction over the taps
// of a window of images, of a function of the tap and of other operands, such
// as the filter; then any pointwise function. Nothing is padded in memory: taps
// outside of the images are the fill.
//
//   // y[n, c, p, q] = max over r, s of x[n, c, 2 p + r - 1, 2 q + s - 1]
//   #include "fact/cutlass/WindowReduction.cuh"
//
//   namespace fact::windows_0 {
//
//   struct Fill { static constexpr float value = -INFINITY; };
//
//   using Kernel = WindowReduction<
//       WindowSpace<Extents<8192>,                 // n and c
//                   WindowAxis<1, 1, 0, 1, 1, 1>,  // depth
//                   WindowAxis<56, 112, 1, 3, 2, 1>,
//                   WindowAxis<56, 112, 1, 3, 2, 1>, 1>,
//       Stage<Folded<RunningMaximum>, float, Identity>, Fill, Identity,
//       Operands<Strided<0, f32, Strides<12544, 0, 112, 1, 0>>>,  // images
//       Operands<>,                                               // of taps
//       Operands<>,                                               // of results
//       Results<Result<Identity, Strided<1, f32, Strides<3136, 0, 56, 1, 0>>>>,
//       WindowSchedule<256, 4, 4, 2, WindowTraversal::sweep>>;
//
//   FACT_KERNEL(windows_0, Kernel)
//
//   } // namespace fact::windows_0
//
// The dimensions of tensors are the outer ones, depth, rows, columns, lanes.
// Lanes are neighbors in memory beside the axes: channels that come last. Those
// of images count elements of the image, those of results count windows;
// operands of taps have the three dimensions of the kernel behind them.
//
// A thread has `rows` x `columns` windows of a vector of lanes. It reads a row
// of the images once for all windows that share it, one row ahead of the
// arithmetic and without branches: addresses are clamped to the image, and what
// lies outside is replaced afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_WINDOWREDUCTION_CUH
#define FACT_CUTLASS_WINDOWREDUCTION_CUH

#include "ReductionStages.cuh"
#include "WindowSpace.cuh"

namespace fact {

template <class Space, class Stage, class Fill, class Load, class ImageList,
          class TapList, class OperandList, class ResultList, class Schedule>
class WindowReduction;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    window_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Space, class Stage, class Fill, class Load, class... Images,
          class... Taps, class... Tensors, class... List, class Schedule>
class WindowReduction<Space, Stage, Fill, Load, Operands<Images...>,
                      Operands<Taps...>, Operands<Tensors...>, Results<List...>,
                      Schedule> {
  using Outer = typename Space::Outer;
  using Depth = typename Space::Depth;
  using Rows = typename Space::Rows;
  using Columns = typename Space::Columns;
  using Fold = typename Stage::Operation;
  using Value = typename Stage::Value;
  using Accumulator = typename Stage::State;
  using Reduced = typename Stage::Result;

  static constexpr bool has_lanes = Space::lanes > 1;
  static constexpr int rows = Schedule::rows, columns = Schedule::columns;
  /// Lanes of a thread, and columns per load.
  static constexpr int vector = has_lanes ? Schedule::vector : 1;
  static constexpr int access = has_lanes ? 1 : Schedule::vector;
  static constexpr bool sweeps = Schedule::traversal == WindowTraversal::sweep;
  /// Taps of a row that are taken together, and the elements they extend over.
  static constexpr int taps =
      Schedule::traversal == WindowTraversal::taps ? 1 : Columns::kernel;
  static constexpr int width = Columns::span(columns, taps);
  static constexpr int row_span = Rows::span(rows, Rows::kernel);
  /// The elements of a row that windows read.
  static constexpr uint64_t read_columns = Columns::reads(columns, taps);
  static_assert(width <= 64, "a thread holds at most 64 elements of a row");
  /// Loads begin at aligned elements.
  static constexpr int shift = ((-Columns::low) % access + access) % access;
  static constexpr int loaded =
      has_lanes ? width * vector
                : (shift + width + access - 1) / access * access;
  static constexpr int plane = sweeps ? Rows::kernel * taps : taps;

  static constexpr int rank = Outer::rank + 4;
  static constexpr int row_tiles = (Rows::count + rows - 1) / rows;
  static constexpr int column_tiles = (Columns::count + columns - 1) / columns;
  static constexpr int lane_tiles = Space::lanes / vector;
  static constexpr int64_t tiles =
      Outer::total * Depth::count * row_tiles * column_tiles * lane_tiles;
  /// Neighbors in memory: the elements of one store.
  static constexpr int run_length = has_lanes ? vector : columns;
  static constexpr int run_dimension = rank - (has_lanes ? 1 : 2);

  static_assert(Space::lanes % vector == 0, "vectors divide the lanes");
  static_assert(has_lanes || access == 1 ||
                    (taps == Columns::kernel && Columns::size % access == 0 &&
                     columns * Columns::stride % access == 0),
                "vectors of columns are aligned");

  /// What windows are of.
  using Pixel = decltype(Load::apply(
      std::declval<Compute<typename Images::Element>>()...));
  using Row = reduction::Slots<loaded, typename Images::Element...>;
  using Filter =
      reduction::Slots<plane * vector, Compute<typename Taps::Element>...>;

public:
  static constexpr int buffer_count =
      count_buffers<Images..., Taps..., Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = Schedule::threads;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    for (int i = 0; i < buffer_count; ++i) {
      if (!is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = (tiles + block_threads - 1) / block_threads;
    static_assert(blocks < INT32_MAX, "too many windows for one grid");
    return launch_kernel(&window_kernel<WindowReduction>,
                         dim3(unsigned(blocks)), dim3(1), dim3(block_threads),
                         0, state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    int64_t tile = int64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (tile >= tiles)
      return;
    // The first window of the tile.
    int index[rank];
    find(tile, index);
    Accumulator sums[rows][columns][vector];
#pragma unroll
    for (int t = 0; t < rows; ++t)
#pragma unroll
      for (int q = 0; q < columns; ++q)
#pragma unroll
        for (int v = 0; v < vector; ++v)
          sums[t][q][v] = Fold::template begin<Value>();
    for (int kd = 0; kd < Depth::kernel; ++kd) {
      int const depth =
          index[rank - 4] * Depth::stride + kd * Depth::dilation - Depth::low;
      if constexpr (sweeps)
        sweep(state, index, depth, kd, sums,
              std::make_index_sequence<row_span>{});
      else
        step(state, index, depth, kd, sums);
    }
    finish(state, index, sums);
  }

private:
  FACT_DEVICE void find(int64_t tile, int (&index)[rank]) {
    using Index = std::conditional_t<(tiles < INT32_MAX), uint32_t, uint64_t>;
    Index rest = Index(tile);
    auto take = [&](int size) {
      int place = int(rest % Index(size));
      rest /= Index(size);
      return place;
    };
    index[rank - 1] = take(lane_tiles) * vector;
    index[rank - 2] = take(column_tiles) * columns;
    index[rank - 3] = take(row_tiles) * rows;
    index[rank - 4] = take(Depth::count);
    find_outer(Outer{}, take, index);
  }
  template <int64_t... Sizes, class Take>
  FACT_DEVICE void find_outer(Extents<Sizes...>, Take take,
                              int (&index)[rank]) {
    int const sizes[] = {int(Sizes)...};
#pragma unroll
    for (int d = Outer::rank - 1; d >= 0; --d)
      index[d] = take(sizes[d]);
  }

  //===--------------------------------------------------------------------===//
  // Images
  //===--------------------------------------------------------------------===//

  static __device__ __forceinline__ int clamp(int place, int size) {
    return min(max(place, 0), size - 1);
  }

  /// The first column of a tile; `tap` is the first of those taken together.
  FACT_DEVICE int column_of(int const (&index)[rank], int tap) {
    return index[rank - 2] * Columns::stride + tap * Columns::dilation -
           Columns::low;
  }

  /// Starts the loads of one row of the images.
  template <size_t... I>
  FACT_DEVICE void fetch(State const &state, int const (&index)[rank],
                         int depth, int row, int column, Row &result,
                         std::index_sequence<I...>) {
    (fetch<Images>(state, index, depth, row, column, reduction::get<I>(result)),
     ...);
  }
  template <class Image>
  FACT_DEVICE void fetch(State const &state, int const (&index)[rank],
                         int depth, int row, int column,
                         typename Image::Element *values) {
    using Element = typename Image::Element;
    int64_t offset = Image::offset;
#pragma unroll
    for (int d = 0; d < Outer::rank; ++d)
      offset += index[d] * windows::stride<Image>(d);
    offset += clamp(depth, Depth::size) * windows::stride<Image>(rank - 4) +
              clamp(row, Rows::size) * windows::stride<Image>(rank - 3) +
              index[rank - 1] * windows::stride<Image>(rank - 1);
    auto const *source =
        static_cast<Element const *>(state.buffers[Image::buffer]) + offset;
    constexpr int64_t unit = windows::stride<Image>(rank - 2);
    constexpr uint64_t read_loads = find_loads();
    if constexpr (has_lanes) {
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (read_columns >> j & 1)
          windows::load<
              vector, windows::moves_in_vectors<Image, rank, vector>(rank - 1),
              windows::stride<Image>(rank - 1)>(
              source + clamp(column + j, Columns::size) * unit,
              values + j * vector);
    } else {
#pragma unroll
      for (int j = 0; j < loaded; j += access)
        if (read_loads >> (j / access) & 1)
          windows::load<
              access, windows::moves_in_vectors<Image, rank, access>(rank - 2),
              unit>(
              source + min(max(column - shift + j, 0), Columns::size - access) *
                           unit,
              values + j);
    }
  }
  /// The loads of a row that have such elements.
  static constexpr uint64_t find_loads() {
    uint64_t mask = 0;
    for (int j = 0; j < width; ++j)
      mask |= (read_columns >> j & 1) << ((shift + j) / access);
    return mask;
  }

  /// The elements of a fetched row, with the fill outside of the images.
  template <size_t... I>
  FACT_DEVICE void read(Row const &row, bool is_inside, int column,
                        Pixel (&values)[width][vector],
                        std::index_sequence<I...>) {
    constexpr bool leaves_columns = Columns::leaves(columns);
    constexpr bool leaves =
        leaves_columns || Rows::leaves(rows) || Depth::leaves(1);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      if (!(read_columns >> j & 1))
        continue;
      bool is_read = is_inside;
      if (leaves_columns)
        is_read &= unsigned(column + j) < unsigned(Columns::size);
#pragma unroll
      for (int v = 0; v < vector; ++v) {
        int const at = has_lanes ? j * vector + v : shift + j;
        Pixel value = Load::apply(widen(reduction::get<I>(row)[at])...);
        values[j][v] = !leaves || is_read ? value : Pixel(Fill::value);
      }
    }
  }

  FACT_DEVICE bool is_inside(int depth, int row) {
    return unsigned(depth) < unsigned(Depth::size) &&
           unsigned(row) < unsigned(Rows::size);
  }

  //===--------------------------------------------------------------------===//
  // Taps
  //===--------------------------------------------------------------------===//

  /// Loads the operands of `plane` taps from one on.
  template <size_t... I>
  FACT_DEVICE void load_filter(State const &state, int const (&index)[rank],
                               int kd, int kh, int kw, Filter &filter,
                               std::index_sequence<I...>) {
    (load_taps<Taps>(state, index, kd, kh, kw, reduction::get<I>(filter)), ...);
  }
  template <class Tensor>
  FACT_DEVICE void load_taps(State const &state, int const (&index)[rank],
                             int kd, int kh, int kw,
                             Compute<typename Tensor::Element> *values) {
    using Element = typename Tensor::Element;
    int64_t offset = Tensor::offset;
#pragma unroll
    for (int d = 0; d < rank; ++d)
      offset += index[d] * windows::stride<Tensor>(d);
    offset += kd * windows::stride<Tensor>(rank) +
              kh * windows::stride<Tensor>(rank + 1) +
              kw * windows::stride<Tensor>(rank + 2);
    auto const *source =
        static_cast<Element const *>(state.buffers[Tensor::buffer]) + offset;
    constexpr bool is_vector =
        windows::moves_in_vectors<Tensor, rank, vector>(rank - 1) &&
        windows::stride<Tensor>(rank) % vector == 0 &&
        windows::stride<Tensor>(rank + 1) % vector == 0 &&
        windows::stride<Tensor>(rank + 2) % vector == 0;
#pragma unroll
    for (int k = 0; k < plane; ++k) {
      Element elements[vector];
      windows::load<vector, is_vector, windows::stride<Tensor>(rank - 1)>(
          source + k / taps * windows::stride<Tensor>(rank + 1) +
              k % taps * windows::stride<Tensor>(rank + 2),
          elements);
#pragma unroll
      for (int v = 0; v < vector; ++v)
        values[k * vector + v] = widen(elements[v]);
    }
  }

  /// Adds the taps of one row to one row of windows.
  template <size_t... I>
  FACT_DEVICE void accumulate(Pixel const (&values)[width][vector],
                              Filter const &filter, int first,
                              Accumulator (&sums)[columns][vector],
                              std::index_sequence<I...>) {
#pragma unroll
    for (int k = 0; k < taps; ++k)
#pragma unroll
      for (int q = 0; q < columns; ++q)
#pragma unroll
        for (int v = 0; v < vector; ++v) {
          Value element = Stage::Functor::apply(
              values[q * Columns::stride + k * Columns::dilation][v],
              reduction::get<I>(filter)[(first + k) * vector + v]...);
          sums[q][v] = Fold::next(sums[q][v], element, 0);
        }
  }

  /// The next row of the span that windows read.
  static constexpr int next_row(int row) {
    while (row < row_span && !Rows::reads(row, rows, Rows::kernel))
      ++row;
    return row;
  }

  template <size_t... I>
  FACT_DEVICE void
  sweep(State const &state, int const (&index)[rank], int depth, int kd,
        Accumulator (&sums)[rows][columns][vector], std::index_sequence<I...>) {
    int const row = index[rank - 3] * Rows::stride - Rows::low;
    int const column = column_of(index, 0);
    Filter filter;
    Row fetched;
    fetch(state, index, depth, row, column, fetched,
          std::index_sequence_for<Images...>{});
    load_filter(state, index, kd, 0, 0, filter,
                std::index_sequence_for<Taps...>{});
    (take_row<int(I)>(state, index, depth, row, column, filter, fetched, sums),
     ...);
  }

  /// Adds row `I` of the span to all windows that read it.
  template <int I>
  FACT_DEVICE void take_row(State const &state, int const (&index)[rank],
                            int depth, int row, int column,
                            Filter const &filter, Row &fetched,
                            Accumulator (&sums)[rows][columns][vector]) {
    if constexpr (Rows::reads(I, rows, Rows::kernel)) {
      constexpr int next = next_row(I + 1);
      Row const now = fetched;
      if constexpr (next < row_span)
        fetch(state, index, depth, row + next, column, fetched,
              std::index_sequence_for<Images...>{});
      Pixel values[width][vector];
      read(now, is_inside(depth, row + I), column, values,
           std::index_sequence_for<Images...>{});
#pragma unroll
      for (int t = 0; t < rows; ++t) {
        int const rest = I - t * Rows::stride;
        if (rest >= 0 && rest % Rows::dilation == 0 &&
            rest / Rows::dilation < Rows::kernel)
          accumulate(values, filter, rest / Rows::dilation * taps, sums[t],
                     std::index_sequence_for<Taps...>{});
      }
    }
  }

  /// One row of taps, or one tap, after the other.
  FACT_DEVICE void step(State const &state, int const (&index)[rank], int depth,
                        int kd, Accumulator (&sums)[rows][columns][vector]) {
#pragma unroll 1
    for (int kh = 0; kh < Rows::kernel; ++kh)
#pragma unroll 1
      for (int kw = 0; kw < Columns::kernel; kw += taps) {
        int const column = column_of(index, kw);
        int const row =
            index[rank - 3] * Rows::stride + kh * Rows::dilation - Rows::low;
        Filter filter;
        load_filter(state, index, kd, kh, kw, filter,
                    std::index_sequence_for<Taps...>{});
        Row fetched[rows];
#pragma unroll
        for (int t = 0; t < rows; ++t)
          fetch(state, index, depth, row + t * Rows::stride, column, fetched[t],
                std::index_sequence_for<Images...>{});
#pragma unroll
        for (int t = 0; t < rows; ++t) {
          Pixel values[width][vector];
          read(fetched[t], is_inside(depth, row + t * Rows::stride), column,
               values, std::index_sequence_for<Images...>{});
          accumulate(values, filter, 0, sums[t],
                     std::index_sequence_for<Taps...>{});
        }
      }
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  FACT_DEVICE void finish(State const &state, int const (&index)[rank],
                          Accumulator const (&sums)[rows][columns][vector]) {
    constexpr int64_t count =
        int64_t(Depth::kernel) * Rows::kernel * Columns::kernel;
    constexpr int runs = has_lanes ? columns : 1;
    int place[rank];
#pragma unroll
    for (int d = 0; d < rank; ++d)
      place[d] = index[d];
#pragma unroll
    for (int t = 0; t < rows; ++t) {
      place[rank - 3] = index[rank - 3] + t;
      if (Rows::count % rows != 0 && place[rank - 3] >= Rows::count)
        return;
#pragma unroll
      for (int r = 0; r < runs; ++r) {
        place[rank - 2] = index[rank - 2] + r;
        if (has_lanes && Columns::count % columns != 0 &&
            place[rank - 2] >= Columns::count)
          break;
        Reduced reduced[run_length];
#pragma unroll
        for (int i = 0; i < run_length; ++i)
          reduced[i] = Fold::finish(has_lanes ? sums[t][r][i % vector]
                                              : sums[t][i % columns][0],
                                    count);
        store_all(state, place, reduced, std::index_sequence_for<Tensors...>{});
      }
    }
  }

  /// Whether a run of results moves in vectors.
  template <class Tensor> static constexpr __device__ bool runs_in_vectors() {
    return windows::moves_in_vectors<Tensor, rank, run_length>(run_dimension) &&
           (run_length & (run_length - 1)) == 0 &&
           (has_lanes || Columns::count % columns == 0);
  }
  /// Elements of a run that exist.
  FACT_DEVICE int count_run(int const (&place)[rank]) {
    if constexpr (has_lanes || Columns::count % columns == 0)
      return run_length;
    else
      return min(run_length, Columns::count - place[rank - 2]);
  }
  template <class Tensor>
  FACT_DEVICE int64_t offset_of(int const (&place)[rank]) {
    int64_t offset = Tensor::offset;
#pragma unroll
    for (int d = 0; d < rank; ++d)
      offset += place[d] * windows::stride<Tensor>(d);
    return offset;
  }

  template <size_t... I>
  FACT_DEVICE void store_all(State const &state, int const (&place)[rank],
                             Reduced const (&reduced)[run_length],
                             std::index_sequence<I...>) {
    reduction::Slots<run_length, Compute<typename Tensors::Element>...> others;
    (load_run<Tensors>(state, place, reduction::get<I>(others)), ...);
    (store_run<List>(state, place, reduced, reduction::get<I>(others)...), ...);
  }

  template <class Tensor>
  FACT_DEVICE void load_run(State const &state, int const (&place)[rank],
                            Compute<typename Tensor::Element> *values) {
    using Element = typename Tensor::Element;
    auto const *source =
        static_cast<Element const *>(state.buffers[Tensor::buffer]) +
        offset_of<Tensor>(place);
    constexpr int64_t unit = windows::stride<Tensor>(run_dimension);
    if constexpr (runs_in_vectors<Tensor>()) {
      load_vector<run_length>(source, values);
    } else {
      int const last = count_run(place) - 1;
#pragma unroll
      for (int i = 0; i < run_length; ++i)
        values[i] = widen(source[min(i, last) * unit]);
    }
  }

  template <class Result, class... Others>
  FACT_DEVICE void store_run(State const &state, int const (&place)[rank],
                             Reduced const (&reduced)[run_length],
                             Others const *...others) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    auto *destination = static_cast<Element *>(state.buffers[Tensor::buffer]) +
                        offset_of<Tensor>(place);
    decltype(Result::Functor::apply(reduced[0],
                                    others[0]...)) values[run_length];
#pragma unroll
    for (int i = 0; i < run_length; ++i)
      values[i] = Result::Functor::apply(reduced[i], others[i]...);
    if constexpr (runs_in_vectors<Tensor>()) {
      store_vector<run_length>(destination, values);
    } else {
      int const count = count_run(place);
#pragma unroll
      for (int i = 0; i < run_length; ++i)
        if (i < count)
          destination[i * windows::stride<Tensor>(run_dimension)] =
              narrow<Element>(values[i]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_WINDOWREDUCTION_CUH
