// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tail of half a wave, and a column-major A.
// %0 = fact.matmul %a, %b transpose_a transpose_b : tensor<8192x1536xf16>,
// tensor<3328x8192xf16> -> f32 schedule(#fact.sm90_gemm<tile = 128x256x64,
// cluster = 2x1, kernel = stream_k, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_stream_k {

using Kernel = Gemm<Problem<1536, 3328, 8192>, ColumnMajor<0, f16, 1536>,
                    ColumnMajor<1, f16, 8192>, Operands<>,
                    Results<Result<Identity, RowMajor<2, f32, 3328>>>,
                    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, StreamK,
                                 Swizzle<1>, AlongM>>;

FACT_KERNEL(gemm_stream_k, Kernel)

} // namespace fact::gemm_stream_k
