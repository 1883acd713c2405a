// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %h, %w transpose_b : tensor<65536x3072xbf16>,
// tensor<768x3072xbf16> %1 = fact.add %0, %b : tensor<768xbf16> %2 = fact.add
// %1, %residual : tensor<65536x768xbf16> schedule(#fact.sm90_gemm<tile =
// 128x256x64, cluster = 2x1, kernel = cooperative, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_down {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias, float residual) {
    return accumulator + bias + residual;
  }
};

using Kernel = Gemm<Problem<65536, 768, 3072>, RowMajor<0, bf16, 3072>,
                    ColumnMajor<1, bf16, 3072>,
                    Operands<RowVector<2, bf16>, RowMajor<3, bf16, 768>>,
                    Results<Result<Epilogue, RowMajor<4, bf16, 768>>>,
                    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative,
                                 Swizzle<1>, AlongM>>;

FACT_KERNEL(gemm_down, Kernel)

} // namespace fact::gemm_down
