// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %gate transpose_b : tensor<32768x4096xbf16>,
// tensor<9728x4096xbf16> %1 = fact.matmul %x, %up transpose_b :
// tensor<32768x4096xbf16>, tensor<9728x4096xbf16> %2 = fact.silu %0 %3 =
// fact.mul %2, %1 schedule(#fact.sm90_gemm<tile = 128x256x64, cluster = 2x1,
// kernel = cooperative, swizzle = 1>)
#include "fact/cutlass/GatedGemm.cuh"

namespace fact::gated_gemm {

struct Combine {
  FACT_DEVICE float apply(float gate, float up) { return fast_silu(gate) * up; }
};

using Kernel = GatedGemm<
    Problem<32768, 9728, 4096>, RowMajor<0, bf16, 4096>,
    ColumnMajor<1, bf16, 4096>, ColumnMajor<2, bf16, 4096>, Operands<>, Combine,
    RowMajor<3, bf16, 9728>,
    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative, Swizzle<1>>>;

FACT_KERNEL(gated_gemm, Kernel)

} // namespace fact::gated_gemm
