//===- StagedReduction.cuh - Reductions over any dimension -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index space [outer, length, inner] is reduced over `length`, in stages:
// each reduces a function of the operands and of what the stages of earlier
// passes gave. Then come results of all elements, and results [outer, inner] of
// one element per column.
//
//   // softmax over the middle of 128 x 512 x 1024
//   #include "fact/cutlass/StagedReduction.cuh"
//
//   namespace fact::reduction_0 {
//   struct Body0 {
//     FACT_DEVICE float apply(float, float, float x) { return x; }
//   };
//   struct Body1 {
//     FACT_DEVICE float apply(float largest, float, float x) {
//       return expf(x - largest);
//     }
//   };
//   struct Body2 {
//     FACT_DEVICE float apply(float largest, float sum, float x) {
//       return expf(x - largest) / sum;
//     }
//   };
//   using Kernel = StagedReduction<
//       ReductionShape<128, 512, 1024>,
//       Stages<Stage<Folded<RunningMaximum>, float, Body0>,
//              Stage<Folded<RunningSum>, float, Body1, 1>>,  // pass 1
//       Operands<Strided<0, f32, Strides<524288, 1024, 1>>>,
//       Results<Result<Body2, Strided<1, f32, Strides<524288, 1024, 1>>>>,
//       Operands<>, Results<>,                  // of columns
//       ReductionSchedule<4, 8, 64, 1, true>>;  // vector, columns, lanes,
//   FACT_KERNEL(reduction_0, Kernel)            // splits, held, shared
//   } // namespace fact::reduction_0
//
// A thread has `vector` neighboring columns; `columns` such threads are next to
// each other, and `lanes` share the length; of contiguous rows, the lanes are
// next to each other. If `held`, a thread keeps its
// operands in registers (`shared`: in its part of shared memory) from the first
// stage to the last result, and with them what several stages compute of them:
// nothing is computed under a condition, so that the compiler sees the same
// values. Else each pass reads and computes them again. All is combined in a
// fixed order.
//
// `SquaresAroundMean` and `ExponentialsBelowMaximum` are the second stages of a
// variance and of a softmax in the pass of the first: they reduce the elements
// themselves, so that a column that is not held is read once less.
//
// A column may be shared by `splits` blocks. Each pass is then a launch, whose
// blocks combine the parts of the passes before it; full results are one more
// launch, else a small one has the results of columns.
//
// Rows that are contiguous are reduced as [outer, length / vector, vector]:
// `ReductionShape<..., true>` combines the columns of a vector too. Reduced
// dimensions that have others between them are
// [outer, repeats, middle, length, inner], with strides of all five:
// `ReductionShape<outer, length, inner, folds, repeats, middle>`. The same form
// has tensors that lie at two strides in `outer` or in `length`.
//
// Operands may be `Gathered` by functions of the operands, as in Pointwise.cuh;
// those of columns also by what was reduced.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_STAGEDREDUCTION_CUH
#define FACT_CUTLASS_STAGEDREDUCTION_CUH

#include "KeptTensors.cuh"
#include "ReductionStages.cuh"
#include <tuple>

namespace fact {

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Shape, class StageList, class OperandList, class ResultList,
          class ColumnOperandList, class ColumnResultList, class Schedule>
class StagedReduction;

template <class Kernel, int Launch>
__global__ void __launch_bounds__(Kernel::block_threads)
    reduction_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::template run<Launch>(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::finish_threads)
    reduction_finish_kernel(
        typename Kernel::State const __grid_constant__ state) {
  Kernel::finish(state);
}

template <class Shape, class... StageList, class... Tensors, class... List,
          class... ColumnTensors, class... ColumnList, class Schedule>
class StagedReduction<Shape, Stages<StageList...>, Operands<Tensors...>,
                      Results<List...>, Operands<ColumnTensors...>,
                      Results<ColumnList...>, Schedule> {
  static constexpr int vector = Schedule::vector;
  static constexpr int columns = Schedule::columns;
  static constexpr int lanes = Schedule::lanes;
  static constexpr int splits = Schedule::splits;
  static constexpr bool folds = Shape::folds;
  /// Places that are reduced together, and elements.
  static constexpr int64_t places = Shape::repeats * Shape::length;
  static constexpr int64_t count = places * (folds ? vector : 1);
  /// Threads' columns, and blocks of them.
  static constexpr int64_t vectors = Shape::inner / vector;
  static constexpr int64_t total = Shape::outer * Shape::middle * vectors;
  static constexpr int64_t groups = (total + columns - 1) / columns;
  static constexpr int64_t chunk = (places + splits - 1) / splits;
  /// Elements of a lane, and how many of them load together: 4, more to have
  /// 32 bytes in flight, and fewer where registers would not hold them.
  static constexpr int64_t steps = (chunk + lanes - 1) / lanes;
  static constexpr int step_bytes =
      vector * (0 + ... + int(sizeof(typename Tensors::Element)));
  static constexpr int wanted = step_bytes < 8      ? 32 / step_bytes
                                : step_bytes <= 64  ? 4
                                : step_bytes <= 128 ? 2
                                                    : 1;
  static constexpr int batch = steps < wanted ? int(steps) : wanted;
  static constexpr int passes = 1 + max_of(0, StageList::pass...);
  /// Results of a thread's columns.
  static constexpr int width = folds ? 1 : vector;
  using Threads = reduction::ThreadLayout<columns, lanes, folds>;
  /// Many parts of few columns are read by a whole block.
  static constexpr int finish_columns = total < 512 && splits > 64 ? 1 : 8;
  using FinishThreads =
      reduction::ThreadLayout<finish_columns, 256 / finish_columns, false>;

  static_assert(Shape::inner % vector == 0 &&
                    (!folds || Shape::inner == vector),
                "columns are whole vectors");
  static_assert(count < INT32_MAX, "places have 32 bits");
  static_assert(splits == 1 || !(Schedule::held || Schedule::shared),
                "what blocks share is read again in each launch");
  static_assert(groups * splits < INT32_MAX, "too many columns for one grid");

  using Loaded = reduction::Slots<vector, typename Tensors::Element...>;
  using Reduced = reduction::Slots<vector, typename StageList::Result...>;
  using StageNumbers = std::index_sequence_for<StageList...>;
  using Numbers = std::index_sequence_for<Tensors...>;
  template <size_t I>
  using StageAt = std::tuple_element_t<I, std::tuple<StageList...>>;
  template <size_t I> using StateAt = typename StageAt<I>::State;
  /// Of the stages, while their pass runs.
  using States = reduction::Slots<vector, typename StageList::State...>;

  /// Stages take turns with two regions of shared memory, each large enough for
  /// any: the barrier of one stage ends all reads of the one before.
  template <class Layout> struct Regions {
    template <class State>
    static constexpr int bytes_of =
        reduction::Lanewise<Layout, width, State>::scratch_bytes;
    static constexpr int region_bytes =
        (max_of(0, bytes_of<typename StageList::State>...) + 15) / 16 * 16;
    static constexpr int shared_bytes =
        (sizeof...(StageList) > 1 ? 2 : 1) * region_bytes;

    template <size_t Number, size_t... S>
    static constexpr int find(std::index_sequence<S...>) {
      int before = 0;
      ((before += S < Number && bytes_of<StateAt<S>> > 0), ...);
      return before % 2 * region_bytes;
    }
  };
  /// Bytes of what the splits of the stages before `Number` reduced their
  /// columns to, each [splits, total, width].
  template <size_t Number, size_t... S>
  static constexpr uint64_t find_partials(std::index_sequence<S...>) {
    uint64_t bytes = 0;
    ((bytes +=
      S < Number
          ? (uint64_t(total) * width * splits * sizeof(StateAt<S>) + 15) / 16 *
                16
          : 0),
     ...);
    return bytes;
  }

  /// What threads keep in shared memory, behind what stages need there.
  using Kept = reduction::KeptTensors<Shape, Schedule::shared, steps,
                                      columns * lanes, vector, Tensors...>;

  /// Launches of the large grid: one for all, or one per pass and one for
  /// results of all elements.
  static constexpr int launches =
      splits == 1 ? 1 : passes + (sizeof...(List) > 0);
  static constexpr bool finishes = splits > 1 && sizeof...(List) == 0;

  /// Whether lanes and blocks have no more than the elements there are.
  static constexpr bool fills_lanes =
      chunk * splits == places && chunk % lanes == 0;
  static constexpr bool fills_blocks = total % columns == 0;

public:
  static constexpr int buffer_count =
      count_buffers<Tensors..., typename List::Tensor..., ColumnTensors...,
                    typename ColumnList::Tensor...>();
  static constexpr uint64_t workspace_bytes =
      splits > 1 ? find_partials<sizeof...(StageList)>(StageNumbers{}) : 0;
  static constexpr int block_threads = columns * lanes;
  static constexpr int finish_threads =
      FinishThreads::columns * FinishThreads::lanes;
  static constexpr int shared_bytes =
      Regions<Threads>::shared_bytes + Kept::bytes;
  static constexpr int finish_bytes = Regions<FinishThreads>::shared_bytes;

  struct State {
    void *buffers[buffer_count];
    /// What the splits of each stage reduced their columns to.
    char *partials;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    for (int i = 0; i < buffer_count; ++i) {
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    state.partials = static_cast<char *>(workspace);
    return allow_memory(std::make_integer_sequence<int, launches>{});
  }

  static int launch(State &state, cudaStream_t stream) {
    int error =
        launch_all(state, stream, std::make_integer_sequence<int, launches>{});
    if constexpr (finishes)
      if (!error)
        error = launch_kernel(
            &reduction_finish_kernel<StagedReduction>,
            dim3(unsigned((total + FinishThreads::columns - 1) /
                          FinishThreads::columns)),
            dim3(1), dim3(finish_threads), finish_bytes, state, stream);
    return error;
  }

  template <int Launch> FACT_DEVICE void run(State const &state) {
    Where const where =
        get_where<Threads>(blockIdx.x / splits, blockIdx.x % splits);
    Reduced reduced{};
    if constexpr (splits > 1)
      gather_all<Launch, Threads>(state, where, reduced, StageNumbers{});
    run<Launch>(state, where, reduced, StageNumbers{}, Numbers{});
  }

  /// Combines what the splits of each column have.
  FACT_DEVICE void finish(State const &state) {
    Where const where = get_where<FinishThreads>(blockIdx.x, 0);
    Reduced reduced{};
    gather_all<passes, FinishThreads>(state, where, reduced, StageNumbers{});
    store_columns(state, where, reduced, StageNumbers{},
                  std::index_sequence_for<ColumnTensors...>{});
  }

private:
  /// A thread's columns, and its part of the length.
  struct Where {
    bool active;
    int lane;
    int64_t split, column, outer, middle, inner, first, end;
  };

  template <int... Launch>
  static int allow_memory(std::integer_sequence<int, Launch...>) {
    int error = cudaSuccess;
    ((error = error ? error
                    : allow_shared_memory(
                          &reduction_kernel<StagedReduction, Launch>,
                          shared_bytes)),
     ...);
    return error;
  }

  template <int... Launch>
  static int launch_all(State &state, cudaStream_t stream,
                        std::integer_sequence<int, Launch...>) {
    int error = cudaSuccess;
    ((error = error ? error
                    : launch_kernel(&reduction_kernel<StagedReduction, Launch>,
                                    dim3(unsigned(groups * splits)), dim3(1),
                                    dim3(block_threads), shared_bytes, state,
                                    stream)),
     ...);
    return error;
  }

  template <class Layout>
  FACT_DEVICE Where get_where(int64_t group, int64_t split) {
    int64_t const column = group * Layout::columns + Layout::column();
    int const lane = Layout::lane();
    bool const active =
        (Layout::columns == columns && fills_blocks) || column < total;
    int64_t const safe = active ? column : 0;
    int64_t const end = (split + 1) * chunk;
    return {active,
            lane,
            split,
            safe,
            safe / (vectors * Shape::middle),
            safe / vectors % Shape::middle,
            safe % vectors * vector,
            split * chunk + lane,
            active ? (end < places ? end : places) : 0};
  }

  /// The element of a tensor at a place of a thread's columns.
  template <class Tensor>
  FACT_DEVICE int64_t get_offset(Where const &where, int64_t place) {
    if constexpr (Shape::is_apart) {
      uint32_t const repeat =
          Shape::repeats > 1 ? uint32_t(place) / uint32_t(Shape::length) : 0;
      return reduction::offset_of<Tensor>(where.outer, repeat, where.middle,
                                          place - repeat * Shape::length,
                                          where.inner);
    } else {
      return reduction::offset_of<Tensor>(where.outer, place, where.inner);
    }
  }
  template <class Tensor>
  FACT_DEVICE int64_t get_column_offset(Where const &where) {
    int64_t const inner = folds ? 0 : where.inner;
    if constexpr (Shape::is_apart)
      return reduction::offset_of<Tensor>(where.outer, where.middle, inner);
    else
      return reduction::offset_of<Tensor>(where.outer, inner);
  }

  template <int Launch, size_t... S, size_t... I>
  FACT_DEVICE void run(State const &state, Where const &where, Reduced &reduced,
                       std::index_sequence<S...> stages,
                       std::index_sequence<I...> numbers) {
    constexpr int64_t kept = Schedule::held ? steps : 1;
    Loaded held[kept];
    if constexpr (Schedule::held)
#pragma unroll
      for (int64_t i = 0; i < kept; ++i)
        load(state, where, within<fills_lanes>(where.first + i * lanes, places),
             held[i]);
    if constexpr (Launch < passes)
      reduce_from<Launch>(state, where, held, reduced, stages, numbers);
    if constexpr (splits == 1 || Launch == passes) {
      if (where.split == 0)
        store_columns(state, where, reduced, stages,
                      std::index_sequence_for<ColumnTensors...>{});
      if constexpr (sizeof...(List) > 0)
        visit<false>(state, where, held,
                     [&](int64_t place, bool exists, Loaded const &loaded) {
                       (store<List>(state, where, place, exists, loaded,
                                    reduced, stages, numbers),
                        ...);
                     });
    }
  }

  /// The place, or the last one where a lane has fewer than others.
  template <bool IsFilled>
  FACT_DEVICE int64_t within(int64_t place, int64_t end) {
    return IsFilled || place < end ? place : end - 1;
  }

  FACT_DEVICE char *kept_memory() {
    extern __shared__ __align__(16) char reduction_memory[];
    return reduction_memory + Regions<Threads>::shared_bytes;
  }

  /// Calls `function` with each of the thread's elements, and with whether
  /// there is such an element.
  template <bool IsFirst, int64_t Count, class Function>
  FACT_DEVICE void visit(State const &state, Where const &where,
                         Loaded const (&held)[Count], Function function) {
    if constexpr (Schedule::held) {
#pragma unroll
      for (int64_t i = 0; i < Count; ++i) {
        int64_t const place = where.first + i * lanes;
        function(place, fills_lanes || place < places, held[i]);
      }
    } else {
      constexpr bool fills = fills_lanes && steps % batch == 0;
      int64_t step = 0;
      for (int64_t first = where.first; first < where.end;
           first += batch * lanes, step += batch) {
        Loaded loaded[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
          load(state, where, within<fills>(first + i * lanes, where.end),
               loaded[i]);
          // Of what is kept, this is all that was loaded.
          if constexpr (Schedule::shared && !IsFirst)
            Kept::template move<false>(
                kept_memory(), within<steps % batch == 0>(step + i, steps),
                loaded[i]);
        }
        if constexpr (Schedule::shared && IsFirst)
#pragma unroll
          for (int i = 0; i < batch; ++i)
            if (steps % batch == 0 || step + i < steps)
              Kept::template move<true>(kept_memory(), step + i, loaded[i]);
#pragma unroll
        for (int i = 0; i < batch; ++i) {
          int64_t const place = first + i * lanes;
          function(place, fills || place < where.end, loaded[i]);
        }
      }
    }
  }

  /// Reductions do not move what they reduce.
  FACT_DEVICE void load(State const &state, Where const &where, int64_t place,
                        Loaded &loaded) {
    Reduced const none{};
    reduction::load_all<vector>(
        state.buffers, loaded, none, Operands<Tensors...>{}, Numbers{},
        StageNumbers{}, [&](auto tensor) {
          return get_offset<decltype(tensor)>(where, place);
        });
  }

  /// Runs the passes of a launch from `Pass` on: all, or one where blocks share
  /// columns.
  template <int Pass, int64_t Count, size_t... S, size_t... I>
  FACT_DEVICE void reduce_from(State const &state, Where const &where,
                               Loaded const (&held)[Count], Reduced &reduced,
                               std::index_sequence<S...> stages,
                               std::index_sequence<I...> numbers) {
    States states;
    (begin<Pass, S>(where, states), ...);
    visit<Pass == 0>(state, where, held,
                     [&](int64_t place, bool exists, Loaded const &loaded) {
                       (next<Pass, S>(place, exists, loaded, reduced, states,
                                      stages, numbers),
                        ...);
                     });
    (combine<Pass, S>(state, where, states, reduced), ...);
    if constexpr (splits == 1 && Pass + 1 < passes)
      reduce_from<Pass + 1>(state, where, held, reduced, stages, numbers);
  }

  /// The place of a thread's element among those that are reduced together.
  FACT_DEVICE int64_t number(int64_t place, int j) {
    return folds ? place * vector + j : place;
  }

  template <int Pass, size_t Number>
  FACT_DEVICE void begin(Where const &where, States &states) {
    using Stage = StageAt<Number>;
    if constexpr (Stage::pass == Pass)
#pragma unroll
      for (int j = 0; j < vector; ++j)
        reduction::get<Number>(states)[j] =
            Stage::Operation::template begin<typename Stage::Value>(
                where.first < where.end ? number(where.first, j) : INT32_MAX);
  }

  template <int Pass, size_t Number, size_t... S, size_t... I>
  FACT_DEVICE void next(int64_t place, bool exists, Loaded const &loaded,
                        Reduced const &reduced, States &states,
                        std::index_sequence<S...>, std::index_sequence<I...>) {
    using Stage = StageAt<Number>;
    using Operation = typename Stage::Operation;
    if constexpr (Stage::pass == Pass) {
      auto &all = reduction::get<Number>(states);
      typename Stage::Value values[vector];
#pragma unroll
      for (int j = 0; j < vector; ++j)
        values[j] =
            Stage::Functor::apply(reduction::get<S>(reduced)[j]...,
                                  widen(reduction::get<I>(loaded)[j])...);
      if constexpr (folds && Operation::takes_vectors) {
        auto const next = Operation::next(all[0], values);
        all[0] = exists ? next : all[0];
      } else {
#pragma unroll
        for (int j = 0; j < vector; ++j) {
          auto const next = reduction::next_of<Operation>(all[j], values[j],
                                                          number(place, j));
          all[j] = exists ? next : all[j];
        }
      }
    }
  }

  template <int Pass, size_t Number>
  FACT_DEVICE void combine(State const &state, Where const &where, States &all,
                           Reduced &reduced) {
    extern __shared__ __align__(16) char reduction_memory[];
    using Stage = StageAt<Number>;
    if constexpr (Stage::pass == Pass) {
      using Operation = typename Stage::Operation;
      using StageState = typename Stage::State;
      auto &states = reduction::get<Number>(all);
      auto *scratch = reinterpret_cast<StageState *>(
          reduction_memory +
          Regions<Threads>::template find<Number>(StageNumbers{}));
      if constexpr (Operation::takes_vectors)
#pragma unroll
        for (int j = 0; j < width; ++j)
          states[j] = Operation::settle(states[j]);
      if constexpr (folds) {
#pragma unroll
        for (int j = 1; j < (Operation::takes_vectors ? 1 : vector); ++j)
          states[0] = Operation::combine(states[0], states[j]);
        StageState row[1] = {states[0]};
        reduction::combine_lanes<Operation, Threads>(row, scratch);
        states[0] = row[0];
      } else {
        reduction::combine_lanes<Operation, Threads>(states, scratch);
      }
      if constexpr (splits > 1) {
        if (where.active && where.lane == 0)
#pragma unroll
          for (int j = 0; j < width; ++j)
            partials_of<Number>(
                state)[(where.split * total + where.column) * width + j] =
                states[j];
      }
#pragma unroll
      for (int j = 0; j < vector; ++j)
        reduction::get<Number>(reduced)[j] =
            Operation::finish(states[folds ? 0 : j], count);
    }
  }

  template <size_t Number>
  FACT_DEVICE StateAt<Number> *partials_of(State const &state) {
    return reinterpret_cast<StateAt<Number> *>(
        state.partials + find_partials<Number>(StageNumbers{}));
  }

  /// What the stages of earlier passes are for a thread's columns.
  template <int Passes, class Layout, size_t... S>
  FACT_DEVICE void gather_all(State const &state, Where const &where,
                              Reduced &reduced, std::index_sequence<S...>) {
    (gather<Passes, Layout, S>(state, where, reduced), ...);
  }

  template <int Passes, class Layout, size_t Number>
  FACT_DEVICE void gather(State const &state, Where const &where,
                          Reduced &reduced) {
    extern __shared__ __align__(16) char reduction_memory[];
    using Stage = StageAt<Number>;
    using Operation = typename Stage::Operation;
    using StageState = typename Stage::State;
    if constexpr (Stage::pass < Passes) {
      StageState states[width];
#pragma unroll
      for (int j = 0; j < width; ++j)
        states[j] = Operation::template begin<typename Stage::Value>(INT32_MAX);
      StageState const *partials = partials_of<Number>(state);
      if (where.active)
#pragma unroll 4
        for (int split = where.lane; split < splits; split += Layout::lanes)
#pragma unroll
          for (int j = 0; j < width; ++j)
            states[j] = Operation::combine(
                states[j],
                partials[(split * total + where.column) * width + j]);
      auto *scratch = reinterpret_cast<StageState *>(
          reduction_memory +
          Regions<Layout>::template find<Number>(StageNumbers{}));
      reduction::combine_lanes<Operation, Layout>(states, scratch);
#pragma unroll
      for (int j = 0; j < vector; ++j)
        reduction::get<Number>(reduced)[j] =
            Operation::finish(states[folds ? 0 : j], count);
    }
  }

  template <class Result, size_t... S, size_t... I>
  FACT_DEVICE void store(State const &state, Where const &where, int64_t place,
                         bool exists, Loaded const &loaded,
                         Reduced const &reduced, std::index_sequence<S...>,
                         std::index_sequence<I...>) {
    using Tensor = typename Result::Tensor;
    using Functor = typename Result::Functor;
    decltype(Functor::apply(
        reduction::get<S>(reduced)[0]...,
        widen(reduction::get<I>(loaded)[0])...)) values[vector];
#pragma unroll
    for (int j = 0; j < vector; ++j)
      values[j] = Functor::apply(reduction::get<S>(reduced)[j]...,
                                 widen(reduction::get<I>(loaded)[j])...);
    if (exists && where.active)
      reduction::store<Tensor, vector>(
          state.buffers, get_offset<Tensor>(where, place), values);
  }

  template <size_t... S, size_t... I>
  FACT_DEVICE void store_columns(State const &state, Where const &where,
                                 Reduced const &reduced,
                                 std::index_sequence<S...> stages,
                                 std::index_sequence<I...> numbers) {
    if (!where.active || where.lane != 0)
      return;
    reduction::Slots<width, typename ColumnTensors::Element...> loaded;
    reduction::load_all<width>(
        state.buffers, loaded, reduced, Operands<ColumnTensors...>{}, numbers,
        stages, [&](auto tensor) {
          return get_column_offset<decltype(tensor)>(where);
        });
    auto store_result = [&](auto result) {
      using Tensor = typename decltype(result)::Tensor;
      using Functor = typename decltype(result)::Functor;
      decltype(Functor::apply(
          reduction::get<S>(reduced)[0]...,
          widen(reduction::get<I>(loaded)[0])...)) values[width];
#pragma unroll
      for (int j = 0; j < width; ++j)
        values[j] = Functor::apply(reduction::get<S>(reduced)[j]...,
                                   widen(reduction::get<I>(loaded)[j])...);
      reduction::store<Tensor, width>(state.buffers,
                                      get_column_offset<Tensor>(where), values);
    };
    (store_result(ColumnList{}), ...);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_STAGEDREDUCTION_CUH
