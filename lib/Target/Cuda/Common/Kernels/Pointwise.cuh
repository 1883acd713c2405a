//===- Pointwise.cuh - Elementwise kernels over strided tensors -*- CUDA
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each index of an index space and each result r:  D_r = f_r(operands...).
// Broadcasts are strides of 0, permutations and slices are other strides.
//
//   // y[b, t, c] = x[b, t, c] * scale[c]
//   #include "fact/cutlass/Pointwise.cuh"
//
//   namespace fact::pointwise_0 {
//
//   struct Body {
//     FACT_DEVICE float apply(float x, float scale) { return x * scale; }
//   };
//
//   using Kernel = Pointwise<
//       Extents<65536, 768>,
//       Operands<Strided<0, bf16, Strides<768, 1>>,
//                Strided<1, bf16, Strides<0, 1>>>,
//       Results<Result<Body, Strided<2, bf16, Strides<768, 1>>>>,
//       PointwiseSchedule<256, 8, 2>>;  // threads, vector, vectors a thread
//
//   FACT_KERNEL(pointwise_0, Kernel)
//
//   } // namespace fact::pointwise_0
//
// Functors take float for 16-bit floats and the element's own type otherwise.
// A copy has the functor `Identity`. The vector divides the innermost extent: a
// tensor whose innermost stride is 1 moves in vectors, one whose stride is 0 is
// read once, one of a few elements is `Picked` from the vectors that it spans,
// any other is read element by element. Or it divides the whole index space and
// results are contiguous: what is contiguous moves in vectors, across the ends
// of rows. Results that fill the places between each other, such as turned
// pairs, are stored as one.
//
// An operand may be chosen by indices, as in an embedding: `Gathered` moves a
// read by functions of other operands. It may be part of a concatenation:
// `Guarded` reads zeros, and no memory, outside of its bounds. `Coordinate`
// reads nothing and is a position in the index space.
//
//   // y = pad(x, [1, 1]) for rows of 56
//   Operands<Guarded<Strided<0, f32, Strides<56, 1>, -1>,
//                    Bound<Strides<0, 1>, 0, 1, 57>>>
//
// `Shifted` reads elsewhere where a coordinate is low:
//
//   // y = roll(x, 1) for rows of 56
//   Operands<Shifted<Strided<0, f32, Strides<56, 1>, -1>,
//                    Shift<Strides<0, 1>, 1, 56>>>
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_POINTWISE_CUH
#define FACT_CUTLASS_POINTWISE_CUH

#include "Math.cuh"
#include "StridedTensors.cuh"
#include "Vector.cuh"

#include <tuple>

namespace fact {

/// The vectors of a thread lie a block apart, or, with `Rows`, at one place of
/// several rows, the first dimension: what does not depend on that dimension,
/// such as where a resized image is read, is computed once for all of them.
/// These rows lie far apart, so that neighboring threads have neighboring rows
/// where rows are short.
template <int Threads, int Vector, int VectorsPerThread, bool Rows = false>
struct PointwiseSchedule {
  static constexpr int threads = Threads, vector = Vector,
                       vectors_per_thread = VectorsPerThread;
  static constexpr bool has_rows = Rows;
  static_assert(Threads % 32 == 0 && Threads <= 1024,
                "a block has whole warps and at most 1024 threads");
  static_assert((Vector & (Vector - 1)) == 0, "a vector is a power of two");
};

template <class Extents, class OperandList, class ResultList, class Schedule>
class Pointwise;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    pointwise_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Extents, class... Tensors, class... List, class Schedule>
class Pointwise<Extents, Operands<Tensors...>, Results<List...>, Schedule> {
  static constexpr int vector = Schedule::vector;
  static constexpr int per_thread = Schedule::vectors_per_thread;
  static constexpr int64_t vectors = Extents::total / vector;
  // Index arithmetic is a chain of divisions by constants: 32 bits are cheaper.
  using Index =
      std::conditional_t<(Extents::total < INT32_MAX), uint32_t, uint64_t>;

  /// Whether vectors reach across the ends of rows.
  static constexpr bool is_flat =
      Extents::sizes[Extents::rank - 1] % vector != 0;

  static constexpr bool has_rows = Schedule::has_rows;
  static constexpr int64_t row_vectors = vectors / Extents::sizes[0];
  /// How far the rows of a thread lie apart.
  static constexpr int64_t row_step =
      (Extents::sizes[0] + per_thread - 1) / per_thread;
  /// Threads that have vectors.
  static constexpr int64_t workers =
      has_rows ? row_step * row_vectors
               : (vectors + per_thread - 1) / per_thread;

  static_assert(Extents::total % vector == 0,
                "the index space must be a multiple of the vector");
  static_assert(!has_rows || (Extents::rank > 1 && !is_flat),
                "rows need a dimension of their own");
  static_assert(((Tensors::Strides::rank == Extents::rank) && ...) &&
                    ((List::Tensor::Strides::rank == Extents::rank) && ...),
                "a tensor needs one stride for each dimension");

public:
  static constexpr int buffer_count =
      count_buffers<Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = Schedule::threads;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    constexpr bool has_vectors =
        vector > 1 || run_width > 1 || (is_picked_v<Tensors> || ...);
    for (int i = 0; i < buffer_count; ++i) {
      if (has_vectors && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t per_block = int64_t(block_threads) * per_thread;
    constexpr int64_t blocks =
        has_rows ? (workers + block_threads - 1) / block_threads
                 : (vectors + per_block - 1) / per_block;
    static_assert(blocks < INT32_MAX,
                  "too many elements for one grid: use more "
                  "vectors a thread");
    return launch_kernel(&pointwise_kernel<Pointwise>, dim3(unsigned(blocks)),
                         dim3(1), dim3(block_threads), 0, state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    run(state, std::index_sequence_for<Tensors...>{});
  }

private:
  /// A vector: its number, or, of rows, its number in each row and how many
  /// rows it is from the first one of the thread. The latter is added to
  /// positions last, as a constant.
  struct Place {
    Index index;
    Index first;
    int row;
  };

  FACT_DEVICE Place get_place(int number) {
    if constexpr (has_rows) {
      Index const worker = Index(blockIdx.x) * block_threads + threadIdx.x;
      return {worker % Index(row_vectors), worker / Index(row_vectors),
              number * int(row_step)};
    } else {
      return {Index(blockIdx.x) * (block_threads * per_thread) + threadIdx.x +
                  number * block_threads,
              0, 0};
    }
  }

  /// All of a thread's loads come before its first use of any, but for indices.
  template <size_t... I>
  FACT_DEVICE void run(State const &state, std::index_sequence<I...> all) {
    Slots<std::index_sequence<I...>> operands[per_thread];
    load_all<false, false>(state, operands, all);
    // Where all indices are in range, no element has to be replaced.
    if constexpr ((checks_ahead<Tensors>(typename Reads<Tensors>::Indices{}) &&
                   ...) &&
                  (is_indexed_v<Tensors> || ...)) {
      if (finds_all(operands, all))
        load_all<true, false>(state, operands, all);
      else
        load_all<true, true>(state, operands, all);
    } else if constexpr ((is_indexed_v<Tensors> || ...)) {
      load_all<true, true>(state, operands, all);
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      Place const place = get_place(v);
      if (!is_inside(place))
        continue;
      if constexpr (run_width > 1)
        store_runs(std::make_index_sequence<sizeof...(List) / run_length>{},
                   state, place, slot<I, Tensors>(operands[v])...);
      else
        (store<List>(state, place, slot<I, Tensors>(operands[v])...), ...);
    }
  }

  template <class Result>
  using Returned =
      decltype(Result::Functor::apply(Compute<typename Tensors::Element>{}...));
  using First = std::tuple_element_t<0, std::tuple<List...>>;
  /// How many results in a row would be neighbors in memory.
  static constexpr int64_t run_length = First::Tensor::inner_stride;

  /// Elements per store of results that fill all places between each other; 1
  /// if they are stored one by one.
  static constexpr int find_run_width() {
    using Tensor = typename First::Tensor;
    constexpr int count = sizeof...(List);
    if (is_flat || run_length < 2 || run_length > 8 ||
        count % run_length != 0 || (is_guarded_v<typename List::Tensor> || ...))
      return 1;
    if (!((std::is_same_v<typename Tensor::Strides,
                          typename List::Tensor::Strides> &&
           std::is_same_v<typename Tensor::Element,
                          typename List::Tensor::Element> &&
           std::is_same_v<Returned<First>, Returned<List>> &&
           Tensor::buffer == List::Tensor::buffer) &&
          ...))
      return 1;
    int64_t const offsets[] = {List::Tensor::offset...};
    int width = 16 / int(sizeof(typename Tensor::Element));
    auto divides = [&] {
      bool all = vector * run_length % width == 0;
      for (int d = 0; d < Extents::rank - 1; ++d)
        all &= Tensor::Strides::values[d] % width == 0;
      for (int i = 0; i < count; i += run_length)
        all &= offsets[i] % width == 0;
      return all;
    };
    while (width > 1 && !divides())
      width /= 2;
    for (int i = 0; i < count; ++i)
      if (offsets[i] != offsets[i - i % run_length] + i % run_length)
        return 1;
    return width;
  }
  static constexpr int run_width = find_run_width();

  template <size_t... Runs, class... Arguments>
  FACT_DEVICE void store_runs(std::index_sequence<Runs...>, State const &state,
                              Place const &place,
                              Arguments const *...operands) {
    (store_run<Runs * run_length>(std::make_index_sequence<run_length>{}, state,
                                  place, operands...),
     ...);
  }
  template <size_t Begin, size_t... I, class... Arguments>
  FACT_DEVICE void store_run(std::index_sequence<I...>, State const &state,
                             Place const &place, Arguments const *...operands) {
    using All = std::tuple<List...>;
    using Tensor = typename std::tuple_element_t<Begin, All>::Tensor;
    constexpr int count = vector * int(run_length);
    auto *destination =
        static_cast<typename Tensor::Element *>(state.buffers[Tensor::buffer]) +
        Positions<Tensor, Offset<Tensor>>(place)[0] + get_row<Tensor>(place);
    Returned<First> values[count];
#pragma unroll
    for (int i = 0; i < vector; ++i)
      ((values[i * int(run_length) + int(I)] =
            std::tuple_element_t<Begin + I, All>::Functor::apply(
                operands[i]...)),
       ...);
#pragma unroll
    for (int i = 0; i < count; i += run_width)
      store_vector<run_width>(destination + i, values + i);
  }

  /// Whether the indices of a tensor are known before any gathered operand, and
  /// are read at all points.
  template <class Tensor, class... Indices>
  static constexpr bool checks_ahead(Pack<Indices...>) {
    return sizeof...(Indices) == 0 ||
           (!is_guarded_v<Tensor> &&
            ((!Indices::is_chained && Indices::size > 0) && ...));
  }

  /// Whether all indices of a thread are in range.
  template <class SlotsOfAll, size_t... I>
  FACT_DEVICE bool finds_all(SlotsOfAll *operands,
                             std::index_sequence<I...> all) {
    bool found = true;
#pragma unroll
    for (int v = 0; v < per_thread; ++v)
      if (is_inside(get_place(v)))
#pragma unroll
        for (int i = 0; i < vector; ++i)
          found &= (finds<Tensors>(operands[v], i, all) & ...);
    return found;
  }
  template <class Tensor, class SlotsOfAll, size_t... I>
  FACT_DEVICE bool finds(SlotsOfAll &operands, int element,
                         std::index_sequence<I...>) {
    int64_t offset = 0;
    return move<true>(typename Reads<Tensor>::Indices{}, offset,
                      slot<I, Tensors>(operands)[element]...);
  }

  /// Loads the operands that have indices, or those that have none.
  template <bool Indexed, bool Checked, class SlotsOfAll, size_t... I>
  FACT_DEVICE void load_all(State const &state, SlotsOfAll *operands,
                            std::index_sequence<I...> all) {
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      Place const place = get_place(v);
      if (is_inside(place))
        (load_slot<Indexed, Checked, I, Tensors>(state, place, operands[0],
                                                 operands[v], all),
         ...);
    }
  }
  template <bool Indexed, bool Checked, size_t I, class Tensor,
            class SlotsOfAll, size_t... All>
  FACT_DEVICE void load_slot(State const &state, Place const &place,
                             SlotsOfAll &of_first_row, SlotsOfAll &operands,
                             std::index_sequence<All...>) {
    if constexpr (is_indexed_v<Tensor> == Indexed) {
      if (!is_same_in_rows<Tensor>() || place.row == 0) {
        load<Tensor, Checked>(state, place, slot<I, Tensor>(operands),
                              slot<All, Tensors>(operands)...);
      } else {
#pragma unroll
        for (int i = 0; i < vector; ++i)
          slot<I, Tensor>(operands)[i] = slot<I, Tensor>(of_first_row)[i];
      }
    }
  }

  /// Whether the rows of a thread have the same elements of an operand.
  template <class Tensor> static constexpr bool is_same_in_rows() {
    return has_rows && !is_indexed_v<Tensor> && !is_guarded_v<Tensor> &&
           !is_shifted_v<Tensor> && Tensor::Strides::values[0] == 0;
  }

  /// One vector of each operand: a tuple that stays in registers.
  template <size_t I, class Tensor> struct Slot {
    Compute<typename Tensor::Element> values[vector];
  };
  template <class Indices> struct Slots;
  template <size_t... I>
  struct Slots<std::index_sequence<I...>> : Slot<I, Tensors>... {};
  template <size_t I, class Tensor>
  FACT_DEVICE Compute<typename Tensor::Element> *slot(Slot<I, Tensor> &slot) {
    return slot.values;
  }

  /// Free where the grid divides the index space.
  FACT_DEVICE bool is_inside(Place const &place) {
    if constexpr (has_rows) {
      return (workers % block_threads == 0 || place.first < Index(row_step)) &&
             (Extents::sizes[0] % per_thread == 0 ||
              place.first + Index(place.row) < Index(extent(0)));
    } else {
      Index const index = place.index;
      return vectors % (int64_t(block_threads) * per_thread) == 0 ||
             index < Index(vectors);
    }
  }

  /// Whether the offsets of a tensor, in bounds or not, fit 32 bits, also as
  /// indices move them.
  template <class Tensor> static constexpr bool is_short() {
    int64_t low = Tensor::offset, high = Tensor::offset;
    for (int d = 0; d < Extents::rank; ++d) {
      int64_t reach = (Extents::sizes[d] - 1) * Tensor::Strides::values[d];
      (reach < 0 ? low : high) += reach;
    }
    stretch(typename Reads<Tensor>::Indices{}, low, high);
    stretch_by(typename Reads<Tensor>::Shifts{}, low, high);
    return low > INT32_MIN / 2 && high < INT32_MAX / 2;
  }
  template <class... Indices>
  static constexpr void stretch(Pack<Indices...>, int64_t &low, int64_t &high) {
    (((Indices::stride < 0 ? low : high) +=
      (Indices::size - 1) * Indices::stride),
     ...);
  }
  template <class... Shifts>
  static constexpr void stretch_by(Pack<Shifts...>, int64_t &low,
                                   int64_t &high) {
    (((Shifts::distance < 0 ? low : high) += Shifts::distance), ...);
  }
  template <class Tensor>
  using Offset = std::conditional_t<is_short<Tensor>(), int32_t, int64_t>;

  /// Positions of the elements of a vector that begins at one point: in one
  /// row, or in two rows that are no shorter than the vector, or in short rows.
  template <class Tensor, class Number> struct Positions {
    static constexpr Number inner = Number(Tensor::inner_stride);
    static constexpr Index row = Index(Extents::sizes[Extents::rank - 1]);
    Index point, left;
    Number first, next;

    __device__ __forceinline__ explicit Positions(Place const &place)
        : point(place.index * vector) {
      if constexpr (has_rows)
        first = sum_over<Tensor, Number, 1>(point) +
                Number(place.first) * Number(stride<Tensor>(0));
      else
        first = sum_over<Tensor, Number>(point);
      if constexpr (is_flat && row >= vector) {
        left = row - point % row;
        next = sum_over<Tensor, Number>(point + left) - Number(left) * inner;
      }
    }
    __device__ __forceinline__ Number operator[](int element) const {
      if constexpr (!is_flat)
        return first + element * inner;
      else if constexpr (row >= vector)
        return (Index(element) < left ? first : next) + element * inner;
      else
        return sum_over<Tensor, Number>(point + element);
    }
  };

  /// The offset of a tensor plus the point's coordinates times its strides,
  /// from a dimension on.
  template <class Tensor, class Number, int First = 0>
  FACT_DEVICE Number sum_over(Index point) {
    Number sum = Number(Tensor::offset);
    Index rest = point;
#pragma unroll
    for (int d = Extents::rank - 1; d > First; --d) {
      Index size = Index(extent(d));
      sum += Number(rest % size) * Number(stride<Tensor>(d));
      rest /= size;
    }
    return sum + Number(rest) * Number(stride<Tensor>(First));
  }

  /// What the row of a vector adds to its positions.
  template <class Tensor> FACT_DEVICE int64_t get_row(Place const &place) {
    return has_rows ? place.row * stride<Tensor>(0) : 0;
  }

  /// True if vectors of a tensor are contiguous and aligned, and are read as a
  /// whole or not at all.
  template <class Tensor> static constexpr bool moves_in_vectors() {
    if (!is_flat)
      return Tensor::template moves_in_vectors<vector>();
    bool contiguous = !is_indexed_v<Tensor> && !is_guarded_v<Tensor> &&
                      !is_shifted_v<Tensor> && Tensor::offset % vector == 0;
    int64_t inner = 1;
    for (int d = Extents::rank - 1; d >= 0; --d) {
      contiguous &= Tensor::Strides::values[d] == inner;
      inner *= Extents::sizes[d];
    }
    return contiguous;
  }

  // By value: static arrays have no address on the device.
  static constexpr __device__ int64_t extent(int dimension) {
    return at(Extents{}, dimension);
  }
  template <class Tensor>
  static constexpr __device__ int64_t stride(int dimension) {
    return at(typename Tensor::Strides{}, dimension);
  }
  template <template <int64_t...> class List_, int64_t... Values_>
  static constexpr __device__ int64_t at(List_<Values_...>, int dimension) {
    int64_t result = 0;
    int i = 0;
    ((result = i++ == dimension ? Values_ : result), ...);
    return result;
  }

  /// Loads one vector. `operands` are the vectors of all operands, of which
  /// those before this one may be arguments of its indices.
  template <class Tensor, bool Checked, class... Arguments>
  FACT_DEVICE void load(State const &state, Place const &place,
                        Compute<typename Tensor::Element> *values,
                        Arguments const *...operands) {
    if constexpr (Tensor::buffer < 0) {
      Positions<Tensor, int32_t> coordinates(place);
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] = coordinates[i] + int32_t(get_row<Tensor>(place));
    } else {
      auto const *base = static_cast<typename Tensor::Element const *>(
          state.buffers[Tensor::buffer]);
      if constexpr (is_picked_v<Tensor>)
        pick<Tensor>(base, place, values);
      else
        load_from<Tensor, Checked>(
            base, place, values, typename Reads<Tensor>::Bounds{},
            typename Reads<Tensor>::Shifts{}, operands...);
    }
  }

  template <class Tensor>
  FACT_DEVICE void pick(typename Tensor::Element const *base,
                        Place const &place,
                        Compute<typename Tensor::Element> *values) {
    static_assert(!is_flat, "vectors of picked elements lie in rows");
    using First = typename Tensor::First;
    typename Tensor::Element spanned[vector * Tensor::step];
    load_spanned<Tensor, vector>(base +
                                     Positions<First, Offset<First>>(place)[0] +
                                     get_row<Tensor>(place),
                                 spanned);
#pragma unroll
    for (int i = 0; i < vector; ++i)
      values[i] = widen(spanned[i * Tensor::step + Tensor::place]);
  }

  template <class Tensor, bool Checked, class... Bounds, class... Shifts,
            class... Arguments>
  FACT_DEVICE void
  load_from(typename Tensor::Element const *base, Place const &place,
            Compute<typename Tensor::Element> *values, Pack<Bounds...>,
            Pack<Shifts...>, Arguments const *...operands) {
    using Indices = typename Reads<Tensor>::Indices;
    using Value = Compute<typename Tensor::Element>;
    Positions<Tensor, Offset<Tensor>> offsets(place);
    [[maybe_unused]] std::tuple<Positions<Bounds, int32_t>...> coordinates(
        Positions<Bounds, int32_t>{place}...);
    [[maybe_unused]] std::tuple<Positions<Shifts, int32_t>...> shifted(
        Positions<Shifts, int32_t>{place}...);
    constexpr bool whole = moves_in_vectors<Tensor>();
#pragma unroll
    for (int i = 0; i < (whole ? 1 : vector); ++i) {
      bool inside = (true & ... &
                     contains<Bounds>(
                         std::get<Positions<Bounds, int32_t>>(coordinates)[i] +
                         int32_t(get_row<Bounds>(place))));
      Offset<Tensor> offset = offsets[i];
      ((offset += std::get<Positions<Shifts, int32_t>>(shifted)[i] +
                              int32_t(get_row<Shifts>(place)) <
                          int32_t(Shifts::before)
                      ? Offset<Tensor>(Shifts::distance)
                      : Offset<Tensor>(0)),
       ...);
      bool found = move<Checked>(Indices{}, offset, operands[i]...);
      // Rows lie a constant apart.
      auto const *element = base + offset + get_row<Tensor>(place);
      bool const exists = inside && !is_empty(Indices{});
      // Not under `found`: all loads are issued before one is waited for.
      if constexpr (whole) {
        if (exists)
          load_vector<vector>(element, values);
#pragma unroll
        for (int j = 0; j < vector; ++j)
          values[j] = choose<Value>(inside, found, values[j]);
      } else {
        Value value = Value(0);
        if (exists)
          value = widen(*element);
        values[i] = choose<Value>(inside, found, value);
      }
    }
  }

  template <class Value>
  FACT_DEVICE Value choose(bool inside, bool found, Value value) {
    return !inside ? Value(0) : found ? value : missing_value<Value>();
  }

  /// Whether indices choose from nothing.
  template <class... Indices>
  static constexpr __device__ bool is_empty(Pack<Indices...>) {
    return (false || ... || (Indices::size == 0));
  }

  /// Moves `offset` by all indices; false if one is out of range, which moves
  /// it by nothing. Indices that are not checked are in range.
  template <bool Checked, class... Indices, class Number, class... Arguments>
  FACT_DEVICE bool move(Pack<Indices...>, Number &offset,
                        Arguments... operands) {
    return (true & ... & move_by<Checked, Indices>(offset, operands...));
  }
  template <bool Checked, class IndexOf, class Number, class... Arguments>
  FACT_DEVICE bool move_by(Number &offset, Arguments... operands) {
    int64_t index = int64_t(IndexOf::Functor::apply(operands...));
    bool found = !Checked || uint64_t(index) < uint64_t(IndexOf::size);
    index = found ? index : 0;
    if constexpr (IndexOf::size <= INT32_MAX)
      offset += Number(int32_t(index)) * Number(IndexOf::stride);
    else
      offset += index * IndexOf::stride;
    return found;
  }

  template <class Result, class... Arguments>
  FACT_DEVICE void store(State const &state, Place const &place,
                         Arguments const *...operands) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    auto *destination = static_cast<Element *>(state.buffers[Tensor::buffer]) +
                        Positions<Tensor, Offset<Tensor>>(place)[0] +
                        get_row<Tensor>(place);
    decltype(Result::Functor::apply(operands[0]...)) values[vector];
#pragma unroll
    for (int i = 0; i < vector; ++i)
      values[i] = Result::Functor::apply(operands[i]...);
    static_assert(!is_flat || moves_in_vectors<Tensor>(),
                  "vectors that reach across rows need contiguous results");
    using Bounds = typename Reads<Tensor>::Bounds;
    if constexpr (moves_in_vectors<Tensor>()) {
      if (is_stored(Bounds{}, place, 0))
        store_vector<vector>(destination, values);
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        if (is_stored(Bounds{}, place, i))
          destination[i * Tensor::inner_stride] = narrow<Element>(values[i]);
    }
  }

  template <class... Bounds>
  FACT_DEVICE bool is_stored(Pack<Bounds...>, Place const &place, int element) {
    return (true & ... &
            contains<Bounds>(Positions<Bounds, int32_t>(place)[element] +
                             int32_t(get_row<Bounds>(place))));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_POINTWISE_CUH
