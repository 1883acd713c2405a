// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %w transpose_b : tensor<65536x768xbf16>,
// tensor<3072x768xbf16> %1 = fact.add %0, %b : tensor<3072xbf16> %2 = fact.gelu
// %1 {approximate = tanh} schedule(#fact.sm90_gemm<tile = 128x128x64, cluster =
// 2x1, kernel = pingpong, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_up {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias) {
    float x = accumulator + bias;
    float inner = x * fmaf(0.035677408f * x, x, 0.7978845608f);
    float half = 0.5f * x;
    return fmaf(half, tanh_approx(inner), half);
  }
};

using Kernel = Gemm<Problem<65536, 3072, 768>, RowMajor<0, bf16, 768>,
                    ColumnMajor<1, bf16, 768>, Operands<RowVector<2, bf16>>,
                    Results<Result<Epilogue, RowMajor<3, bf16, 3072>>>,
                    GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong,
                                 Swizzle<1>, AlongM>>;

FACT_KERNEL(gemm_up, Kernel)

} // namespace fact::gemm_up
