//===- Float32.cuh - Operands of f32 as wgmma reads them -------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma multiplies 32-bit operands as TF32, and reads them along K only. One
// that does not lie so, or that TMA cannot address, is copied first.
//
// In TF32, TMA rounds operands to nearest on their way to shared memory.
//
// Strict products take them as they are. wgmma ignores what TF32 has no bits
// for: x = big + small, where `big` is x truncated. Before they multiply a tile
// of K, warpgroups write its small parts into shared memory, and then sum up
//
//   A_small * B_big + A_big * B_small + A_big * B_big
//
// The product of both small parts is below f32's rounding. wgmma also truncates
// the sums, so after each tile of K they are added to f32 registers.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_FLOAT32_CUH
#define FACT_CUTLASS_FLOAT32_CUH

#include "Gemm.cuh"
#include "Math.cuh"
#include "cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized_fp8.hpp"

namespace fact {

/// A kernel of strict products. It takes twice the registers for accumulators.
template <class Kind> struct Promoted : Kind {
  static constexpr bool promotes = true;
};

namespace sm90 {

//===----------------------------------------------------------------------===//
// The main loop of strict products
//===----------------------------------------------------------------------===//

/// CUTLASS's main loop for FP8, whose sums are promoted, over operands of f32.
/// Small parts are made of the next tile of K while wgmma multiplies this one.
template <class Base> struct StrictMainloop : Base {
  using typename Base::Arguments;
  using typename Base::MainloopPipeline;
  using typename Base::Params;
  using typename Base::PipelineState;
  using typename Base::SmemLayoutAtomA;
  using typename Base::SmemLayoutAtomB;
  using typename Base::TiledMma;
  using typename Base::TileShape;
  static_assert(std::is_same_v<typename Base::ElementA, float> &&
                    std::is_same_v<typename Base::ElementB, float>,
                "strict products are of f32");

  static constexpr int m = cute::size<0>(TileShape{});
  static constexpr int n = cute::size<1>(TileShape{});
  static constexpr int k = cute::size<2>(TileShape{});
  /// The warpgroups that share a tile.
  static constexpr int threads = cute::size(TiledMma{});

  using SmallLayoutA = decltype(cute::tile_to_shape(
      SmemLayoutAtomA{},
      cute::Shape<cute::Int<m>, cute::Int<k>, cute::_2>{}));
  using SmallLayoutB = decltype(cute::tile_to_shape(
      SmemLayoutAtomB{},
      cute::Shape<cute::Int<n>, cute::Int<k>, cute::_2>{}));

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

  /// This loop promotes sums after each tile of K, whatever the arguments say.
  template <class Shape>
  static bool can_implement(Shape const &shape, Arguments arguments) {
    arguments.mma_promotion_interval = k;
    return Base::can_implement(shape, arguments);
  }

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

template <int Stages, class Cluster, class Schedule, class... Rest, class Kind>
struct MainloopOf<Promoted<Kind>,
                  cutlass::gemm::collective::CollectiveMma<
                      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<
                          Stages, Cluster, Schedule>,
                      Rest...>> {
  using type = StrictMainloop<cutlass::gemm::collective::CollectiveMma<
      cutlass::gemm::MainloopSm90TmaGmmaWarpSpecializedFP8<Stages, Cluster,
                                                           Schedule>,
      Rest...>>;
};

//===----------------------------------------------------------------------===//
// Copies along K
//===----------------------------------------------------------------------===//

struct ConvertParams {
  float const *from;
  float *to;
};

/// Threads of a block, and the side of the tiles that it transposes.
inline constexpr int convert_threads = 256, convert_tile = 32;

template <class Conversion>
__global__ void __launch_bounds__(convert_threads)
    convert_operand(ConvertParams params) {
  if constexpr (Conversion::along_k)
    Conversion::copy(params);
  else
    Conversion::transpose(params);
}

/// A copy of an operand of f32 along K: [batches, rows, K], with K filled up
/// with zeros to 16 bytes. `AlongK` says how the operand itself lies.
template <class Tensor, bool AlongK, int Rows, int K, int Batches>
struct Conversion {
  static constexpr bool along_k = AlongK;
  static constexpr int depth = (K + 3) / 4 * 4;
  static constexpr int batches = Tensor::batch_stride == 0 ? 1 : Batches;
  static constexpr int64_t batch_stride =
      batches == 1 ? 0 : int64_t(Rows) * depth;
  static constexpr uint64_t bytes =
      uint64_t(batches) * Rows * depth * sizeof(float);

  static ConvertParams get_params(void *const *buffers, void *to) {
    return {Tensor::pointer(buffers), static_cast<float *>(to)};
  }

  static int launch(ConvertParams params, cudaStream_t stream) {
    int64_t blocks = int64_t(row_tiles) * depth_tiles * batches;
    if constexpr (along_k) {
      int64_t wanted = (elements + convert_threads - 1) / convert_threads;
      blocks = wanted < 4096 ? wanted : 4096;
    }
    return launch_kernel(&convert_operand<Conversion>, dim3(unsigned(blocks)),
                         dim3(1, 1, 1), dim3(convert_threads), 0, params,
                         stream);
  }

  /// Rows that do not begin at 16 bytes, or that end between.
  FACT_DEVICE void copy(ConvertParams params) {
    for (int64_t i = blockIdx.x * int64_t(convert_threads) + threadIdx.x;
         i < elements; i += int64_t(gridDim.x) * convert_threads) {
      int64_t line = i / depth;
      int k = int(i - line * depth);
      params.to[i] =
          k < K ? __ldg(params.from + line / Rows * Tensor::batch_stride +
                        line % Rows * Tensor::leading_dimension + k)
                : 0.0f;
    }
  }

  /// Each block transposes a tile through shared memory.
  FACT_DEVICE void transpose(ConvertParams params) {
    __shared__ float tile[convert_tile][convert_tile + 1];
    int index = blockIdx.x;
    int row = index % row_tiles * convert_tile;
    int k = index / row_tiles % depth_tiles * convert_tile;
    int64_t batch = index / row_tiles / depth_tiles;
    int lane = threadIdx.x % convert_tile, line = threadIdx.x / convert_tile;
    constexpr int lines = convert_threads / convert_tile;
    float const *from = params.from + batch * Tensor::batch_stride;
    for (int i = line; i < convert_tile; i += lines)
      tile[i][lane] =
          k + i < K && row + lane < Rows
              ? __ldg(from + (k + i) * int64_t(Tensor::leading_dimension) +
                      row + lane)
              : 0.0f;
    __syncthreads();
    for (int i = line; i < convert_tile; i += lines)
      if (row + i < Rows && k + lane < depth)
        params.to[(batch * Rows + row + i) * depth + k + lane] = tile[lane][i];
  }

private:
  static constexpr int64_t elements = int64_t(batches) * Rows * depth;
  static constexpr int row_tiles = (Rows + convert_tile - 1) / convert_tile;
  static constexpr int depth_tiles = (depth + convert_tile - 1) / convert_tile;
  static_assert(int64_t(row_tiles) * depth_tiles * batches < (int64_t(1) << 31),
                "a grid has fewer than 2^31 blocks");
};

/// Whether TMA reads an operand of f32 as it lies.
template <class Tensor, bool AlongK, int64_t K> constexpr bool is_direct() {
  return AlongK && (is_size(K) || K % 4 == 0) && tma_can_address<Tensor>();
}

/// Extents of an operand that is not copied need not be numbers.
template <bool Converts, class Tensor, bool AlongK, int64_t Rows, int64_t K,
          int64_t Batches>
struct ConversionOf {
  using type = Conversion<Tensor, AlongK, Rows, K, Batches>;
};
template <class Tensor, bool AlongK, int64_t Rows, int64_t K, int64_t Batches>
struct ConversionOf<false, Tensor, AlongK, Rows, K, Batches> {
  /// Nothing is copied.
  struct type {
    static constexpr int64_t depth = K;
    static constexpr int64_t batch_stride = 0;
    static constexpr uint64_t bytes = 0;
  };
};

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_FLOAT32_CUH
