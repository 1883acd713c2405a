//===- AttentionTiles.cuh - Attention's masks and tile order ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_ATTENTIONTILES_CUH
#define FACT_CUTLASS_ATTENTIONTILES_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Vector.cuh"

#include <cfloat>

#include "cutlass/cutlass.h"
// The example's headers include CUTLASS's umbrella headers themselves.
#include "88_hopper_fmha/collective/fmha_collective_tma_warpspecialized.hpp"
#include "88_hopper_fmha/kernel/fmha_kernel_tma_warpspecialized.hpp"

namespace fact {

namespace fmha {

namespace collective = cutlass::fmha::collective;
namespace kernel = cutlass::fmha::kernel;

/// Exponentials are powers of two.
inline constexpr float log2_e = 1.4426950408889634f;

/// Unlike fmaxf, keeps NaN: a query with a NaN gives NaN.
CUTLASS_DEVICE float nan_maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The problem's size as the collective passes it along, with the mask of one
/// batch and head.
template <class Size, class Element> struct MaskedSize : Size {
  CUTLASS_DEVICE MaskedSize(Size const &size, Element const *mask, float scale)
      : Size(size), mask(mask), scale(scale) {}
  Element const *mask;
  /// Of the scores, in powers of two.
  float scale;
};

/// Says which key tiles a block of queries visits and what it masks there.
/// Tiles come unmasked first; the collective calls `before_softmax` only in the
/// rest (and in the first one).
template <class Problem, bool IsCausal, class Added> struct Masking {
  static constexpr int keys = Problem::key_length;

  template <class Coordinate, class Tile, class Size>
  CUTLASS_DEVICE int get_trip_count(Coordinate const &block, Tile const &,
                                    Size const &) {
    constexpr int query_tile = cute::size<0>(Tile{});
    constexpr int key_tile = cute::size<1>(Tile{});
    int count = (keys + key_tile - 1) / key_tile;
    if constexpr (IsCausal) {
      int end = (cute::get<0>(block) + 1) * query_tile;
      count = cute::min(count, (end + key_tile - 1) / key_tile);
    }
    return count;
  }

  template <class Coordinate, class Tile, class Size>
  CUTLASS_DEVICE int get_unmasked_trip_count(Coordinate const &block,
                                             Tile const &, Size const &) {
    // What is added is added everywhere.
    if constexpr (Added::is_present)
      return 0;
    constexpr int query_tile = cute::size<0>(Tile{});
    constexpr int key_tile = cute::size<1>(Tile{});
    int count = keys / key_tile;
    if constexpr (IsCausal) {
      // Tiles whose last key is seen by the block's first query.
      int first_query = cute::get<0>(block) * query_tile;
      count = cute::min(count, (first_query + 1) / key_tile);
    }
    return count;
  }

  template <class Coordinate, class Tile, class Size>
  CUTLASS_DEVICE int get_masked_trip_count(Coordinate const &block,
                                           Tile const &tile, Size const &size) {
    return get_trip_count(block, tile, size) -
           get_unmasked_trip_count(block, tile, size);
  }

  template <class Scores, class Positions, class Size>
  CUTLASS_DEVICE void before_softmax(Scores &scores, Positions const &positions,
                                     Size const &size) {
    if constexpr (Added::is_present)
      add(scores, positions, size);
    // With a causal mask, only queries beyond the keys could see past the end.
    constexpr bool hides_end = !IsCausal || Problem::query_length > keys;
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < cute::size(scores); ++i) {
      auto [query, key] = positions(i);
      if ((IsCausal && query < key) || (hides_end && key >= keys))
        scores(i) = -INFINITY;
    }
  }

private:
  /// scale * score + mask, in powers of two. A mask of the most negative number
  /// is no infinity: a query of which all keys have it sees all of them.
  template <class Scores, class Positions, class Size>
  CUTLASS_DEVICE static void add(Scores &scores, Positions const &positions,
                                 Size const &size) {
    // A thread has pairs of neighboring keys. Many loads are on their way
    // before the first is needed; what lies beyond the end reads the last one.
    constexpr int pairs = cute::size(decltype(scores.layout()){}) / 2;
    constexpr int ahead = pairs % 16 == 0 ? 16 : 8;
    static_assert(pairs % ahead == 0, "a thread has a multiple of 16 scores");
    CUTLASS_PRAGMA_UNROLL
    for (int first = 0; first < pairs; first += ahead) {
      typename Added::Pair masks[ahead];
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < ahead; ++i) {
        auto [query, key] = positions(2 * (first + i));
        masks[i] = Added::template load<keys>(
            size.mask + cute::min(query, Problem::query_length - 1) *
                            Added::query_stride,
            key);
      }
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < 2 * ahead; ++i) {
        float mask = widen(masks[i / 2].element[i % 2]);
        float least = mask == -INFINITY ? -INFINITY : -FLT_MAX;
        float &score = scores(2 * first + i);
        score = nan_maximum(score * size.scale + mask * log2_e, least);
      }
    }
  }
};

//===----------------------------------------------------------------------===//
// The order of tiles
//
// Blocks run head after head of one batch, so that packed rows and the keys of
// a group are read while they are in L2. Under a causal mask late queries cost
// more than early ones: they go first, and persistent blocks alternate.
//===----------------------------------------------------------------------===//

template <bool IsCausal> struct BlockPerTile {
  struct Params {
    dim3 grid;
  };

  template <class Size, class Cluster, class Tile>
  static Params to_underlying_arguments(Size const &size,
                                        cutlass::KernelHardwareInfo,
                                        Cluster const &, Tile const &tile) {
    return {dim3(cute::ceil_div(cute::get<2>(size), cute::size<0>(tile)),
                 cute::get<1>(size), cute::get<0>(size))};
  }
  static dim3 get_grid_shape(Params const &params) { return params.grid; }

  CUTLASS_DEVICE BlockPerTile(Params const &) {}
  CUTLASS_DEVICE bool is_valid() { return valid; }
  CUTLASS_DEVICE auto get_block_coord() {
    int query_block = IsCausal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    return cute::make_coord(query_block, cute::_0{},
                            cute::make_coord(int(blockIdx.z), int(blockIdx.y)));
  }
  CUTLASS_DEVICE BlockPerTile &operator++() {
    valid = false;
    return *this;
  }

  bool valid = true;
};

template <bool IsCausal> struct Persistent {
  struct Params {
    int tiles;
    int query_blocks;
    cutlass::FastDivmod divide_query_blocks;
    cutlass::FastDivmod divide_heads;
    int blocks;
  };

  template <class Size, class Cluster, class Tile>
  static Params to_underlying_arguments(Size const &size,
                                        cutlass::KernelHardwareInfo hardware,
                                        Cluster const &, Tile const &tile) {
    int query_blocks =
        cute::ceil_div(cute::get<2>(size), int(cute::size<0>(tile)));
    int heads = cute::get<1>(size);
    int tiles = query_blocks * heads * cute::get<0>(size);
    return {tiles, query_blocks, cutlass::FastDivmod(query_blocks),
            cutlass::FastDivmod(heads), std::min(tiles, hardware.sm_count)};
  }
  static dim3 get_grid_shape(Params const &params) {
    return dim3(params.blocks);
  }

  CUTLASS_DEVICE Persistent(Params const &params)
      : params(params), tile(blockIdx.x) {}
  CUTLASS_DEVICE bool is_valid() { return tile < params.tiles; }
  CUTLASS_DEVICE auto get_block_coord() {
    int query_block, head, batch, rest;
    params.divide_query_blocks(rest, query_block, tile);
    params.divide_heads(batch, head, rest);
    // The grid's stride may be a multiple of the blocks in a head: without
    // turning every other round around, a block would always get the same one.
    if (IsCausal && round % 2 == 0)
      query_block = params.query_blocks - 1 - query_block;
    return cute::make_coord(query_block, cute::_0{},
                            cute::make_coord(batch, head));
  }
  CUTLASS_DEVICE Persistent &operator++() {
    tile += gridDim.x;
    ++round;
    return *this;
  }

  Params const &params;
  int tile;
  int round = 0;
};

} // namespace fmha
} // namespace fact

#endif // FACT_CUTLASS_ATTENTIONTILES_CUH
