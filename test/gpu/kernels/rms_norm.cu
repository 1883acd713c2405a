// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.add %x, %residual : tensor<32768x4096xbf16>
// %1 = fact.norm rms %0, %weight {epsilon = 1e-6}
// fact.yield %1, %0
// schedule(#fact.row<threads = 256, rows = 1, vector = 8>)
#include "fact/cutlass/Row.cuh"

namespace fact::rms_norm {

struct Epsilon {
  static constexpr float value = 1e-6f;
};

struct Prologue {
  FACT_DEVICE float apply(float x, float residual) { return x + residual; }
};

struct Epilogue0 {
  FACT_DEVICE float apply(float normalized, float value, float weight) {
    return normalized * weight;
  }
};

struct Epilogue1 {
  FACT_DEVICE float apply(float normalized, float value, float weight) {
    return value;
  }
};

using Kernel = Row<Extent<32768, 4096>, RmsNorm<Epsilon>, Prologue,
                   Operands<RowMajor<0, bf16, 4096>, RowMajor<1, bf16, 4096>>,
                   Operands<RowVector<2, bf16>>,
                   Results<Result<Epilogue0, RowMajor<3, bf16, 4096>>,
                           Result<Epilogue1, RowMajor<4, bf16, 4096>>>,
                   RowSchedule<256, 1, 8>>;

FACT_KERNEL(rms_norm, Kernel)

} // namespace fact::rms_norm
