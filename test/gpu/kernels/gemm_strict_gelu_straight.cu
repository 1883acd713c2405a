// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gemm_strict_gelu.cu, whose GELU has no branches.
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_strict_gelu_straight {

/// erf(x) without a branch; 1.5 ulp, where CUDA's erff has 2. Elements of an
/// epilogue can be interleaved, and no coefficient is selected.
FACT_DEVICE float straight_erf(float x) {
  // Near 0: x + x * P(x^2).
  float s = x * x;
  float p = fmaf(7.85388329e-05f, s, -8.01020069e-04f);
  p = fmaf(p, s, 5.18832868e-03f);
  p = fmaf(p, s, -2.68538129e-02f);
  p = fmaf(p, s, 1.12835854e-01f);
  p = fmaf(p, s, -3.76126260e-01f);
  p = fmaf(p, s, 1.28379166e-01f);
  float near = fmaf(p, x, x);
  // From 1: 1 - 2^(-a + a * Q(a)), which is 1 from 4.
  float a = fminf(fabsf(x), 4.0f);
  float q = fmaf(3.03892855e-04f, a, -4.59778355e-03f);
  q = fmaf(q, a, 3.28912027e-02f);
  q = fmaf(q, a, -1.51650488e-01f);
  q = fmaf(q, a, -9.17310953e-01f);
  q = fmaf(q, a, -6.28052533e-01f);
  float far = copysignf(1.0f - fast_exp2(fmaf(q, a, -a)), x);
  return fabsf(x) >= 1.0f ? far : near;
}

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias) {
    const float v0 = accumulator + bias;
    const float v1 = v0 * 0.5f;
    const float v2 = v0 * 0.70710677f;
    return fmaf(v1, straight_erf(v2), v1);
  }
};

using Kernel = Float32Gemm<
    Problem<65536, 3072, 768>,
    RowMajor<0, f32, 768>,
    ColumnMajor<1, f32, 768>,
    Operands<RowVector<2, f32>>,
    Results<Result<Epilogue, RowMajor<3, f32, 3072>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>, Promoted<Cooperative>>>;

FACT_KERNEL(gemm_strict_gelu_straight, Kernel)

} // namespace fact::gemm_strict_gelu_straight
