//===- TiledPointwise.cuh - Elementwise kernels that transpose -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As Pointwise.cuh, for operands whose neighbors in memory are not neighbors in
// the results. A block has a tile of the index space. It reads such operands in
// the order of their memory, passes them through shared memory, and computes in
// the order of the results' memory, so that both sides move whole lines.
//
//   // y[n, p, c] = x[n, c, p]: NCHW to NHWC
//   #include "fact/cutlass/TiledPointwise.cuh"
//
//   namespace fact::pointwise_0 {
//
//   using Kernel = TiledPointwise<
//       Extents<64, 3136, 256>,
//       Extents<1, 64, 128>,            // the tile
//       Order<1, 2>, Order<2, 1>,       // neighbors of x first, then of y
//       Operands<Staged<0, bf16, Strides<802816, 1, 3136>>>,
//       Results<Result<Identity, Strided<1, bf16, Strides<802816, 256, 1>>>>,
//       TileSchedule<256, 8>>;          // threads, vector of the results
//
//   FACT_KERNEL(pointwise_0, Kernel)
//
//   } // namespace fact::pointwise_0
//
// Both orders list the dimensions of which a tile has more than one element.
// Operands that are not `Staged` are read in the order of the results. Sizes
// need not be multiples of tiles; the vector divides the extent and the tile of
// the results' first dimension. Results that fill the places between each
// other, as three and more phases of a transposed convolution do, are stored as
// one.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_TILEDPOINTWISE_CUH
#define FACT_CUTLASS_TILEDPOINTWISE_CUH

#include "Pointwise.cuh"
#include <tuple>

namespace fact {

/// Dimensions of an index space.
template <int64_t... Dimensions> struct Order {
  static constexpr int rank = sizeof...(Dimensions);
  static constexpr int64_t dimensions[] = {Dimensions...};
};

/// An operand that passes through shared memory.
template <int Buffer, class Element, class Strides_, int64_t Offset = 0>
struct Staged : Strided<Buffer, Element, Strides_, Offset> {};

template <class Tensor> struct is_staged : std::false_type {};
template <int B, class E, class S, int64_t O>
struct is_staged<Staged<B, E, S, O>> : std::true_type {};

template <int Threads, int Vector> struct TileSchedule {
  static constexpr int threads = Threads, vector = Vector;
  static_assert(Threads % 32 == 0 && Threads <= 1024,
                "a block has whole warps and at most 1024 threads");
  static_assert((Vector & (Vector - 1)) == 0, "a vector is a power of two");
};

namespace tile {

// By value: static arrays have no address on the device.
template <template <int64_t...> class List, int64_t... Values>
constexpr __host__ __device__ int64_t at(List<Values...>, int place) {
  int64_t result = 0;
  int i = 0;
  ((result = i++ == place ? Values : result), ...);
  return result;
}

/// Whether vectors of `Count` along a dimension are contiguous and aligned.
template <class Tensor>
constexpr bool moves_in_vectors(int dimension, int count) {
  for (int d = 0; d < Tensor::Strides::rank; ++d) {
    int64_t stride = at(typename Tensor::Strides{}, d);
    if (d == dimension ? stride != 1 : stride % count != 0)
      return false;
  }
  return Tensor::offset % count == 0;
}

/// Indices within a tile.
template <int Rank> struct Place {
  int index[Rank];
};

} // namespace tile

template <class Extents, class Tile, class LoadOrder, class StoreOrder,
          class OperandList, class ResultList, class Schedule>
class TiledPointwise;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads) tiled_pointwise_kernel(
    typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Extents_, class Tile, class LoadOrder, class StoreOrder,
          class... Tensors, class... List, class Schedule>
class TiledPointwise<Extents_, Tile, LoadOrder, StoreOrder,
                     Operands<Tensors...>, Results<List...>, Schedule> {
  static constexpr int rank = Extents_::rank;
  static constexpr int vector = Schedule::vector;
  /// The dimensions of neighbors in results and in staged operands.
  static constexpr int along = int(StoreOrder::dimensions[0]);
  static constexpr int across = int(LoadOrder::dimensions[0]);
  static constexpr int tile_along = int(Tile::sizes[along]);
  static constexpr int tile_across = int(Tile::sizes[across]);
  static constexpr int64_t blocks = [] {
    int64_t count = 1;
    for (int d = 0; d < rank; ++d)
      count *= (Extents_::sizes[d] + Tile::sizes[d] - 1) / Tile::sizes[d];
    return count;
  }();
  static constexpr int groups = int(Tile::total / vector);

  static_assert(Tile::rank == rank && LoadOrder::rank == StoreOrder::rank,
                "a tile has an extent for each dimension");
  static_assert(along != across, "nothing to transpose");
  static_assert(Extents_::sizes[along] % vector == 0 &&
                    tile_along % vector == 0,
                "the vector divides the results' first dimension");
  static_assert(((Tensors::Strides::rank == rank) && ...) &&
                    ((List::Tensor::Strides::rank == rank) && ...),
                "a tensor needs one stride for each dimension");
  static_assert(blocks < INT32_MAX, "too many tiles for one grid");

  using Place = tile::Place<rank>;

public:
  static constexpr int buffer_count =
      count_buffers<Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = Schedule::threads;

private:
  /// How one operand passes through registers: of staged ones, `pack` neighbors
  /// in the results make a word of shared memory, so that small elements move
  /// together there too.
  template <class Tensor, bool IsStaged> struct Passage {
    using Element = typename Tensor::Element;
    static constexpr int full = 4 / int(sizeof(Element));
    static constexpr int pack = full > 1 && tile_along % full == 0 ? full : 1;
    static constexpr int width = [] {
      int count = 16 / int(sizeof(Element));
      while (count > 1 && !(Extents_::sizes[across] % count == 0 &&
                            tile_across % count == 0 &&
                            tile::moves_in_vectors<Tensor>(across, count)))
        count /= 2;
      return count;
    }();
    using Access = typename AccessType<width * sizeof(Element)>::type;
    using Word = typename AccessType<pack * sizeof(Element)>::type;
    static constexpr int items = int(Tile::total / (width * pack));
    static constexpr int per_thread =
        (items + block_threads - 1) / block_threads;
    /// Words between neighbors in the operand: odd, so that they are in
    /// different banks.
    static constexpr int pitch = (tile_along / pack) | 1;
    static constexpr int bytes =
        (int(Tile::total / tile_along) * pitch * int(sizeof(Word)) + 15) / 16 *
        16;
    struct Registers {
      Access raw[per_thread][pack];
    };
  };
  template <class Tensor> struct Passage<Tensor, false> {
    static constexpr int bytes = 0, width = 1;
    static constexpr int per_thread =
        (groups + block_threads - 1) / block_threads;
    /// What a picked vector spans moves as it is.
    static constexpr int spanned = [] {
      if constexpr (is_picked_v<Tensor>)
        return vector * Tensor::step;
      else
        return vector;
    }();
    struct Registers {
      typename Tensor::Element values[per_thread][spanned];
    };
  };
  template <class Tensor>
  using PassageOf = Passage<Tensor, is_staged<Tensor>::value>;

public:
  static constexpr int shared_bytes = (0 + ... + PassageOf<Tensors>::bytes);

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    constexpr bool has_vectors =
        vector > 1 ||
        ((PassageOf<Tensors>::width > 1 || is_picked_v<Tensors>) || ...);
    for (int i = 0; i < buffer_count; ++i) {
      if (has_vectors && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return allow_shared_memory(&tiled_pointwise_kernel<TiledPointwise>,
                               shared_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    return launch_kernel(&tiled_pointwise_kernel<TiledPointwise>,
                         dim3(unsigned(blocks)), dim3(1), dim3(block_threads),
                         shared_bytes, state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    run(state, std::index_sequence_for<Tensors...>{});
  }

private:
  template <size_t I, class Tensor> struct Held {
    typename PassageOf<Tensor>::Registers registers;
  };
  template <class Numbers> struct AllHeld;
  template <size_t... I>
  struct AllHeld<std::index_sequence<I...>> : Held<I, Tensors>... {};
  template <size_t I, class Tensor>
  FACT_DEVICE auto &held(Held<I, Tensor> &each) {
    return each.registers;
  }

  /// One vector of an operand as functors see it.
  template <size_t I, class Tensor> struct Slot {
    Compute<typename Tensor::Element> values[vector];
  };
  template <class Numbers> struct Slots;
  template <size_t... I>
  struct Slots<std::index_sequence<I...>> : Slot<I, Tensors>... {};
  template <size_t I, class Tensor>
  FACT_DEVICE Compute<typename Tensor::Element> *slot(Slot<I, Tensor> &each) {
    return each.values;
  }

  /// Where an operand begins in shared memory.
  template <size_t Number> static constexpr int begin() {
    int bytes = 0, i = 0;
    ((bytes += i++ < int(Number) ? PassageOf<Tensors>::bytes : 0), ...);
    return bytes;
  }

  /// All of a thread's loads come before its first use of any.
  template <size_t... I>
  FACT_DEVICE void run(State const &state, std::index_sequence<I...>) {
    extern __shared__ __align__(16) char tile_memory[];
    constexpr int items = groups * run_length;
    int64_t origin[rank];
    get_origin(origin);
    AllHeld<std::index_sequence<I...>> all;
    (load_staged<Tensors>(state, origin, held<I, Tensors>(all)), ...);
    // Those at one place together, so that elements which several operands are
    // picked from are loaded once.
#pragma unroll
    for (int k = 0; k < (groups + block_threads - 1) / block_threads; ++k) {
      Place const place =
          locate<StoreOrder, vector, 1>(threadIdx.x, k * block_threads);
      if (is_item<groups>(int(threadIdx.x) + k * block_threads) &&
          is_inside(origin, place))
        (load_direct<Tensors>(state, origin, place, k, held<I, Tensors>(all)),
         ...);
    }
    (deposit<Tensors>(tile_memory + begin<I>(), held<I, Tensors>(all)), ...);
    __syncthreads();
    constexpr int steps = (items + block_threads - 1) / block_threads;
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      int const item = int(threadIdx.x) + k * block_threads;
      Place const place =
          run_length == 1
              ? locate<StoreOrder, vector, 1>(threadIdx.x, k * block_threads)
              : locate<StoreOrder, vector, 1>(item / run_length, 0);
      if (!is_item<items>(item) || !is_inside(origin, place))
        continue;
      Slots<std::index_sequence<I...>> operands;
      (collect<Tensors>(tile_memory + begin<I>(), held<I, Tensors>(all), k,
                        place, slot<I, Tensors>(operands)),
       ...);
      if constexpr (run_length == 1)
        (store<List>(state, origin, place, slot<I, Tensors>(operands)...), ...);
      else
        store_runs(std::make_index_sequence<sizeof...(List) / run_length>{},
                   state, origin, place, item % run_length,
                   slot<I, Tensors>(operands)...);
    }
  }

  /// How many results in a row are neighbors in memory and fill all places
  /// along a tile; 1 if they are stored one by one, which of two costs less
  /// than to choose between them.
  static constexpr int find_runs() {
    constexpr int count = sizeof...(List);
    using First = typename std::tuple_element_t<0, std::tuple<List...>>::Tensor;
    int64_t const length = tile::at(typename First::Strides{}, along);
    if (vector != 1 || length < 3 || length > 8 || count % length != 0 ||
        !(is_staged<Tensors>::value && ...) ||
        !(std::is_same_v<typename First::Strides,
                         typename List::Tensor::Strides> &&
          ...) ||
        !(std::is_same_v<typename First::Element,
                         typename List::Tensor::Element> &&
          ...) ||
        !((First::buffer == List::Tensor::buffer) && ...))
      return 1;
    int64_t const offsets[] = {List::Tensor::offset...};
    for (int i = 0; i < count; ++i)
      if (offsets[i] != offsets[i - i % length] + i % length)
        return 1;
    return int(length);
  }
  static constexpr int run_length = find_runs();

  static constexpr __device__ int64_t extent(int dimension) {
    return tile::at(Extents_{}, dimension);
  }
  static constexpr __device__ int tile_of(int dimension) {
    return int(tile::at(Tile{}, dimension));
  }
  template <class Tensor>
  static constexpr __device__ int64_t stride(int dimension) {
    return tile::at(typename Tensor::Strides{}, dimension);
  }

  /// The index of the block's first element.
  FACT_DEVICE void get_origin(int64_t (&origin)[rank]) {
    unsigned rest = blockIdx.x;
#pragma unroll
    for (int d = rank - 1; d >= 0; --d) {
      unsigned const tiles =
          unsigned((extent(d) + tile_of(d) - 1) / tile_of(d));
      origin[d] = int64_t(rest % tiles) * tile_of(d);
      rest /= tiles;
    }
  }

  /// The place of item `first + more`: of so many elements along results and
  /// across. `more` is a constant, and stays one in the place where it is whole
  /// rows, so that all of a thread's places have one address.
  template <class Order_, int StepAlong, int StepAcross>
  FACT_DEVICE Place locate(int first, int more) {
    Place place{};
#pragma unroll
    for (int i = 0; i < Order_::rank; ++i) {
      int const d = int(tile::at(Order_{}, i));
      int const step = d == along ? StepAlong : d == across ? StepAcross : 1;
      int const size = tile_of(d) / step;
      if (i == Order_::rank - 1) {
        place.index[d] = (first + more) * step;
      } else if (more % size == 0) {
        place.index[d] = first % size * step;
        first /= size;
        more /= size;
      } else {
        place.index[d] = (first + more) % size * step;
        first = (first + more) / size;
        more = 0;
      }
    }
    return place;
  }

  template <int Items> FACT_DEVICE bool is_item(int item) {
    return Items % block_threads == 0 || item < Items;
  }

  /// Free where tiles divide the index space.
  FACT_DEVICE bool is_inside(int64_t const (&origin)[rank],
                             Place const &place) {
    bool inside = true;
#pragma unroll
    for (int d = 0; d < rank; ++d)
      inside &=
          extent(d) % tile_of(d) == 0 || origin[d] + place.index[d] < extent(d);
    return inside;
  }

  template <class Tensor>
  FACT_DEVICE int64_t offset_of(int64_t const (&origin)[rank],
                                Place const &place) {
    int64_t offset = Tensor::offset;
#pragma unroll
    for (int d = 0; d < rank; ++d)
      offset += (origin[d] + place.index[d]) * stride<Tensor>(d);
    return offset;
  }

  /// The word of a staged operand that has a place of the tile.
  template <class Tensor> FACT_DEVICE int word_of(Place const &place) {
    using Passing = PassageOf<Tensor>;
    int word = place.index[along] / Passing::pack;
    int pitch = Passing::pitch;
#pragma unroll
    for (int i = 1; i < StoreOrder::rank; ++i) {
      int const d = int(tile::at(StoreOrder{}, i));
      word += place.index[d] * pitch;
      pitch *= tile_of(d);
    }
    return word;
  }

  template <class Tensor>
  FACT_DEVICE void
  load_staged(State const &state, int64_t const (&origin)[rank],
              typename PassageOf<Tensor>::Registers &registers) {
    if constexpr (is_staged<Tensor>::value) {
      using Passing = PassageOf<Tensor>;
      auto const *base = static_cast<typename Tensor::Element const *>(
          state.buffers[Tensor::buffer]);
#pragma unroll
      for (int k = 0; k < Passing::per_thread; ++k) {
        Place place = locate<LoadOrder, Passing::pack, Passing::width>(
            threadIdx.x, k * block_threads);
#pragma unroll
        for (int e = 0; e < Passing::pack; ++e) {
          if (is_item<Passing::items>(int(threadIdx.x) + k * block_threads) &&
              is_inside(origin, place))
            registers.raw[k][e] =
                __ldg(reinterpret_cast<typename Passing::Access const *>(
                    base + offset_of<Tensor>(origin, place)));
          ++place.index[along];
        }
      }
    }
  }

  template <class Tensor>
  FACT_DEVICE void
  load_direct(State const &state, int64_t const (&origin)[rank],
              Place const &place, int k,
              typename PassageOf<Tensor>::Registers &registers) {
    if constexpr (!is_staged<Tensor>::value) {
      using Element = typename Tensor::Element;
      auto const *base =
          static_cast<Element const *>(state.buffers[Tensor::buffer]);
      auto &values = registers.values[k];
      if constexpr (is_picked_v<Tensor>) {
        load_spanned<Tensor, vector>(
            base + offset_of<typename Tensor::First>(origin, place), values);
      } else if constexpr (tile::moves_in_vectors<Tensor>(along, vector)) {
        load_elements<vector>(base + offset_of<Tensor>(origin, place), values);
      } else {
        auto const *source = base + offset_of<Tensor>(origin, place);
#pragma unroll
        for (int i = 0; i < vector; ++i)
          values[i] = source[i * stride<Tensor>(along)];
      }
    }
  }

  /// Writes what was loaded of a staged operand to shared memory, turned.
  template <class Tensor>
  FACT_DEVICE void
  deposit(char *memory,
          typename PassageOf<Tensor>::Registers const &registers) {
    if constexpr (is_staged<Tensor>::value) {
      using Element = typename Tensor::Element;
      using Passing = PassageOf<Tensor>;
      using Word = typename Passing::Word;
      auto *words = reinterpret_cast<Word *>(memory);
#pragma unroll
      for (int k = 0; k < Passing::per_thread; ++k) {
        int const item = int(threadIdx.x) + k * block_threads;
        if (!is_item<Passing::items>(item))
          continue;
        Element loaded[Passing::pack][Passing::width];
        memcpy(loaded, registers.raw[k], sizeof(loaded));
        Place place = locate<LoadOrder, Passing::pack, Passing::width>(
            threadIdx.x, k * block_threads);
#pragma unroll
        for (int i = 0; i < Passing::width; ++i) {
          Element packed[Passing::pack];
#pragma unroll
          for (int e = 0; e < Passing::pack; ++e)
            packed[e] = loaded[e][i];
          Word word;
          memcpy(&word, packed, sizeof(word));
          words[word_of<Tensor>(place)] = word;
          ++place.index[across];
        }
      }
    }
  }

  /// The vector of an operand at a place of the tile.
  template <class Tensor>
  FACT_DEVICE void
  collect(char const *memory,
          typename PassageOf<Tensor>::Registers const &registers, int k,
          Place const &place, Compute<typename Tensor::Element> *values) {
    using Element = typename Tensor::Element;
    if constexpr (is_picked_v<Tensor>) {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] =
            widen(registers.values[k][i * Tensor::step + Tensor::place]);
    } else if constexpr (!is_staged<Tensor>::value) {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] = widen(registers.values[k][i]);
    } else {
      constexpr int pack = PassageOf<Tensor>::pack;
      int const word = word_of<Tensor>(place);
      Element elements[vector];
      if constexpr (vector % pack == 0) {
        using Word = typename PassageOf<Tensor>::Word;
        Word words[vector / pack];
#pragma unroll
        for (int i = 0; i < vector / pack; ++i)
          words[i] = reinterpret_cast<Word const *>(memory)[word + i];
        memcpy(elements, words, sizeof(elements));
      } else {
        auto const *source = reinterpret_cast<Element const *>(memory) +
                             (word * pack + place.index[along] % pack);
#pragma unroll
        for (int i = 0; i < vector; ++i)
          elements[i] = source[i];
      }
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] = widen(elements[i]);
    }
  }

  /// Whether a result is stored at a place.
  template <class... Bounds>
  FACT_DEVICE bool is_stored(Pack<Bounds...>, int64_t const (&origin)[rank],
                             Place const &place) {
    static_assert(vector == 1 || ((stride<Bounds>(along) == 0) && ...),
                  "a vector is stored as a whole or not at all");
    return (true & ... &
            contains<Bounds>(int32_t(offset_of<Bounds>(origin, place))));
  }

  /// Stores one element of each run: neighbors in memory by neighbors in a
  /// warp.
  template <size_t... Runs, class... Arguments>
  FACT_DEVICE void store_runs(std::index_sequence<Runs...>, State const &state,
                              int64_t const (&origin)[rank], Place const &place,
                              int number, Arguments const *...operands) {
    (store_run<Runs * run_length>(std::make_index_sequence<run_length>{}, state,
                                  origin, place, number, operands...),
     ...);
  }
  template <size_t First, size_t... I, class... Arguments>
  FACT_DEVICE void store_run(std::index_sequence<I...>, State const &state,
                             int64_t const (&origin)[rank], Place const &place,
                             int number, Arguments const *...operands) {
    using All = std::tuple<List...>;
    using Tensor = typename std::tuple_element_t<First, All>::Tensor;
    using Element = typename Tensor::Element;
    Element value{};
    bool stored = false;
    (choose<std::tuple_element_t<First + I, All>>(
         number == int(I), origin, place, value, stored, operands...),
     ...);
    if (stored)
      static_cast<Element *>(
          state.buffers[Tensor::buffer])[offset_of<Tensor>(origin, place) +
                                         number] = value;
  }
  template <class Result, class Element, class... Arguments>
  FACT_DEVICE void choose(bool chosen, int64_t const (&origin)[rank],
                          Place const &place, Element &value, bool &stored,
                          Arguments const *...operands) {
    if (chosen) {
      value = narrow<Element>(Result::Functor::apply(operands[0]...));
      stored = is_stored(typename Reads<typename Result::Tensor>::Bounds{},
                         origin, place);
    }
  }

  template <class Result, class... Arguments>
  FACT_DEVICE void store(State const &state, int64_t const (&origin)[rank],
                         Place const &place, Arguments const *...operands) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    if (!is_stored(typename Reads<Tensor>::Bounds{}, origin, place))
      return;
    auto *destination = static_cast<Element *>(state.buffers[Tensor::buffer]) +
                        offset_of<Tensor>(origin, place);
    decltype(Result::Functor::apply(operands[0]...)) values[vector];
#pragma unroll
    for (int i = 0; i < vector; ++i)
      values[i] = Result::Functor::apply(operands[i]...);
    if constexpr (tile::moves_in_vectors<Tensor>(along, vector)) {
      store_vector<vector>(destination, values);
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        destination[i * stride<Tensor>(along)] = narrow<Element>(values[i]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_TILEDPOINTWISE_CUH
