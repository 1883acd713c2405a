// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mean over the tokens of each batch of a layer with GELU; tiles divide the
// sizes, and the layer itself is not stored.
// %0 = fact.matmul %x, %w transpose_b : tensor<32x512x768xbf16>,
// tensor<3072x768xbf16> %1 = fact.add %0, %bias %2 = fact.gelu %1 approximate
// tanh %3 = fact.reduce mean %2 dims [1] : tensor<32x3072xbf16>
// schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong,
// swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_pooled {

struct ReducedColumn0 {
  FACT_DEVICE float apply(float accumulator, float bias) {
    float x = accumulator + bias;
    return 0.5f * x *
           (1 + tanh_approx(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
};
struct ColumnResult0 {
  FACT_DEVICE float apply(float mean) { return mean; }
};

using Kernel = Gemm<
    Problem<512, 3072, 768, 32>, RowMajor<0, bf16, 768, 512 * 768>,
    ColumnMajor<1, bf16, 768>, Operands<RowVector<2, bf16>>, Results<>,
    GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>>,
    NoRowEpilogue,
    ColumnEpilogue<Reductions<Reduced<ReducedColumn0, ReduceMean>>, Operands<>,
                   Results<Result<ColumnResult0, RowVector<3, bf16, 3072>>>>>;

FACT_KERNEL(gemm_pooled, Kernel)

} // namespace fact::gemm_pooled
