// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few tiles and a long reduction.
// %0 = fact.matmul %a, %b : tensor<256x65536xbf16>, tensor<65536x256xbf16>
// schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = split_k
// 16, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_split_k {

using Kernel = Gemm<Problem<256, 256, 65536>, RowMajor<0, bf16, 65536>,
                    RowMajor<1, bf16, 256>, Operands<>,
                    Results<Result<Identity, RowMajor<2, bf16, 256>>>,
                    GemmSchedule<Tile<128, 128, 64>, Cluster<1, 1>, SplitK<16>,
                                 Swizzle<1>, AlongM>>;

FACT_KERNEL(gemm_split_k, Kernel)

} // namespace fact::gemm_split_k
