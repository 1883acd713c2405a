// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.norm layer %x, %weight, %bias {epsilon = 1e-5} :
// tensor<65536x768xbf16> schedule(#fact.row<threads = 32, rows = 4, vector =
// 8>)
#include "fact/cutlass/Row.cuh"

namespace fact::layer_norm {

struct Epsilon {
  static constexpr float value = 1e-5f;
};

struct Epilogue {
  FACT_DEVICE float apply(float normalized, float value, float weight,
                          float bias) {
    return fmaf(normalized, weight, bias);
  }
};

using Kernel = Row<Extent<65536, 768>, LayerNorm<Epsilon>, Identity,
                   Operands<RowMajor<0, bf16, 768>>,
                   Operands<RowVector<1, bf16>, RowVector<2, bf16>>,
                   Results<Result<Epilogue, RowMajor<3, bf16, 768>>>,
                   RowSchedule<32, 4, 8>>;

FACT_KERNEL(layer_norm, Kernel)

} // namespace fact::layer_norm
