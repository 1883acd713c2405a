//===- strict.cuh - Strict products with A in registers ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates for the main loop of strict f32 products (Float32.cuh), measured
// by `run.sh <cutlass> strict_...`.
//
// Each warpgroup reads its rows of A into registers and splits them there, so
// wgmma reads B only from shared memory. Warpgroups take turns: one multiplies
// while the other adds its sums to f32 registers and prepares its next tile.
//
//   SplitInKernel  consumers write the small parts of B, half a tile each
//   SplitAhead     TMA loads them: B is followed by its small parts
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TEST_STRICT_CUH
#define FACT_TEST_STRICT_CUH

#include "fact/cutlass/Float32Gemm.cuh"

namespace fact {

/// `Interval`: tiles of K per promotion.
template <class Kind, int Interval = 1> struct SplitInKernel : Kind {
  static constexpr bool promotes = true;
};
/// `Turns`: whether warpgroups take turns; they need not share small parts.
template <class Kind, int Interval = 1, bool Turns = true>
struct SplitAhead : Kind {
  static constexpr bool promotes = true;
};

namespace sm90 {

/// Small parts of B that are written while others are read.
inline constexpr int small_buffers = 3;

template <class Tile, class Cluster, class Kind, int Interval, class Swizzle,
          class Raster>
constexpr int spare_bytes<
    GemmSchedule<Tile, Cluster, SplitInKernel<Kind, Interval>, Swizzle,
                 Raster>> = small_buffers * Tile::n * Tile::k * 4;
template <class Tile, class Cluster, class Kind, int Interval, bool Turns,
          class Swizzle, class Raster>
constexpr int spare_bytes<GemmSchedule<
    Tile, Cluster, SplitAhead<Kind, Interval, Turns>, Swizzle, Raster>> = 0;

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

/// What both kinds share. `SmallLayoutB` has a third mode of buffers.
template <class Base, class SmallLayoutB, int Interval, bool Turns>
struct RegisterMainloop : Base {
  using typename Base::Arguments;
  using typename Base::MainloopPipeline;
  using typename Base::PipelineState;
  using typename Base::TiledMma;
  using typename Base::TileShape;
  static_assert(std::is_same_v<typename Base::ElementA, float> &&
                    std::is_same_v<typename Base::ElementB, float>,
                "strict products are of f32");

  static constexpr int m = cute::size<0>(TileShape{});
  static constexpr int n = cute::size<1>(TileShape{});
  static constexpr int k = cute::size<2>(TileShape{});
  static constexpr int threads = cute::size(TiledMma{});
  static_assert(threads == 256 && m == 128,
                "two warpgroups have 64 rows each");
  static_assert(k == 32, "a row of A in shared memory is one swizzled line");

  using RegisterMma = decltype(cute::make_tiled_mma(
      cute::GMMA::rs_op_selector<tf32, tf32, float, TileShape,
                                 cute::GMMA::Major::K,
                                 cute::GMMA::Major::K>(),
      cute::Layout<cute::Shape<cute::_2, cute::_1, cute::_1>>{}));

  struct TensorStorage : Base::TensorStorage {
    cute::array_aligned<tf32, cute::cosize_v<SmallLayoutB>> small_b;
  };
  static_assert(m * k * sizeof(float) % 1024 == 0 &&
                    n * k * sizeof(float) % 1024 == 0 &&
                    sizeof(typename Base::TensorStorage) % 1024 == 0,
                "tiles must be multiples of the swizzle's 1024 bytes");

  template <class Shape>
  static bool can_implement(Shape const &shape, Arguments arguments) {
    arguments.mma_promotion_interval = k;
    return Base::can_implement(shape, arguments);
  }

  /// Waits until the other warpgroup has passed the turn on.
  FACT_DEVICE void take_turn(int warpgroup) {
    if constexpr (!Turns)
      return;
    cutlass::arch::NamedBarrier::sync(threads, warpgroup);
  }
  FACT_DEVICE void pass_turn(int warpgroup) {
    if constexpr (!Turns)
      return;
    cutlass::arch::NamedBarrier::arrive(threads, 1 - warpgroup);
  }
  FACT_DEVICE void meet() { cutlass::arch::NamedBarrier::sync(threads, 2); }

  /// Reads a thread's elements of a tile of A as wgmma wants them in registers
  /// (row t / 4 and 8 below, column t % 4 and 4 to the right, per step of 8),
  /// and splits them.
  template <class Fragment>
  FACT_DEVICE void load_a(float const *row, int phase, Fragment &big,
                          Fragment &small) {
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < k / 8 * 4; ++i) {
      int chunk = i / 4 * 2 + i % 4 / 2, below = i % 2;
      float x = row[below * 8 * k + ((chunk ^ phase) * 4)];
      big(i) = tf32::bitcast(__float_as_uint(x) & ~0x1fffu);
      small(i) = tf32::bitcast(__float_as_uint(small_part(x)));
    }
  }

  /// `prepare(tile, state)` makes small parts of B one tile ahead, and
  /// `small_of(tile, stage)` is the buffer that has them. A is one tile ahead
  /// too: its next tile is read while the last products of this one run.
  template <class Accumulators, class Prepare, class SmallOf>
  FACT_DEVICE void multiply(MainloopPipeline &pipeline, PipelineState read,
                            Accumulators &accumulators, int k_tiles, int thread,
                            TensorStorage &storage, Prepare prepare,
                            SmallOf small_of) {
    using namespace cute;
    RegisterMma mma;
    int warpgroup = __shfl_sync(0xffffffff, thread / 128, 0);
    auto part = mma.get_slice(warpgroup * 128);
    auto b_of = [&](auto *data, auto layout) {
      return part.make_fragment_B(
          part.partition_B(make_tensor(make_smem_ptr(data), layout)));
    };
    auto big_b = b_of(storage.smem_B.data(), typename Base::SmemLayoutB{});
    auto small_b = b_of(storage.small_b.data(), SmallLayoutB{});
    auto big_a = part.partition_fragment_A(make_tensor(
        make_smem_ptr(storage.smem_A.data()),
        typename Base::SmemLayoutA{})(_, _, 0));
    auto small_a = make_fragment_like(big_a);
    auto next_big_a = make_fragment_like(big_a);
    auto next_small_a = make_fragment_like(big_a);
    static_assert(decltype(size(big_a))::value == k / 8 * 4);
    auto sums = make_fragment_like(accumulators);
    clear(accumulators);

    int lane = thread % 32;
    auto const *row = reinterpret_cast<float const *>(storage.smem_A.data()) +
                      (thread / 32 * 16 + lane / 4) * k;
    int phase = cast_smem_ptr_to_uint(row) / 128 % 8;
    row += lane % 4;

    auto load = [&](PipelineState state, auto &big, auto &small) {
      pipeline.consumer_wait(state, pipeline.consumer_try_wait(state));
      load_a(row + state.index() * (m * k), phase, big, small);
    };

    load(read, big_a, small_a);
    mma.accumulate_ = GMMA::ScaleOut::Zero;
    for (int tile = 0; tile < k_tiles; ++tile) {
      bool is_last = tile + 1 == k_tiles;
      PipelineState current = read;
      ++read;
      if (!is_last)
        prepare(tile + 1, read);
      int stage = current.index(), buffer = small_of(tile, stage);

      take_turn(warpgroup);
      warpgroup_fence_operand(sums);
      warpgroup_fence_operand(big_a);
      warpgroup_fence_operand(small_a);
      warpgroup_arrive();
      // Small products first: their sums lose less to truncation.
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < k / 8; ++i) {
        gemm(mma, small_a(_, _, i), big_b(_, _, i, stage), sums);
        mma.accumulate_ = GMMA::ScaleOut::One;
        gemm(mma, big_a(_, _, i), small_b(_, _, i, buffer), sums);
      }
      warpgroup_commit_batch();
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < k / 8; ++i)
        gemm(mma, big_a(_, _, i), big_b(_, _, i, stage), sums);
      warpgroup_commit_batch();
      // The other warpgroup's products follow without a gap, and the small
      // parts that this one has read may be overwritten.
      warpgroup_wait<1>();
      if (!(is_last && warpgroup == 1))
        pass_turn(warpgroup);
      if (!is_last)
        load(read, next_big_a, next_small_a);
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      // Until here wgmma reads these: the next tile of A must not take their
      // registers.
      warpgroup_fence_operand(big_a);
      warpgroup_fence_operand(small_a);
      if (Interval == 1 || is_last || (tile + 1) % Interval == 0) {
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < size(accumulators); ++i)
          accumulators(i) += sums(i);
        mma.accumulate_ = GMMA::ScaleOut::Zero;
      }
      // `mma_tail` releases the last one.
      if (!is_last) {
        pipeline.consumer_release(current);
        copy(next_big_a, big_a);
        copy(next_small_a, small_a);
      }
    }
  }
};

template <class Base>
using SmallBuffers = decltype(cute::tile_to_shape(
    typename Base::SmemLayoutAtomB{},
    cute::Shape<cute::Int<cute::size<1>(typename Base::TileShape{})>,
                cute::Int<cute::size<2>(typename Base::TileShape{})>,
                cute::Int<small_buffers>>{}));

/// Each warpgroup writes the small parts of half a tile of B, one tile ahead,
/// into the buffer whose readers had passed the turn on before.
template <class Base, int Interval>
struct SplittingMainloop
    : RegisterMainloop<Base, SmallBuffers<Base>, Interval, true> {
  using Common = RegisterMainloop<Base, SmallBuffers<Base>, Interval, true>;
  using typename Base::MainloopPipeline;
  using typename Base::Params;
  using typename Base::PipelineState;
  using typename Common::TensorStorage;

  template <class Accumulators>
  CUTLASS_DEVICE void mma(MainloopPipeline pipeline, PipelineState read,
                          Accumulators &accumulators, int k_tiles, int thread,
                          TensorStorage &storage, Params const &) {
    constexpr int elements = Common::n * Common::k;
    auto const *b = reinterpret_cast<float4 const *>(storage.smem_B.data());
    auto *small = reinterpret_cast<float4 *>(storage.small_b.data());
    auto prepare = [&](int tile, PipelineState state) {
      pipeline.consumer_wait(state, pipeline.consumer_try_wait(state));
      auto const *from = b + state.index() * (elements / 4);
      auto *to = small + tile % small_buffers * (elements / 4);
      // Threads of a warpgroup are neighbors in their half.
      int first = thread / 128 * (elements / 8) + thread % 128;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < elements / 8; i += 128) {
        float4 x = from[first + i];
        to[first + i] = float4{small_part(x.x), small_part(x.y),
                               small_part(x.z), small_part(x.w)};
      }
      cutlass::arch::fence_view_async_shared();
    };
    // The other warpgroup may still multiply the product before.
    Common::meet();
    prepare(0, read);
    if (thread >= 128)
      Common::pass_turn(1);
    Common::multiply(pipeline, read, accumulators, k_tiles, thread, storage,
                     prepare,
                     [](int tile, int) { return tile % small_buffers; });
  }
};

/// B's small parts follow B: [batches, N, K] twice. A stage holds both.
template <class Base, int Interval, bool Turns>
struct PresplitMainloop
    : RegisterMainloop<Base, typename Base::SmemLayoutB, Interval, Turns> {
  using Common =
      RegisterMainloop<Base, typename Base::SmemLayoutB, Interval, Turns>;
  using typename Base::Arguments;
  using typename Base::MainloopPipeline;
  using typename Base::PipelineState;
  using typename Common::TensorStorage;

  struct Params : Base::Params {
    typename Base::Params::TMA_B tma_load_small;
  };

  template <class Shape>
  static Params to_underlying_arguments(Shape const &shape,
                                        Arguments const &arguments,
                                        void *workspace) {
    auto [rows, columns, depth, batches] = cute::append<4>(shape, 1);
    Arguments small = arguments;
    small.ptr_B += int64_t(columns) * depth * batches;
    Params params;
    static_cast<typename Base::Params &>(params) =
        Base::to_underlying_arguments(shape, arguments, workspace);
    params.tma_load_small =
        Base::to_underlying_arguments(shape, small, workspace).tma_load_b;
    params.tma_transaction_bytes += Base::TmaTransactionBytesNK;
    return params;
  }

  template <class TensorA, class TensorB, class KTiles, class Block>
  CUTLASS_DEVICE void
  load(Params const &params, MainloopPipeline pipeline, PipelineState write,
       cute::tuple<TensorA, TensorB> const &inputs, Block const &block,
       KTiles k_tile, int k_tiles, int, uint32_t rank, TensorStorage &storage) {
    using namespace cute;
    if (!elect_one_sync())
      return;
    using ClusterShape = typename Base::DispatchPolicy::ClusterShape;
    auto [block_m, block_n, block_k, block_l] = block;
    int x = rank % size<0>(ClusterShape{}), y = rank / size<0>(ClusterShape{});
    auto tma_a = params.tma_load_a.get_slice(y);
    auto tma_b = params.tma_load_b.get_slice(x);
    auto smem = [](auto *data, auto layout) {
      return make_tensor(make_smem_ptr(data), layout);
    };
    auto from_a = tma_a.partition_S(get<0>(inputs)(_, _, block_m, _, block_l));
    auto from_b = tma_b.partition_S(get<1>(inputs)(_, _, block_n, _, block_l));
    auto to_a = tma_a.partition_D(
        smem(storage.smem_A.data(), typename Base::SmemLayoutA{}));
    auto to_b = tma_b.partition_D(
        smem(storage.smem_B.data(), typename Base::SmemLayoutB{}));
    auto to_small = tma_b.partition_D(
        smem(storage.small_b.data(), typename Base::SmemLayoutB{}));
    // Blocks of a row of the cluster share A, those of a column B.
    auto blocks = cute::Layout<ClusterShape>{};
    uint16_t mask_a = 0, mask_b = 0;
    for (int i = 0; i < size<1>(blocks); ++i)
      mask_a |= uint16_t(1) << blocks(x, i, 0);
    for (int i = 0; i < size<0>(blocks); ++i)
      mask_b |= uint16_t(1) << blocks(i, y, 0);
    CUTLASS_PRAGMA_NO_UNROLL
    for (; k_tiles > 0; --k_tiles, ++k_tile, ++write) {
      pipeline.producer_acquire(write);
      auto *barrier = pipeline.producer_get_barrier(write);
      int stage = write.index();
      copy(params.tma_load_a.with(*barrier, mask_a), from_a(_, _, _, *k_tile),
           to_a(_, _, _, stage));
      copy(params.tma_load_b.with(*barrier, mask_b), from_b(_, _, _, *k_tile),
           to_b(_, _, _, stage));
      copy(params.tma_load_small.with(*barrier, mask_b),
           from_b(_, _, _, *k_tile), to_small(_, _, _, stage));
    }
  }

  template <class Accumulators>
  CUTLASS_DEVICE void mma(MainloopPipeline pipeline, PipelineState read,
                          Accumulators &accumulators, int k_tiles, int thread,
                          TensorStorage &storage, Params const &) {
    if (thread >= 128)
      Common::pass_turn(1);
    Common::multiply(pipeline, read, accumulators, k_tiles, thread, storage,
                     [](int, PipelineState) {},
                     [](int, int stage) { return stage; });
  }
};

template <class Kind, int Interval, int Stages, class Cluster, class Schedule,
          class... Rest>
struct MainloopOf<SplitInKernel<Kind, Interval>,
                  cutlass::gemm::collective::CollectiveMma<
                      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<
                          Stages, Cluster, Schedule>,
                      Rest...>> {
  using type = SplittingMainloop<
      cutlass::gemm::collective::CollectiveMma<
          cutlass::gemm::MainloopSm90TmaGmmaWarpSpecializedFP8<Stages, Cluster,
                                                               Schedule>,
          Rest...>,
      Interval>;
};

template <class Kind, int Interval, bool Turns, int Stages, class Cluster,
          class Schedule, class TileShape, class... Rest>
struct MainloopOf<SplitAhead<Kind, Interval, Turns>,
                  cutlass::gemm::collective::CollectiveMma<
                      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<
                          Stages, Cluster, Schedule>,
                      TileShape, Rest...>> {
  // The builder counted one tile of B per stage.
  static constexpr int m = cute::size<0>(TileShape{});
  static constexpr int n = cute::size<1>(TileShape{});
  static constexpr int stages = Stages * (m + n) / (m + 2 * n);
  using type = PresplitMainloop<
      cutlass::gemm::collective::CollectiveMma<
          cutlass::gemm::MainloopSm90TmaGmmaWarpSpecializedFP8<stages, Cluster,
                                                               Schedule>,
          TileShape, Rest...>,
      Interval, Turns>;
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// erf(x) without a branch; 1.5 ulp, where CUDA's erff has 2. Elements of an
/// epilogue can be interleaved, and no coefficient is selected.
FACT_DEVICE float straight_erf(float x) {
  // Near 0: x + x * P(x^2).
  float s = x * x;
  float p = fmaf(7.85388329e-05f, s, -8.01020069e-04f);
  p = fmaf(p, s, 5.18832868e-03f);
  p = fmaf(p, s, -2.68538129e-02f);
  p = fmaf(p, s, 1.12835854e-01f);
  p = fmaf(p, s, -3.76126260e-01f);
  p = fmaf(p, s, 1.28379166e-01f);
  float near = fmaf(p, x, x);
  // From 1: 1 - 2^(-a + a * Q(a)), which is 1 from 4.
  float a = fminf(fabsf(x), 4.0f);
  float q = fmaf(3.03892855e-04f, a, -4.59778355e-03f);
  q = fmaf(q, a, 3.28912027e-02f);
  q = fmaf(q, a, -1.51650488e-01f);
  q = fmaf(q, a, -9.17310953e-01f);
  q = fmaf(q, a, -6.28052533e-01f);
  float far = copysignf(1.0f - fast_exp2(fmaf(q, a, -a)), x);
  return fabsf(x) >= 1.0f ? far : near;
}

struct SplitParams {
  float4 const *from;
  float4 *to;
  int64_t count;
};

/// Copies `count` vectors, followed by their small parts.
template <class> __global__ void split_operand(SplitParams params) {
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
       i < params.count; i += int64_t(gridDim.x) * blockDim.x) {
    float4 x = params.from[i];
    params.to[i] = x;
    params.to[params.count + i] = float4{small_part(x.x), small_part(x.y),
                                         small_part(x.z), small_part(x.w)};
  }
}

/// A product of a B [N, K] that `pack` splits.
template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule>
struct PresplitGemm
    : Gemm<Problem, A, B, OperandList, ResultList, Schedule> {
  static constexpr int packed_operand = B::buffer;
  static constexpr uint32_t packed_with = 0;
  static constexpr int64_t elements =
      int64_t(Problem::n) * Problem::k * Problem::batches;
  static constexpr uint64_t packed_bytes(Sizes) {
    return 2 * elements * sizeof(float);
  }
  static int pack(Sizes, void *const *buffers, void *packed,
                  cudaStream_t stream) {
    SplitParams params{reinterpret_cast<float4 const *>(B::pointer(buffers)),
                       static_cast<float4 *>(packed), elements / 4};
    return launch_kernel(&split_operand<B>, dim3(132 * 8), dim3(1, 1, 1),
                         dim3(256), 0, params, stream);
  }
};

/// A kernel whose packed operand is no weight: `pack` is part of each launch.
template <class Kernel> struct PackedPerLaunch {
  static constexpr int buffer_count = Kernel::buffer_count;
  static constexpr uint64_t packed_bytes_here =
      (Kernel::packed_bytes({}) + 255) / 256 * 256;
  static constexpr uint64_t workspace_bytes =
      packed_bytes_here + Kernel::workspace_bytes({});
  struct State {
    typename Kernel::State inner;
    void *buffers[buffer_count];
    void *packed;
  };
  static int bind(State &state, void *const *buffers, void *workspace) {
    void *inner[buffer_count];
    for (int i = 0; i < buffer_count; ++i)
      inner[i] = state.buffers[i] = buffers[i];
    state.packed = inner[Kernel::packed_operand] = workspace;
    return Kernel::bind(state.inner, {}, inner,
                        static_cast<char *>(workspace) + packed_bytes_here);
  }
  static int launch(State &state, cudaStream_t stream) {
    int error = Kernel::pack({}, state.buffers, state.packed, stream);
    return error ? error : Kernel::launch(state.inner, stream);
  }
};

} // namespace sm90

} // namespace fact

#endif // FACT_TEST_STRICT_CUH
