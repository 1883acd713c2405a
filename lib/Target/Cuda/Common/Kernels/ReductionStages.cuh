//===- ReductionStages.cuh - Parts of staged reductions --------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes, stages and schedules of StagedReduction.cuh, and how its threads
// load, store and combine.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_REDUCTIONSTAGES_CUH
#define FACT_CUTLASS_REDUCTIONSTAGES_CUH

#include "Math.cuh"
#include "Pointwise.cuh"
#include "Scan.cuh"

namespace fact {

/// The largest of some numbers, at compile time.
template <class... Numbers>
constexpr int max_of(int first, Numbers... numbers) {
  ((first = numbers > first ? numbers : first), ...);
  return first;
}

/// With `Folds`, the `Inner` columns are parts of one row. What is reduced, or
/// what is not, may lie in two places: [outer, repeats, middle, length, inner].
template <int64_t Outer, int64_t Length, int64_t Inner, bool Folds = false,
          int64_t Repeats = 1, int64_t Middle = 1>
struct ReductionShape {
  static constexpr int64_t outer = Outer, length = Length, inner = Inner;
  static constexpr int64_t repeats = Repeats, middle = Middle;
  static constexpr bool folds = Folds;
  /// Whether tensors have strides of all five dimensions.
  static constexpr bool is_apart = Repeats > 1 || Middle > 1;
};

//===----------------------------------------------------------------------===//
// What a stage does: from a `State` without elements, over those of a column
//===----------------------------------------------------------------------===//

/// Sums, products and extremes.
template <class Operation, bool IsMean = false> struct Folded {
  static constexpr bool takes_vectors = false;
  template <class Value> using State = Value;
  template <class Value> using Result = Value;
  template <class Value> FACT_DEVICE Value begin(int64_t = 0) {
    return Operation::template identity<Value>();
  }
  template <class Value>
  FACT_DEVICE Value next(Value state, Value value, int64_t) {
    return Operation::apply(state, value);
  }
  template <class Value> FACT_DEVICE Value combine(Value a, Value b) {
    return Operation::apply(a, b);
  }
  template <class Value> FACT_DEVICE Value finish(Value value, int64_t count) {
    return IsMean ? value / Value(count) : value;
  }
};

/// The place of the first extreme element; NaN is the extreme of both kinds.
template <class Operation> struct Place {
  static constexpr bool takes_vectors = false;
  template <class Value> struct Found {
    Value value;
    int32_t place;
  };
  template <class Value> using State = Found<Value>;
  template <class Value> using Result = int64_t;

  /// `first` is the first of the places that follow: elements that are all the
  /// identity have it. Without elements, it is a place after all others.
  template <class Value> FACT_DEVICE Found<Value> begin(int64_t first = 0) {
    return {Operation::template identity<Value>(), int32_t(first)};
  }
  /// Takes an element that comes after those of the state.
  template <class Value>
  FACT_DEVICE Found<Value> next(Found<Value> state, Value value,
                                int64_t place) {
    bool const exceeds = Operation::exceeds(value, state.value);
    return {exceeds ? value : state.value,
            exceeds ? int32_t(place) : state.place};
  }
  template <class Value>
  FACT_DEVICE Found<Value> combine(Found<Value> a, Found<Value> b) {
    if (a.place < b.place)
      return Operation::exceeds(b.value, a.value) ? b : a;
    return Operation::exceeds(a.value, b.value) ? a : b;
  }
  template <class Value>
  FACT_DEVICE int64_t finish(Found<Value> found, int64_t) {
    return found.place;
  }
};

/// The sum or the mean of the squares around the mean, of the elements
/// themselves. A thread adds distances from its first element, so that a mean
/// far from 0 costs no digits; threads meet by their means.
template <bool IsMean> struct SquaresAroundMean {
  static constexpr bool takes_vectors = true;
  template <class Value> struct Moments {
    Value shift, sum, squares;
    int32_t count;
  };
  template <class Value> using State = Moments<Value>;
  template <class Value> using Result = Value;

  template <class Value> FACT_DEVICE Moments<Value> begin(int64_t = 0) {
    return {Value(0), Value(0), Value(0), 0};
  }
  template <class Value, int Vector>
  FACT_DEVICE Moments<Value> next(Moments<Value> state,
                                  Value const (&values)[Vector]) {
    state.shift = state.count > 0 ? state.shift : values[0];
#pragma unroll
    for (int i = 0; i < Vector; ++i) {
      Value const distance = values[i] - state.shift;
      state.sum += distance;
      state.squares += distance * distance;
    }
    state.count += Vector;
    return state;
  }
  /// The same elements with their mean as the shift, as they are combined.
  template <class Value>
  FACT_DEVICE Moments<Value> settle(Moments<Value> state) {
    Value const mean = state.sum * inverse<Value>(state.count);
    return {state.shift + mean, Value(0), state.squares - state.sum * mean,
            state.count};
  }
  /// Of settled states, either of which may have no elements.
  template <class Value>
  FACT_DEVICE Moments<Value> combine(Moments<Value> a, Moments<Value> b) {
    int32_t const count = a.count + b.count;
    Value const apart = b.shift - a.shift;
    Value const share = Value(b.count) * inverse<Value>(count);
    return {a.shift + apart * share, Value(0),
            a.squares + b.squares + apart * (apart * (Value(a.count) * share)),
            count};
  }
  template <class Value>
  FACT_DEVICE Value finish(Moments<Value> state, int64_t count) {
    // Rounding may make what is 0 negative.
    Value const squares = state.squares < Value(0) ? Value(0) : state.squares;
    return IsMean ? squares / Value(count) : squares;
  }

private:
  template <class Value> FACT_DEVICE Value inverse(int32_t count) {
    return __frcp_rn(Value(count > 0 ? count : 1));
  }
};

/// The sum of the exponentials of distances from the maximum, of the elements
/// themselves: a larger one scales the sum of those before it.
struct ExponentialsBelowMaximum {
  static constexpr bool takes_vectors = true;
  template <class Value> struct Sum {
    Value largest, sum;
  };
  template <class Value> using State = Sum<Value>;
  template <class Value> using Result = Value;

  template <class Value> FACT_DEVICE Sum<Value> begin(int64_t = 0) {
    return {-Value(INFINITY), Value(0)};
  }
  /// What distances are taken from: those between infinities are NaN, and a
  /// finite element may follow.
  template <class Value> FACT_DEVICE Value origin(Value largest) {
    return largest == -Value(INFINITY) ? Value(0) : largest;
  }
  /// Terms of large distances, whose relative error is large, are small.
  template <class Value, int Vector>
  FACT_DEVICE Sum<Value> next(Sum<Value> state, Value const (&values)[Vector]) {
    Value largest = state.largest;
#pragma unroll
    for (int i = 0; i < Vector; ++i)
      largest = fmaxf(largest, values[i]);
    Value const from = origin(largest);
    Value sum = state.sum * fast_exp(state.largest - from);
#pragma unroll
    for (int i = 0; i < Vector; ++i)
      sum += fast_exp(values[i] - from);
    return {largest, sum};
  }
  template <class Value> FACT_DEVICE Sum<Value> settle(Sum<Value> state) {
    return state;
  }
  template <class Value>
  FACT_DEVICE Sum<Value> combine(Sum<Value> a, Sum<Value> b) {
    Value const largest = fmaxf(a.largest, b.largest);
    Value const from = origin(largest);
    return {largest, a.sum * fast_exp(a.largest - from) +
                         b.sum * fast_exp(b.largest - from)};
  }
  /// NaN where the maximum is infinite, as the distances from it are.
  template <class Value> FACT_DEVICE Value finish(Sum<Value> state, int64_t) {
    return state.sum + (state.largest - state.largest);
  }
};

/// Reduces what `Functor` gives for each element, a `Value`. Stages of one pass
/// use the results of earlier passes only, and read the elements together.
template <class Operation_, class Value_, class Functor_, int Pass = 0>
struct Stage {
  static constexpr int pass = Pass;
  using Operation = Operation_;
  using Value = Value_;
  using Functor = Functor_;
  using State = typename Operation::template State<Value>;
  using Result = typename Operation::template Result<Value>;
};
template <class... List> struct Stages {};

template <int Vector, int Columns, int Lanes, int Splits, bool Held,
          bool Shared = false>
struct ReductionSchedule {
  static constexpr int vector = Vector, columns = Columns, lanes = Lanes;
  static constexpr int splits = Splits;
  static constexpr bool held = Held, shared = Shared;
  static_assert((Lanes & (Lanes - 1)) == 0, "lanes are halved");
  static_assert(Columns * Lanes <= 1024, "a block has at most 1024 threads");
};

//===----------------------------------------------------------------------===//
// A list of values of different types, by number
//===----------------------------------------------------------------------===//

namespace reduction {

template <size_t Number, class Value, int Count> struct Slot {
  Value values[Count];
};
template <int Count, class Numbers, class... Values> struct SlotsOf;
template <int Count, size_t... I, class... Values>
struct SlotsOf<Count, std::index_sequence<I...>, Values...>
    : Slot<I, Values, Count>... {};
template <int Count, class... Values>
using Slots = SlotsOf<Count, std::index_sequence_for<Values...>, Values...>;

template <size_t I, class Value, int Count>
__device__ __forceinline__ Value (&get(Slot<I, Value, Count> &slot))
    [Count] { return slot.values; } template <size_t I, class Value, int Count>
    __device__ __forceinline__ Value
    const (&get(Slot<I, Value, Count> const &slot))
        [Count] { return slot.values; }

/// The vector at `offset`, in the elements' own type.
template <class Tensor, int Vector>
__device__ __forceinline__ void load(void *const *buffers, int64_t offset,
                                     typename Tensor::Element *values) {
  using Element = typename Tensor::Element;
  auto const *source =
      static_cast<Element const *>(buffers[Tensor::buffer]) + offset;
  if constexpr (Tensor::template moves_in_vectors<Vector>()) {
    load_elements<Vector, Tensor::is_streamed>(source, values);
  } else {
#pragma unroll
    for (int i = 0; i < Vector; ++i)
      values[i] = source[i * Tensor::inner_stride];
  }
}

/// Moves `offset` by `index`; false if it is out of range, which moves nothing.
template <class IndexOf>
__device__ __forceinline__ bool move_by(int64_t &offset, int64_t index) {
  bool const found = uint64_t(index) < uint64_t(IndexOf::size);
  offset += (found ? index : 0) * IndexOf::stride;
  return found;
}

/// The vector at `offset` that the indices choose: `index_at(functor, j)` is
/// one of element j. An index out of range gives NaN, or 0 of integers.
template <class Tensor, int Vector, class Function, class... Indices>
__device__ __forceinline__ void
load_gathered(void *const *buffers, int64_t offset,
              typename Tensor::Element *values, Function index_at,
              Pack<Indices...>) {
  using Element = typename Tensor::Element;
  auto const *source = static_cast<Element const *>(buffers[Tensor::buffer]);
  Element const missing =
      narrow<Element>(missing_value<decltype(widen(Element()))>());
  constexpr bool whole = Tensor::template moves_in_vectors<Vector>();
  // Nothing to read, and no memory either.
  constexpr bool empty = (false || ... || (Indices::size == 0));
#pragma unroll
  for (int j = 0; j < (whole ? 1 : Vector); ++j) {
    int64_t place = offset + j * Tensor::inner_stride;
    bool const found =
        (true & ... &
         move_by<Indices>(place, index_at(typename Indices::Functor{}, j)));
    if constexpr (empty) {
#pragma unroll
      for (int i = 0; i < (whole ? Vector : 1); ++i)
        values[j + i] = missing;
    } else if constexpr (whole) {
      load_elements<Vector>(source + place, values);
#pragma unroll
      for (int i = 0; i < Vector; ++i)
        values[i] = found ? values[i] : missing;
    } else {
      Element const value = source[place];
      values[j] = found ? value : missing;
    }
  }
}

template <bool Indexed, int Vector, size_t Number, class Tensor, class Loaded,
          class Reduced, class Function, size_t... I, size_t... S>
__device__ __forceinline__ void
load_one(void *const *buffers, Loaded &loaded, Reduced const &reduced,
         std::index_sequence<I...>, std::index_sequence<S...>,
         Function offset_of) {
  if constexpr (is_indexed_v<Tensor> != Indexed)
    return;
  else if constexpr (Indexed)
    load_gathered<Tensor, Vector>(
        buffers, offset_of(Tensor{}), get<Number>(loaded),
        [&](auto functor, int j) {
          return int64_t(functor.apply(get<S>(reduced)[j]...,
                                       widen(get<I>(loaded)[j])...));
        },
        typename Reads<Tensor>::Indices{});
  else
    load<Tensor, Vector>(buffers, offset_of(Tensor{}), get<Number>(loaded));
}

/// Loads vectors of all tensors, each at its offset: those in place, then those
/// that functions of the former, or of what is reduced, choose.
template <int Vector, class Loaded, class Reduced, class... Tensors,
          size_t... I, class Stages, class Function>
__device__ __forceinline__ void
load_all(void *const *buffers, Loaded &loaded, Reduced const &reduced,
         Operands<Tensors...>, std::index_sequence<I...> numbers, Stages stages,
         Function offset_of) {
  (load_one<false, Vector, I, Tensors>(buffers, loaded, reduced, numbers,
                                       stages, offset_of),
   ...);
  (load_one<true, Vector, I, Tensors>(buffers, loaded, reduced, numbers, stages,
                                      offset_of),
   ...);
}

template <class Tensor, int Vector, class Value>
__device__ __forceinline__ void store(void *const *buffers, int64_t offset,
                                      Value const *values) {
  using Element = typename Tensor::Element;
  auto *destination = static_cast<Element *>(buffers[Tensor::buffer]) + offset;
  if constexpr (Tensor::template moves_in_vectors<Vector>()) {
    store_vector<Vector>(destination, values);
  } else {
#pragma unroll
    for (int i = 0; i < Vector; ++i)
      destination[i * Tensor::inner_stride] = narrow<Element>(values[i]);
  }
}

/// Which thread of a block has which lane of which column. Neighbors in a warp
/// have neighboring columns, or, with `ByLane`, those of a row: a warp reads a
/// row at a time, and its lanes meet without a barrier.
template <int Columns_, int Lanes_, bool ByLane> struct ThreadLayout {
  static constexpr int columns = Columns_, lanes = Lanes_;
  /// Threads between neighboring lanes, and lanes of a column in a warp.
  static constexpr int distance = ByLane ? 1 : Columns_;
  static constexpr int per_warp = distance >= 32           ? 1
                                  : 32 / distance < Lanes_ ? 32 / distance
                                                           : Lanes_;

  FACT_DEVICE int column() {
    return ByLane ? threadIdx.x / Lanes_ : threadIdx.x % Columns_;
  }
  FACT_DEVICE int lane() {
    return ByLane ? threadIdx.x % Lanes_ : threadIdx.x / Columns_;
  }
};

/// How the lanes of each column combine their states.
template <class Layout, int Vector, class State> struct Lanewise {
  static constexpr int Columns = Layout::columns, Lanes = Layout::lanes;
  /// Lanes of a column in a warp, which shuffle the words of their states, and
  /// groups of them, which meet in shared memory.
  static constexpr int per_warp = sizeof(State) % 4 != 0 ? 1 : Layout::per_warp;
  static constexpr int groups = Lanes / per_warp;
  static constexpr int values = Columns * Vector;
  static constexpr int scratch_bytes = groups > 1 ? groups * values *
                                                        int(sizeof(State))
                                                  : 0;
};

template <class State>
__device__ __forceinline__ State shuffle_xor(State state, int distance) {
  static_assert(sizeof(State) % 4 == 0, "states are whole words");
  uint32_t words[sizeof(State) / 4];
  memcpy(words, &state, sizeof(State));
#pragma unroll
  for (uint32_t &word : words)
    word = __shfl_xor_sync(0xffffffffu, word, distance);
  memcpy(&state, words, sizeof(State));
  return state;
}

/// Combines the states of all lanes of each column, in a fixed order; all lanes
/// get the result. Others may still read `scratch` until the next barrier.
template <class Operation, class Layout, int Vector, class State>
__device__ __forceinline__ void combine_lanes(State (&states)[Vector],
                                              State *scratch) {
  using Combined = Lanewise<Layout, Vector, State>;
  constexpr int Columns = Layout::columns, Lanes = Layout::lanes;
  constexpr int per_warp = Combined::per_warp, groups = Combined::groups;
  constexpr int values = Combined::values;
  int const column = Layout::column(), lane = Layout::lane();
  if constexpr (per_warp > 1)
#pragma unroll
    for (int distance = per_warp / 2; distance > 0; distance /= 2)
#pragma unroll
      for (int i = 0; i < Vector; ++i)
        states[i] = Operation::combine(
            states[i], shuffle_xor(states[i], distance * Layout::distance));
  if constexpr (groups > 1) {
    // Threads next to each other use neighboring words.
    auto at = [&](int group, int i) -> State & {
      return scratch[group * values + i * Columns + column];
    };
    if (lane % per_warp == 0)
#pragma unroll
      for (int i = 0; i < Vector; ++i)
        at(lane / per_warp, i) = states[i];
    __syncthreads();
    // Each thread combines all groups of its columns, or all threads share the
    // columns.
    constexpr int most_reads = 32;
    if constexpr (groups * Vector > most_reads) {
      for (int value = lane * Columns + column; value < values;
           value += Columns * Lanes) {
        State combined = scratch[value];
#pragma unroll
        for (int group = 1; group < groups; ++group)
          combined =
              Operation::combine(combined, scratch[group * values + value]);
        scratch[value] = combined;
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < Vector; ++i) {
      states[i] = at(0, i);
      if constexpr (groups * Vector <= most_reads)
#pragma unroll
        for (int group = 1; group < groups; ++group)
          states[i] = Operation::combine(states[i], at(group, i));
    }
  }
}

/// The state with one element more.
template <class Operation, class State, class Value>
__device__ __forceinline__ State next_of(State state, Value value,
                                         int64_t place) {
  if constexpr (Operation::takes_vectors) {
    Value const values[1] = {value};
    return Operation::next(state, values);
  } else {
    return Operation::next(state, value, place);
  }
}

/// Strides by value: static arrays have no address on the device.
template <class Strides> struct StridesOf;
template <int64_t... Values> struct StridesOf<Strides<Values...>> {
  /// Whether each place has an element of its own.
  template <class... Extents> static constexpr bool span(Extents... extents) {
    return (true && ... && (extents == 1 || Values != 0));
  }
  template <class... Indices> FACT_DEVICE int64_t dot(Indices... indices) {
    return ((int64_t(indices) * Values) + ...);
  }
};

template <class Tensor, class... Indices>
__device__ __forceinline__ int64_t offset_of(Indices... indices) {
  return Tensor::offset + StridesOf<typename Tensor::Strides>::dot(indices...);
}

} // namespace reduction

} // namespace fact

#endif // FACT_CUTLASS_REDUCTIONSTAGES_CUH
