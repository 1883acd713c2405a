// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact GELU of mini_gpt's first product.
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_strict_gelu {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias) {
    const float v0 = accumulator + bias;
    const float v1 = v0 * 0.5f;
    const float v2 = v0 * 0.70710677f;
    return fmaf(v1, erff(v2), v1);
  }
};

using Kernel = Float32Gemm<
    Problem<65536, 3072, 768>, RowMajor<0, f32, 768>, ColumnMajor<1, f32, 768>,
    Operands<RowVector<2, f32>>,
    Results<Result<Epilogue, RowMajor<3, f32, 3072>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>, Promoted<Cooperative>>>;

FACT_KERNEL(gemm_strict_gelu, Kernel)

} // namespace fact::gemm_strict_gelu
