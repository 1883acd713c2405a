// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %gate, %up = fact.slice %x : tensor<65536x6144xbf16>, the two halves of a row
// %0 = fact.silu %gate
// %1 = fact.mul %0, %up
// %2 = fact.mul %1, %scale : tensor<3072xf32>
// schedule(#fact.pointwise<threads = 256, vector = 8, vectors = 2>)
#include "fact/cutlass/Pointwise.cuh"

namespace fact::pointwise_gate {

struct Body {
  FACT_DEVICE float apply(float gate, float up, float scale) {
    return fast_silu(gate) * up * scale;
  }
};

using Kernel =
    Pointwise<Extents<65536, 3072>,
              Operands<Strided<0, bf16, Strides<6144, 1>>,
                       Strided<0, bf16, Strides<6144, 1>, 3072>,
                       Strided<1, f32, Strides<0, 1>>>,
              Results<Result<Body, Strided<2, bf16, Strides<3072, 1>>>>,
              PointwiseSchedule<256, 8, 2>>;

FACT_KERNEL(pointwise_gate, Kernel)

} // namespace fact::pointwise_gate
