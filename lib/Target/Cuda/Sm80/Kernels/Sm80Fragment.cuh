//===- Sm80Fragment.cuh - Products of a warp, by mma.sync ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp loads blocks of both factors from their tiles, and adds the products of
// all pairs of them to its sums.
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

namespace sm80 {

/// How elements are multiplied by default.
template <class Element> struct MathOf { using type = Element; };
template <> struct MathOf<f32> { using type = Strict32; };

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

template <class Element, int M, int N>
FACT_DEVICE void multiply_words(float (&sums)[M][N][4],
                                uint32_t const (&a)[M][4],
                                uint32_t const (*b)[4]) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
      multiply<Element>(sums[m][n], a[m], b[n / 2][n % 2],
                        b[n / 2][n % 2 + 2]);
}

/// sums += A B, by halves of blocks of B.
template <class Math, int M, int N>
FACT_DEVICE void multiply_fragments(float (&sums)[M][2 * N][4],
                                    Fragment<Math, M> const &a,
                                    Fragment<Math, N> const &b) {
  if constexpr (std::is_same_v<Math, Strict32>) {
    multiply_words<Tf32>(sums, a.small, b.words);
    multiply_words<Tf32>(sums, a.words, b.small);
    multiply_words<Tf32>(sums, a.words, b.words);
  } else {
    multiply_words<Math>(sums, a.words, b.words);
  }
}

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80FRAGMENT_CUH
