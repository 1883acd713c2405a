//===- Sm80Gemm.cuh - GEMM with a generated epilogue, sm_80 ----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each result r:  D_r = f_r(A * B, operands...), with batches, f32 sums and
// any pointwise f_r, on every GPU of compute capability 8.0 and later. Tensors
// have any strides, offsets and sizes.
//
//   // relu(x @ W^T + bias)
//   #include "fact/cutlass/Sm80Gemm.cuh"
//
//   namespace fact::gemm_0 {
//
//   struct Epilogue {
//     FACT_DEVICE float apply(float accumulator, float bias) {
//       return fmaxf(accumulator + bias, 0.0f);
//     }
//   };
//
//   using Kernel = Sm80Gemm<
//       Problem<4096, 3071, 769>,                    // M, N, K, batches = 1
//       RowMajor<0, bf16, 769>,                      // A[M, K]
//       Factors<ColumnMajor<1, bf16, 769>>,          // B[K, N], stored [N, K]
//       Operands<RowVector<2, bf16>>,
//       Results<Result<Epilogue, RowMajor<3, bf16, 3071>>>,
//       Sm80Schedule<Tile<128, 128, 32>, Warps<2, 4>, Stages<4>, Splits<1>>>;
//
//   FACT_KERNEL(gemm_0, Kernel)
//
//   } // namespace fact::gemm_0
//
// Several factors B of one shape are several products of A; functors take the
// sums of all of them. Products are mma.sync's; those of f32 are strict, or
// TF32 with `Tf32` as last argument, or strict on the f32 units with `Simt32`.
// With several splits, blocks that share a tile divide K, leave their sums in
// workspace, and a second kernel adds them in order.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80GEMM_CUH
#define FACT_CUTLASS_SM80GEMM_CUH

#include "Sm80Epilogue.cuh"
#include "Sm80Fragment.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Warps that share a tile, along M and N.
template <int M, int N> struct Warps {
  static constexpr int m = M, n = N;
};
/// Tiles of K in shared memory.
template <int Count> struct Stages {
  static constexpr int count = Count;
};
/// Blocks that divide K.
template <int Count> struct Splits {
  static constexpr int count = Count;
};

template <class Tile_, class Warps_, class Stages_, class Splits_>
struct Sm80Schedule {
  using Tile = Tile_;
  using Warps = Warps_;
  static constexpr int stages = Stages_::count, splits = Splits_::count;
  static constexpr int threads = 32 * Warps::m * Warps::n;
  static_assert(Tile::m % (16 * Warps::m) == 0 &&
                    Tile::n % (16 * Warps::n) == 0 && Tile::k % 16 == 0,
                "a warp multiplies blocks of 16 x 16 x 16");
  static_assert(stages >= 2, "one tile is copied while another is multiplied");
};

/// The second factors of products that share the first.
template <class... Tensors> struct Factors {
  static constexpr int count = sizeof...(Tensors);
};

namespace sm80 {

/// Copies floats; both addresses are multiples of 16 bytes, or of all floats.
template <int Count>
FACT_DEVICE void copy_floats(float *to, float const *from) {
  using Access = VectorAccess<float, Count>;
#pragma unroll
  for (int i = 0; i < int(Count * sizeof(float) / sizeof(Access)); ++i) {
    Access words = reinterpret_cast<Access const *>(from)[i];
    memcpy(reinterpret_cast<Access *>(to) + i, &words, sizeof(words));
  }
}

/// Stores floats at a multiple of their bytes.
template <int Count>
FACT_DEVICE void store_floats(float *to, float const (&from)[Count]) {
  VectorAccess<float, Count> words;
  memcpy(&words, from, sizeof(words));
  *reinterpret_cast<VectorAccess<float, Count> *>(to) = words;
}

} // namespace sm80

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class FactorList, class OperandList,
          class ResultList, class Schedule,
          class Math = typename sm80::MathOf<typename A::Element>::type>
class Sm80Gemm;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads)
    sm80_gemm_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::add_threads)
    sm80_add_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::add(state);
}

template <class Problem, class A, class... Bs, class... Tensors, class... List,
          class Schedule, class Math>
class Sm80Gemm<Problem, A, Factors<Bs...>, Operands<Tensors...>,
               Results<List...>, Schedule, Math> {
public:
  static constexpr int threads = Schedule::threads, add_threads = 256;

private:
  using Tile = typename Schedule::Tile;
  using Warps = typename Schedule::Warps;
  using Indices = std::index_sequence_for<Bs...>;
  using TileA =
      sm80::FactorTile<sm80::FactorA<Problem, A>, Tile::m, Tile::k, threads>;
  template <class B>
  using TileB =
      sm80::FactorTile<sm80::FactorB<Problem, B>, Tile::n, Tile::k, threads>;
  using Epilogue = sm80::Epilogue<Problem, sizeof...(Bs), Operands<Tensors...>,
                                  Results<List...>>;

  static constexpr int m = Problem::m, n = Problem::n;
  static constexpr int64_t batches = Problem::batches;
  static constexpr int products = sizeof...(Bs);
  static constexpr int stages = Schedule::stages, splits = Schedule::splits;
  static constexpr int warp_m = Tile::m / Warps::m, warp_n = Tile::n / Warps::n;
  using Product = sm80::WarpProduct<Math, warp_m, warp_n>;
  static constexpr int k_tiles = sm80::divide_up(Problem::k, Tile::k);
  static constexpr int tiles_m = sm80::divide_up(m, Tile::m);
  static constexpr int tiles_n = sm80::divide_up(n, Tile::n);
  static constexpr int vector = Epilogue::vector;
  /// Floats between rows of sums, in shared memory (two lanes of a row of sums
  /// are in different banks) and in workspace.
  static constexpr int pitch = Tile::n + 8;
  static constexpr int64_t workspace_pitch = (int64_t(n) + 7) / 8 * 8;

  static constexpr int stage_bytes = TileA::bytes + (TileB<Bs>::bytes + ...);
  static constexpr int sum_bytes = splits > 1 ? 0
                                              : products *Tile::m * pitch *
                                                    int(sizeof(float));
  static constexpr int shared_bytes =
      stages * stage_bytes > sum_bytes ? stages *stage_bytes : sum_bytes;

  using Sums = typename Product::Sums[products];

public:
  static constexpr int buffer_count =
      count_buffers<A, Bs..., Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = splits > 1
                                                  ? uint64_t(splits) * products
                                                        * batches * m
                                                        * workspace_pitch *
                                                        sizeof(float)
                                                  : 0;

  struct State {
    void *buffers[buffer_count];
    float *partial_sums;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    for (int i = 0; i < buffer_count; ++i) {
      if (!is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    state.partial_sums = static_cast<float *>(workspace);
    return allow_shared_memory(&sm80_gemm_kernel<Sm80Gemm>, shared_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = batches * splits * tiles_m * tiles_n;
    static_assert(blocks < INT32_MAX, "too many tiles for one grid");
    int status =
        launch_kernel(&sm80_gemm_kernel<Sm80Gemm>, dim3(unsigned(blocks)),
                      dim3(1), dim3(threads), shared_bytes, state, stream);
    if constexpr (splits > 1) {
      constexpr int64_t adders =
          (batches * m * row_vectors + add_threads - 1) / add_threads;
      static_assert(adders < INT32_MAX, "too many elements for one grid");
      if (status == cudaSuccess)
        status =
            launch_kernel(&sm80_add_kernel<Sm80Gemm>, dim3(unsigned(adders)),
                          dim3(1), dim3(add_threads), 0, state, stream);
    }
    return status;
  }

  FACT_DEVICE void run(State const &state) {
    extern __shared__ __align__(128) char shared[];
    Place place = get_place();
    Sums sums = {};
    accumulate(state, place, shared, sums, Indices{});
    if constexpr (splits > 1) {
      store_partial(state, place, sums);
    } else {
      // All products have read the stages, which the sums replace.
      __syncthreads();
      finish(state, place, reinterpret_cast<float *>(shared), sums);
    }
  }

  /// Adds the sums of all splits and computes the results from them.
  FACT_DEVICE void add(State const &state) {
    int64_t index = int64_t(blockIdx.x) * add_threads + threadIdx.x;
    if (index >= batches * m * row_vectors)
      return;
    int column = int(index % row_vectors) * vector;
    int64_t row = index / row_vectors;
    float sums[products][vector] = {};
#pragma unroll
    for (int p = 0; p < products; ++p)
#pragma unroll 16 // loads that are on their way at once
      for (int split = 0; split < splits; ++split) {
        alignas(16) float part[vector];
        sm80::copy_floats<vector>(
            part, state.partial_sums +
                      ((int64_t(split) * products + p) * batches * m + row) *
                          workspace_pitch +
                      column);
#pragma unroll
        for (int i = 0; i < vector; ++i)
          sums[p][i] += part[i];
      }
    Epilogue::apply(state.buffers, row / m, int(row % m), column, n - column,
                    sums, [] {});
  }

private:
  /// Vectors of a row of results.
  static constexpr int64_t row_vectors = sm80::divide_up(n, vector);

  /// What a block computes.
  struct Place {
    int64_t batch;
    int split, row, column;
  };

  /// Blocks that run together take tiles of a few rows, whose factors then stay
  /// in the cache.
  FACT_DEVICE Place get_place() {
    constexpr int band = 8;
    int rest = int(blockIdx.x) / (tiles_m * tiles_n);
    int tile = int(blockIdx.x) % (tiles_m * tiles_n);
    int first = tile / (band * tiles_n) * band;
    int height = tiles_m - first < band ? tiles_m - first : band;
    int within = tile % (band * tiles_n);
    return {rest / splits, rest % splits, (first + within % height) * Tile::m,
            within / height * Tile::n};
  }

  /// Where factor `product` lies in a stage, behind A.
  static constexpr int offset_of(int product) {
    int sizes[] = {TileB<Bs>::bytes...}, offset = TileA::bytes;
    for (int i = 0; i < product; ++i)
      offset += sizes[i];
    return offset;
  }

  /// What threads have read of the next tiles.
  template <size_t I, class B> struct Slot {
    typename TileB<B>::Registers registers;
  };
  template <class List_> struct Slots;
  template <size_t... I>
  struct Slots<std::index_sequence<I...>> : Slot<I, Bs>... {
    typename TileA::Registers a;
  };

  /// Starts to copy tile `k` of all factors.
  template <size_t... I>
  FACT_DEVICE void start(State const &state, Place const &place, char *stage,
                         Slots<Indices> &slots, int k,
                         std::index_sequence<I...>) {
    TileA::start(stage, slots.a, sm80::begin_of<A>(state.buffers, place.batch),
                 place.row, k * Tile::k);
    (TileB<Bs>::start(stage + offset_of(I),
                      static_cast<Slot<I, Bs> &>(slots).registers,
                      sm80::begin_of<Bs>(state.buffers, place.batch),
                      place.column, k * Tile::k),
     ...);
  }

  template <size_t... I>
  FACT_DEVICE void finish_copies(char *stage, Slots<Indices> const &slots,
                                 std::index_sequence<I...>) {
    TileA::finish(stage, slots.a);
    (TileB<Bs>::finish(stage + offset_of(I),
                       static_cast<Slot<I, Bs> const &>(slots).registers),
     ...);
  }

  /// Sums over the block's part of K. Tile k is multiplied while the next ones
  /// are copied.
  template <size_t... I>
  FACT_DEVICE void accumulate(State const &state, Place const &place,
                              char *shared, Sums &sums,
                              std::index_sequence<I...> all) {
    int first = int(int64_t(k_tiles) * place.split / splits);
    int last = int(int64_t(k_tiles) * (place.split + 1) / splits);
    Slots<Indices> slots;
#pragma unroll
    for (int i = 0; i < stages - 1; ++i) {
      if (first + i < last) {
        start(state, place, shared + i * stage_bytes, slots, first + i, all);
        finish_copies(shared + i * stage_bytes, slots, all);
      }
      commit_copies();
    }
    for (int k = first; k < last; ++k) {
      wait_for_copies<stages - 2>();
      // Tile k is here, and all threads are done with the one before it.
      __syncthreads();
      int next = k + stages - 1;
      char *stage = shared + (next - first) % stages * stage_bytes;
      if (next < last)
        start(state, place, stage, slots, next, all);
      commit_copies();
      multiply_tile(shared + (k - first) % stages * stage_bytes, sums, all);
      if (next < last)
        finish_copies(stage, slots, all);
    }
  }

  template <size_t... I>
  FACT_DEVICE void multiply_tile(char const *stage, Sums &sums,
                                 std::index_sequence<I...>) {
    constexpr int step = Product::step_bytes / int(sizeof(typename A::Element));
    int row = get_warp_row(), column = get_warp_column();
#pragma unroll
    for (int k = 0; k < Tile::k; k += step) {
      typename Product::FragmentA a;
      a.template load<TileA>(stage, row, k);
      (multiply_by<TileB<Bs>>(stage + offset_of(I), sums[I], a, column, k),
       ...);
    }
  }

  template <class Tile_>
  FACT_DEVICE void multiply_by(char const *tile, typename Product::Sums &sums,
                               typename Product::FragmentA const &a, int column,
                               int k) {
    typename Product::FragmentB b;
    b.template load<Tile_>(tile, column, k);
    Product::multiply(sums, a, b);
  }

  /// Where the sums of a warp begin in the tile.
  FACT_DEVICE int get_warp_row() {
    return threadIdx.x / 32 % Warps::m * warp_m;
  }
  FACT_DEVICE int get_warp_column() {
    return threadIdx.x / 32 / Warps::m * warp_n;
  }

  /// Calls `function(product, row, column, sums)` for each run of neighboring
  /// sums of the thread, with places in the tile.
  template <class Function, size_t... I>
  FACT_DEVICE void for_each_run(Sums const &sums, Function function,
                                std::index_sequence<I...>) {
    (for_each_of<TileB<Bs>>(int(I), sums[I], function), ...);
  }

  template <class Tile_, class Function>
  FACT_DEVICE void for_each_of(int product, typename Product::Sums const &sums,
                               Function function) {
    int first_row = get_warp_row(), first_column = get_warp_column();
    Product::template for_each_run<TileA, Tile_>(
        sums, [&](int row, int column, auto const &run) {
          function(product, first_row + row, first_column + column, run);
        });
  }

  FACT_DEVICE void store_partial(State const &state, Place const &place,
                                 Sums const &sums) {
    auto store = [&](int product, int row, int column, auto const &run) {
      row += place.row;
      column += place.column;
      if (row >= m || column >= n)
        return;
      int64_t line = ((int64_t(place.split) * products + product) * batches +
                      place.batch) *
                         m +
                     row;
      sm80::store_floats(state.partial_sums + line * workspace_pitch + column,
                         run);
    };
    for_each_run(sums, store, Indices{});
  }

  /// Sums go through shared memory, so that threads read and write rows.
  FACT_DEVICE void finish(State const &state, Place const &place, float *shared,
                          Sums const &sums) {
    auto store = [&](int product, int row, int column, auto const &run) {
      sm80::store_floats(shared + (product * Tile::m + row) * pitch + column,
                         run);
    };
    for_each_run(sums, store, Indices{});
    __syncthreads();
    for (int index = threadIdx.x; index < tile_vectors;
         index += Epilogue::together * threads)
      finish_vectors<Epilogue::together>(state, place, shared, index);
  }

  static constexpr int tile_vectors = Tile::m * Tile::n / vector;

  /// `Left` vectors of the thread, from `index` on.
  template <int Left>
  FACT_DEVICE void finish_vectors(State const &state, Place const &place,
                                  float const *shared, int index) {
    if constexpr (Left > 0) {
      constexpr int row_count = Tile::n / vector;
      // What is outside has no columns, and a row that can be read.
      bool is_inside = index < tile_vectors;
      int inside = is_inside ? index : 0;
      int row = Epilogue::by_columns ? inside % Tile::m : inside / row_count;
      int column =
          Epilogue::by_columns ? inside / Tile::m : inside % row_count * vector;
      // Copied in vectors.
      alignas(16) float own[products][vector];
#pragma unroll
      for (int p = 0; p < products; ++p)
        sm80::copy_floats<vector>(own[p], shared + (p * Tile::m + row) * pitch +
                                              column);
      row += place.row;
      column += place.column;
      int given = is_inside && row < m ? n - column : 0;
      Epilogue::apply(state.buffers, place.batch, row < m ? row : m - 1, column,
                      given, own, [&] {
                        finish_vectors<Left - 1>(state, place, shared,
                                                 index + threads);
                      });
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SM80GEMM_CUH
