//===- StrictMainloop.cuh - Products as exact as IEEE f32 ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma multiplies f32 operands as TF32 and ignores the bits that TF32 does not
// have: x = big + small, where `big` is x truncated. Strict products sum up
//
//   A_small * B_big + A_big * B_small + A_big * B_big
//
// The product of both small parts is below f32's rounding. wgmma also truncates
// the sums, so after each tile of K they are added to f32 registers.
//
// A cooperative kernel reads small parts of B from memory, where a copy of B is
// followed by them, and each warpgroup splits its rows of A in registers. Other
// kernels write small parts of each tile of A and B into shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_STRICTMAINLOOP_CUH
#define FACT_CUTLASS_STRICTMAINLOOP_CUH

#include "Gemm.cuh"
#include "Math.cuh"
#include "cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized_fp8.hpp"

namespace fact {

/// A kernel of strict products. It takes twice the registers for accumulators.
template <class Kind> struct Promoted : Kind {
  static constexpr bool promotes = true;
};

namespace sm90 {

/// What both main loops have: CUTLASS's one for FP8, whose sums are promoted,
/// over operands of f32.
template <class Base> struct PromotedMainloop : Base {
  using typename Base::Arguments;
  using typename Base::TileShape;
  static_assert(std::is_same_v<typename Base::ElementA, float> &&
                    std::is_same_v<typename Base::ElementB, float>,
                "strict products are of f32");

  static constexpr int m = cute::size<0>(TileShape{});
  static constexpr int n = cute::size<1>(TileShape{});
  static constexpr int k = cute::size<2>(TileShape{});

  /// The loops promote sums after each tile of K, whatever the arguments say.
  template <class Shape>
  static bool can_implement(Shape const &shape, Arguments arguments) {
    arguments.mma_promotion_interval = k;
    return Base::can_implement(shape, arguments);
  }
};

//===----------------------------------------------------------------------===//
// The main loop that splits tiles in shared memory
//===----------------------------------------------------------------------===//

/// Small parts are made of the next tile of K while wgmma multiplies this one.
template <class Collective>
struct StrictMainloop : PromotedMainloop<Collective> {
  using Base = PromotedMainloop<Collective>;
  using Base::k, Base::m, Base::n;
  using typename Base::MainloopPipeline;
  using typename Base::Params;
  using typename Base::PipelineState;
  using typename Base::SmemLayoutAtomA;
  using typename Base::SmemLayoutAtomB;
  using typename Base::TiledMma;
  /// The warpgroups that share a tile.
  static constexpr int threads = cute::size(TiledMma{});

  using SmallLayoutA = decltype(cute::tile_to_shape(
      SmemLayoutAtomA{}, cute::Shape<cute::Int<m>, cute::Int<k>, cute::_2>{}));
  using SmallLayoutB = decltype(cute::tile_to_shape(
      SmemLayoutAtomB{}, cute::Shape<cute::Int<n>, cute::Int<k>, cute::_2>{}));

  /// Small parts of two tiles of K.
  struct TensorStorage : Base::TensorStorage {
    cute::array_aligned<tf32, cute::cosize_v<SmallLayoutA>> small_a;
    cute::array_aligned<tf32, cute::cosize_v<SmallLayoutB>> small_b;
  };
  // An element and its small part have the same place in their swizzled tiles.
  static_assert(m * k * sizeof(float) % 1024 == 0 &&
                    n * k * sizeof(float) % 1024 == 0 &&
                    sizeof(typename Base::TensorStorage) % 1024 == 0,
                "tiles must be multiples of the swizzle's 1024 bytes");

  template <int Elements>
  FACT_DEVICE void split(tf32 const *tile, tf32 *small, int thread) {
    auto const *from = reinterpret_cast<float4 const *>(tile);
    auto *to = reinterpret_cast<float4 *>(small);
#pragma unroll
    for (int i = thread; i < Elements / 4; i += threads) {
      float4 x = from[i];
      to[i] = float4{small_part(x.x), small_part(x.y), small_part(x.z),
                     small_part(x.w)};
    }
  }

  /// Waits for all threads that share a tile.
  FACT_DEVICE void meet() {
    cutlass::arch::NamedBarrier::sync(
        threads, threads == 128 ? cutlass::canonical_warp_group_idx() : 0);
  }

  template <class Accumulators>
  CUTLASS_DEVICE void mma(MainloopPipeline pipeline, PipelineState read,
                          Accumulators &accumulators, int k_tiles, int thread,
                          TensorStorage &storage, Params const &) {
    using namespace cute;
    auto split_next = [&](int buffer) {
      pipeline.consumer_wait(read, pipeline.consumer_try_wait(read));
      split<m * k>(storage.smem_A.data() + read.index() * m * k,
                   storage.small_a.data() + buffer * m * k, thread);
      split<n * k>(storage.smem_B.data() + read.index() * n * k,
                   storage.small_b.data() + buffer * n * k, thread);
      cutlass::arch::fence_view_async_shared();
    };

    TiledMma tiled_mma;
    int warpgroup = __shfl_sync(0xffffffff, thread / 128, 0);
    auto part = tiled_mma.get_slice(warpgroup * 128);
    auto a_of = [&](auto *data, auto layout) {
      return part.make_fragment_A(
          part.partition_A(make_tensor(make_smem_ptr(data), layout)));
    };
    auto b_of = [&](auto *data, auto layout) {
      return part.make_fragment_B(
          part.partition_B(make_tensor(make_smem_ptr(data), layout)));
    };
    auto big_a = a_of(storage.smem_A.data(), typename Base::SmemLayoutA{});
    auto big_b = b_of(storage.smem_B.data(), typename Base::SmemLayoutB{});
    auto small_a = a_of(storage.small_a.data(), SmallLayoutA{});
    auto small_b = b_of(storage.small_b.data(), SmallLayoutB{});
    auto sums = make_fragment_like(accumulators);
    clear(accumulators);

    // Others may still multiply the last small parts of the product before.
    meet();
    split_next(0);
    meet();
    for (int tile = 0; tile < k_tiles; ++tile) {
      PipelineState current = read;
      int stage = read.index(), buffer = tile % 2;
      bool is_last = tile + 1 == k_tiles;
      warpgroup_fence_operand(sums);
      warpgroup_arrive();
      tiled_mma.accumulate_ = GMMA::ScaleOut::Zero;
      // Small products first: their sums lose less to truncation.
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < size<2>(big_a); ++i) {
        gemm(tiled_mma, small_a(_, _, i, buffer), big_b(_, _, i, stage), sums);
        tiled_mma.accumulate_ = GMMA::ScaleOut::One;
        gemm(tiled_mma, big_a(_, _, i, stage), small_b(_, _, i, buffer), sums);
      }
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < size<2>(big_a); ++i)
        gemm(tiled_mma, big_a(_, _, i, stage), big_b(_, _, i, stage), sums);
      warpgroup_commit_batch();
      ++read;
      if (!is_last)
        split_next(1 - buffer);
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < size(accumulators); ++i)
        accumulators(i) += sums(i);
      // `mma_tail` releases the last one.
      if (!is_last) {
        pipeline.consumer_release(current);
        meet();
      }
    }
  }
};

//===----------------------------------------------------------------------===//
// The main loop of a B that is split ahead
//===----------------------------------------------------------------------===//

/// B [batches, N, K] is followed by its small parts, and a stage holds both.
/// Each warpgroup reads its rows of A into registers and splits them there, so
/// that wgmma reads only B from shared memory.
template <class Collective>
struct SplitAheadMainloop : PromotedMainloop<Collective> {
  using Base = PromotedMainloop<Collective>;
  using Base::k, Base::m, Base::n;
  using typename Base::Arguments;
  using typename Base::MainloopPipeline;
  using typename Base::PipelineState;
  using typename Base::SmemLayoutA;
  using typename Base::SmemLayoutB;
  using typename Base::TiledMma;
  using typename Base::TileShape;
  static_assert(cute::size(TiledMma{}) == 256 && m == 128,
                "two warpgroups have 64 rows each");
  static_assert(k == 32, "a row of A in shared memory is one swizzled line");

  using RegisterMma = decltype(cute::make_tiled_mma(
      cute::GMMA::rs_op_selector<tf32, tf32, float, TileShape,
                                 cute::GMMA::Major::K, cute::GMMA::Major::K>(),
      cute::Layout<cute::Shape<cute::_2, cute::_1, cute::_1>>{}));

  struct TensorStorage : Base::TensorStorage {
    cute::array_aligned<tf32, cute::cosize_v<SmemLayoutB>> small_b;
  };
  static_assert(sizeof(typename Base::TensorStorage) % 1024 == 0,
                "tiles must be multiples of the swizzle's 1024 bytes");

  struct Params : Base::Params {
    typename Base::Params::TMA_B tma_load_small;
  };

  template <class Shape>
  static Params to_underlying_arguments(Shape const &shape,
                                        Arguments const &arguments,
                                        void *workspace) {
    auto [rows, columns, depth, batches] = cute::append<4>(shape, 1);
    // One matrix may serve all batches.
    int64_t matrices = cute::get<2>(arguments.dB) == 0 ? 1 : batches;
    Arguments small = arguments;
    small.ptr_B += matrices * columns * cute::get<0>(arguments.dB);
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
    auto to_a = tma_a.partition_D(smem(storage.smem_A.data(), SmemLayoutA{}));
    auto to_b = tma_b.partition_D(smem(storage.smem_B.data(), SmemLayoutB{}));
    auto to_small =
        tma_b.partition_D(smem(storage.small_b.data(), SmemLayoutB{}));
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

  /// A is one tile ahead: its next tile is read while the last products of this
  /// one run.
  template <class Accumulators>
  CUTLASS_DEVICE void mma(MainloopPipeline pipeline, PipelineState read,
                          Accumulators &accumulators, int k_tiles, int thread,
                          TensorStorage &storage, Params const &) {
    using namespace cute;
    RegisterMma mma;
    int warpgroup = __shfl_sync(0xffffffff, thread / 128, 0);
    auto part = mma.get_slice(warpgroup * 128);
    auto b_of = [&](auto *data) {
      return part.make_fragment_B(
          part.partition_B(make_tensor(make_smem_ptr(data), SmemLayoutB{})));
    };
    auto big_b = b_of(storage.smem_B.data());
    auto small_b = b_of(storage.small_b.data());
    auto big_a = part.partition_fragment_A(make_tensor(
        make_smem_ptr(storage.smem_A.data()), SmemLayoutA{})(_, _, 0));
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
    for (int tile = 0; tile < k_tiles; ++tile) {
      bool is_last = tile + 1 == k_tiles;
      PipelineState current = read;
      int stage = current.index();
      ++read;
      warpgroup_fence_operand(sums);
      warpgroup_fence_operand(big_a);
      warpgroup_fence_operand(small_a);
      warpgroup_arrive();
      mma.accumulate_ = GMMA::ScaleOut::Zero;
      // Small products first: their sums lose less to truncation.
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < k / 8; ++i) {
        gemm(mma, small_a(_, _, i), big_b(_, _, i, stage), sums);
        mma.accumulate_ = GMMA::ScaleOut::One;
        gemm(mma, big_a(_, _, i), small_b(_, _, i, stage), sums);
      }
      warpgroup_commit_batch();
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < k / 8; ++i)
        gemm(mma, big_a(_, _, i), big_b(_, _, i, stage), sums);
      warpgroup_commit_batch();
      warpgroup_wait<1>();
      if (!is_last)
        load(read, next_big_a, next_small_a);
      warpgroup_wait<0>();
      warpgroup_fence_operand(sums);
      // Until here wgmma reads these: the next tile of A must not take their
      // registers.
      warpgroup_fence_operand(big_a);
      warpgroup_fence_operand(small_a);
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < size(accumulators); ++i)
        accumulators(i) += sums(i);
      // `mma_tail` releases the last one.
      if (!is_last) {
        pipeline.consumer_release(current);
        copy(next_big_a, big_a);
        copy(next_small_a, small_a);
      }
    }
  }
};

/// CUTLASS's main loop for FP8 is the base of both.
template <class Tile, class Cluster, class Kind, class Swizzle, class Raster,
          int Stages, class ClusterShape, class Policy, class... Rest>
struct MainloopOf<GemmSchedule<Tile, Cluster, Promoted<Kind>, Swizzle, Raster>,
                  cutlass::gemm::collective::CollectiveMma<
                      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<
                          Stages, ClusterShape, Policy>,
                      Rest...>> {
  using Base = cutlass::gemm::collective::CollectiveMma<
      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecializedFP8<Stages, ClusterShape,
                                                           Policy>,
      Rest...>;
  using type =
      std::conditional_t<splits_ahead<GemmSchedule<
                             Tile, Cluster, Promoted<Kind>, Swizzle, Raster>>,
                         SplitAheadMainloop<Base>, StrictMainloop<Base>>;
};

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_STRICTMAINLOOP_CUH
