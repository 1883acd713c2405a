// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
// schedule(#fact.sm90_gemm<tile = 128x256x64, cluster = 2x1, kernel =
// cooperative, swizzle = 8>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_plain {

using Kernel = Gemm<Problem<4096, 4096, 4096>, RowMajor<0, bf16, 4096>,
                    RowMajor<1, bf16, 4096>, Operands<>,
                    Results<Result<Identity, RowMajor<2, bf16, 4096>>>,
                    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative,
                                 Swizzle<8>, AlongM>>;

FACT_KERNEL(gemm_plain, Kernel)

} // namespace fact::gemm_plain
