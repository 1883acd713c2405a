// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %gate transpose_b : tensor<1000x520xf32>,
// tensor<328x520xf32> %1 = fact.matmul %x, %up transpose_b :
// tensor<1000x520xf32>, tensor<328x520xf32> %2 = fact.relu %0 %3 = fact.mul %2,
// %1 schedule(#fact.sm90_gemm<tile = 128x128x32, cluster = 2x1, kernel =
// cooperative, swizzle = 1>)
#include "fact/cutlass/GatedGemm.cuh"

namespace fact::gated_gemm_strict {

struct Combine {
  FACT_DEVICE float apply(float gate, float up) {
    return fmaxf(gate, 0.0f) * up;
  }
};

using Kernel = GatedGemm<
    Problem<1000, 328, 520>, RowMajor<0, f32, 520>, ColumnMajor<1, f32, 520>,
    ColumnMajor<2, f32, 520>, Operands<>, Combine, RowMajor<3, f32, 328>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>, Promoted<Cooperative>>>;

FACT_KERNEL(gated_gemm_strict, Kernel)

} // namespace fact::gated_gemm_strict
