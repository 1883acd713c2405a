// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GeGLU of sizes that no tile divides: M and K tails, 11 groups of columns.
// %0 = fact.matmul %x, %gate transpose_b : tensor<200x104xf16>,
// tensor<88x104xf16> %1 = fact.matmul %x, %up transpose_b :
// tensor<200x104xf16>, tensor<88x104xf16> %2 = fact.gelu %0 %3 = fact.mul %2,
// %1 schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel =
// pingpong, swizzle = 1>)
#include "fact/cutlass/GatedGemm.cuh"

namespace fact::gated_gemm_odd {

struct Combine {
  FACT_DEVICE float apply(float gate, float up) {
    float half = 0.5f * gate;
    return fmaf(half, fast_erf(0.70710678f * gate), half) * up;
  }
};

// Both weights are halves of one buffer.
using Kernel = GatedGemm<
    Problem<200, 88, 104>, RowMajor<0, f16, 104>, ColumnMajor<1, f16, 104>,
    ColumnMajor<1, f16, 104, 0, 88 * 104>, Operands<>, Combine,
    RowMajor<2, f16, 88>,
    GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>>>;

FACT_KERNEL(gated_gemm_odd, Kernel)

} // namespace fact::gated_gemm_odd
