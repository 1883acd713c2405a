// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries, keys and values of a Llama block with biases, as one GEMM.
// %0 = fact.matmul %x, %q transpose_b : tensor<32768x4096xbf16>,
// tensor<4096x4096xbf16> %1 = fact.add %0, %bias %2 = fact.matmul %x, %k
// transpose_b : tensor<32768x4096xbf16>, tensor<1024x4096xbf16> %3 =
// fact.matmul %x, %v transpose_b : tensor<32768x4096xbf16>,
// tensor<1024x4096xbf16> schedule(#fact.sm90_gemm<tile = 128x256x64, cluster =
// 2x1, kernel = cooperative, swizzle = 1>)
#include "fact/cutlass/GroupedGemm.cuh"

namespace fact::grouped_gemm {

struct Epilogue0 {
  FACT_DEVICE float apply(float product, float bias) { return product + bias; }
};

using Kernel = GroupedGemm<
    GroupedProblem<32768, 4096>, RowMajor<0, bf16, 4096>,
    Segments<
        Segment<4096, ColumnMajor<1, bf16, 4096>, Operands<RowVector<4, bf16>>,
                Epilogue0, RowMajor<5, bf16, 4096>>,
        Segment<1024, ColumnMajor<2, bf16, 4096>, Operands<>, Identity,
                RowMajor<6, bf16, 1024>>,
        Segment<1024, ColumnMajor<3, bf16, 4096>, Operands<>, Identity,
                RowMajor<7, bf16, 1024>>>,
    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative, Swizzle<1>>>;

FACT_KERNEL(grouped_gemm, Kernel)

} // namespace fact::grouped_gemm
