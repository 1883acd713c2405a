// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %w transpose_b tf32 : tensor<4096x4096xf32>,
// tensor<4096x4096xf32> schedule(#fact.sm90_gemm<tile = 128x256x32, cluster =
// 2x1, kernel = cooperative, swizzle = 1>)
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_tf32 {

using Kernel =
    Float32Gemm<Problem<4096, 4096, 4096>, RowMajor<0, f32, 4096>,
                ColumnMajor<1, f32, 4096>, Operands<>,
                Results<Result<Identity, RowMajor<2, f32, 4096>>>,
                GemmSchedule<Tile<128, 256, 32>, Cluster<2, 1>, Cooperative>>;

FACT_KERNEL(gemm_tf32, Kernel)

} // namespace fact::gemm_tf32
