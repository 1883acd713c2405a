// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %a, %b : tensor<128x512x1024xbf16>,
// tensor<128x1024x2048xbf16> schedule(#fact.sm90_gemm<tile = 128x128x64,
// cluster = 2x1, kernel = pingpong, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_batched {

using Kernel =
    Gemm<Problem<512, 2048, 1024, 128>, RowMajor<0, bf16, 1024, 512 * 1024>,
         RowMajor<1, bf16, 2048, 1024 * 2048>, Operands<>,
         Results<Result<Identity, RowMajor<2, bf16, 2048, 512 * 2048>>>,
         GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>,
                      Heuristic>>;

FACT_KERNEL(gemm_batched, Kernel)

} // namespace fact::gemm_batched
