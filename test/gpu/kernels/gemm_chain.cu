// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The epilogue chain of linear_chain.
// %0 = fact.matmul %x, %w transpose_b : tensor<4096x4096xbf16>,
// tensor<4096x4096xbf16> %1 = fact.add %0, %b : tensor<4096xbf16> %2 =
// fact.mish %1 %3 = fact.mul %2, 1.5 %4 = fact.clamp %3 {min = -2.0, max = 2.0}
// %5 = fact.add %4, %residual : tensor<4096x4096xbf16>
// %6 = fact.tanh %5
// schedule(#fact.sm90_gemm<tile = 128x256x64, cluster = 2x1, kernel =
// cooperative, swizzle = 8>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_chain {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias, float residual) {
    // tanh(log(1 + e^x)) = s / (s + 2) with s = e^x (e^x + 2)
    float x = accumulator + bias;
    float e = fast_exp(fminf(x, 20.0f));
    float s = fmaf(e, e, e + e);
    float mish = x * fast_divide(s, s + 2.0f);
    float clamped = fminf(fmaxf(1.5f * mish, -2.0f), 2.0f);
    return tanh_approx(clamped + residual);
  }
};

using Kernel = Gemm<Problem<4096, 4096, 4096>, RowMajor<0, bf16, 4096>,
                    ColumnMajor<1, bf16, 4096>,
                    Operands<RowVector<2, bf16>, RowMajor<3, bf16, 4096>>,
                    Results<Result<Epilogue, RowMajor<4, bf16, 4096>>>,
                    GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative,
                                 Swizzle<8>, AlongM>>;

FACT_KERNEL(gemm_chain, Kernel)

} // namespace fact::gemm_chain
