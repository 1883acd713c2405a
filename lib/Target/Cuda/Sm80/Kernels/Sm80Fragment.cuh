//===- Sm80Fragment.cuh - Products of a warp -------------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp loads blocks of both factors from their tiles, and adds the products
// of all pairs of them to its sums: by mma.sync, or by plain multiplications.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80FRAGMENT_CUH
#define FACT_CUTLASS_SM80FRAGMENT_CUH

#include "Math.cuh"
#include "Sm80Factor.cuh"

namespace fact {

/// Products of f32 in three of TF32: x = big + small, where `big` is x without
/// the bits that TF32 lacks, and the product of both small parts is below f32's
/// rounding.
struct Strict32 {};

/// Products of f32 by fused multiply-adds of the f32 units.
struct Simt32 {};

namespace sm80 {

//===----------------------------------------------------------------------===//
// By mma.sync
//===----------------------------------------------------------------------===//

/// How elements are multiplied by default.
template <class Element> struct MathOf {
  using type = Element;
};
template <> struct MathOf<f32> {
  using type = Strict32;
};

/// Blocks of a factor: 16 outer elements times 32 bytes along K each.
template <class Math, int Blocks> struct Fragment {
  static constexpr bool is_strict = std::is_same_v<Math, Strict32>;
  uint32_t words[Blocks][4];
  uint32_t small[is_strict ? Blocks : 1][4];

  template <class Tile>
  __device__ __forceinline__ void load(char const *tile, int outer, int k) {
#pragma unroll
    for (int i = 0; i < Blocks; ++i) {
      Tile::load(words[i], tile, outer + 16 * i, k);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        prepare(words[i][j], small[is_strict ? i : 0][j]);
    }
  }

private:
  FACT_DEVICE void prepare(uint32_t &word, uint32_t &rest) {
    constexpr uint32_t kept = ~0x1fffu;
    if constexpr (is_strict) {
      rest = __float_as_uint(small_part(__uint_as_float(word))) & kept;
      word &= kept;
    } else if constexpr (std::is_same_v<Math, Tf32>) {
      word = round_to_tf32(__uint_as_float(word));
    }
  }
};

/// sums += A B, by halves of blocks of B.
template <class Math, int M, int N>
FACT_DEVICE void multiply_fragments(float (&sums)[M][2 * N][4],
                                    Fragment<Math, M> const &a,
                                    Fragment<Math, N> const &b) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < 2 * N; ++n) {
      auto multiply_half = [&](auto math, auto &to, auto const &left,
                               auto const &right) {
        multiply<decltype(math)>(to, left[m], right[n / 2][n % 2],
                                 right[n / 2][n % 2 + 2]);
      };
      if constexpr (std::is_same_v<Math, Strict32>) {
        // Matrix units truncate sums: terms of one sign would lose half a unit
        // with each step. So each step has a sum of its own.
        float own[4] = {};
        multiply_half(Tf32{}, own, a.small, b.words);
        multiply_half(Tf32{}, own, a.words, b.small);
        multiply_half(Tf32{}, own, a.words, b.words);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[m][n][i] += own[i];
      } else {
        multiply_half(Math{}, sums[m][n], a.words, b.words);
      }
    }
}

/// How a warp multiplies M x N of a tile.
template <class Math, int M, int N> struct WarpProduct {
  static constexpr int blocks_m = M / 16, blocks_n = N / 16;
  /// Bytes along K of one step.
  static constexpr int step_bytes = 32;

  using Sums = float[blocks_m][2 * blocks_n][4];
  using FragmentA = Fragment<Math, blocks_m>;
  using FragmentB = Fragment<Math, blocks_n>;

  FACT_DEVICE void multiply(Sums &sums, FragmentA const &a,
                            FragmentB const &b) {
    multiply_fragments<Math, blocks_m, blocks_n>(sums, a, b);
  }

  /// Calls `function(row, column, sums)` for each run of neighboring sums of
  /// the thread, an array; places are those in the M x N.
  template <class TileA, class TileB, class Function>
  FACT_DEVICE void for_each_run(Sums const &sums, Function function) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < blocks_m; ++i)
#pragma unroll
      for (int j = 0; j < 2 * blocks_n; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float const run[] = {sums[i][j][2 * half], sums[i][j][2 * half + 1]};
          function(16 * i + 8 * half + lane / 4, 8 * j + lane % 4 * 2, run);
        }
  }
};

//===----------------------------------------------------------------------===//
// By f32 units
//===----------------------------------------------------------------------===//

/// `Count` outer elements of a lane, of `Lanes` that share a factor, times four
/// along K. All loads have 16 bytes: four steps of an outer element where rows
/// of the tile go along K, else four outer elements. Lanes next to each other
/// then read rows next to each other, which are in different banks, or vectors
/// next to each other.
template <int Lanes, int Count> struct LaneFragment {
  static_assert(Count % 4 == 0, "lanes load vectors of four elements");
  float values[4][Count];

  /// Where element `i` of a lane is among those of the warp.
  template <class Tile> FACT_DEVICE int place_of(int lane, int i) {
    return Tile::along_k ? i * Lanes + lane
                         : (i / 4 * Lanes + lane) * 4 + i % 4;
  }

  template <class Tile>
  __device__ __forceinline__ void load(char const *tile, int outer, int k,
                                       int lane) {
    if constexpr (Tile::along_k) {
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        float4 steps =
            read(tile + (outer + place_of<Tile>(lane, i)) * Tile::pitch +
                 k * Tile::size);
        values[0][i] = steps.x;
        values[1][i] = steps.y;
        values[2][i] = steps.z;
        values[3][i] = steps.w;
      }
    } else {
#pragma unroll
      for (int step = 0; step < 4; ++step)
#pragma unroll
        for (int i = 0; i < Count; i += 4) {
          float4 elements =
              read(tile + (k + step) * Tile::pitch +
                   (outer + place_of<Tile>(lane, i)) * Tile::size);
          values[step][i] = elements.x;
          values[step][i + 1] = elements.y;
          values[step][i + 2] = elements.z;
          values[step][i + 3] = elements.w;
        }
    }
  }

private:
  FACT_DEVICE float4 read(char const *address) {
    return *reinterpret_cast<float4 const *>(address);
  }
};

/// A warp is 8 x 4 lanes, or 4 x 8 where it has more columns. A 16-byte load of
/// a half-warp is one access to shared memory where lanes i and i ^ 1, or i and
/// i ^ 2, have one address: so bit 0 of a lane is a place along the short side
/// and bit 1 one along the long side.
template <int M, int N> struct WarpProduct<Simt32, M, N> {
  static constexpr bool is_high = M >= N;
  static constexpr int lanes_m = is_high ? 8 : 4, lanes_n = 32 / lanes_m;
  static constexpr int count_m = M / lanes_m, count_n = N / lanes_n;
  static constexpr int step_bytes = 16;

  FACT_DEVICE int get_lane(bool is_long) {
    int lane = threadIdx.x % 32;
    return is_long ? lane / 16 * 4 + lane / 2 % 4 : lane / 8 % 2 * 2 + lane % 2;
  }

  using Sums = float[count_m][count_n];
  struct FragmentA : LaneFragment<lanes_m, count_m> {
    template <class Tile>
    __device__ __forceinline__ void load(char const *tile, int outer, int k) {
      LaneFragment<lanes_m, count_m>::template load<Tile>(tile, outer, k,
                                                          get_lane(is_high));
    }
  };
  struct FragmentB : LaneFragment<lanes_n, count_n> {
    template <class Tile>
    __device__ __forceinline__ void load(char const *tile, int outer, int k) {
      LaneFragment<lanes_n, count_n>::template load<Tile>(tile, outer, k,
                                                          get_lane(!is_high));
    }
  };

  FACT_DEVICE void multiply(Sums &sums, FragmentA const &a,
                            FragmentB const &b) {
#pragma unroll
    for (int step = 0; step < 4; ++step)
#pragma unroll
      for (int i = 0; i < count_m; ++i)
#pragma unroll
        for (int j = 0; j < count_n; ++j)
          sums[i][j] = fmaf(a.values[step][i], b.values[step][j], sums[i][j]);
  }

  template <class TileA, class TileB, class Function>
  FACT_DEVICE void for_each_run(Sums const &sums, Function function) {
    constexpr int length = TileB::along_k ? 1 : 4;
    int lane_m = get_lane(is_high), lane_n = get_lane(!is_high);
#pragma unroll
    for (int i = 0; i < count_m; ++i)
#pragma unroll
      for (int j = 0; j < count_n; j += length) {
        float run[length];
#pragma unroll
        for (int c = 0; c < length; ++c)
          run[c] = sums[i][j + c];
        function(FragmentA::template place_of<TileA>(lane_m, i),
                 FragmentB::template place_of<TileB>(lane_n, j), run);
      }
  }
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80FRAGMENT_CUH
