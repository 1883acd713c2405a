// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gated MLP with biases, a scale for each row and a residual, of sizes that
// no tile divides. %0 = fact.matmul %x, %gate transpose_b :
// tensor<328x136xbf16>, tensor<200x136xbf16> %1 = fact.add %0, %gate_bias %2 =
// fact.matmul %x, %up transpose_b : tensor<328x136xbf16>, tensor<200x136xbf16>
// %3 = fact.add %2, %up_bias
// %4 = fact.silu %1
// %5 = fact.mul %4, %3
// %6 = fact.mul %5, %scale : tensor<328x1xf32>
// %7 = fact.add %6, %residual
// schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel =
// cooperative, swizzle = 1>)
#include "fact/cutlass/GatedGemm.cuh"

namespace fact::gated_gemm_bias {

struct Combine {
  FACT_DEVICE float apply(float gate, float up, float gate_bias, float up_bias,
                          float scale, float residual) {
    return fmaf(fast_silu(gate + gate_bias) * (up + up_bias), scale, residual);
  }
};

using Kernel = GatedGemm<
    Problem<328, 200, 136>, RowMajor<0, bf16, 136>, ColumnMajor<1, bf16, 136>,
    ColumnMajor<2, bf16, 136>,
    Operands<RowVector<3, bf16>, RowVector<4, f32>, ColumnVector<5, f32>,
             RowMajor<6, bf16, 200>>,
    Combine, RowMajor<7, bf16, 200>,
    GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Cooperative, Swizzle<1>>>;

FACT_KERNEL(gated_gemm_bias, Kernel)

} // namespace fact::gated_gemm_bias
