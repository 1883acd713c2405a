// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary embeddings of heads that lie in packed queries, keys and values.
// %0 = fact.rotary %x, %cos, %sin : tensor<8x16x1024x128xbf16>,
// tensor<1024x128xbf16>
#include "fact/cutlass/Pointwise.cuh"

namespace fact::pointwise_rotary {

struct Body0 {
  FACT_DEVICE float apply(float x, float cos, float y, float sin, float,
                          float) {
    return x * cos - y * sin;
  }
};
struct Body1 {
  FACT_DEVICE float apply(float x, float, float y, float, float cos,
                          float sin) {
    return y * cos + x * sin;
  }
};

// x is [8, 1024, 3, 16, 128], of which the first third is read.
using Kernel = Pointwise<
    Extents<8, 16, 1024, 64>,
    Operands<Strided<0, bf16, Strides<6291456, 128, 6144, 1>>,
             Strided<1, bf16, Strides<0, 0, 128, 1>>,
             Strided<0, bf16, Strides<6291456, 128, 6144, 1>, 64>,
             Strided<2, bf16, Strides<0, 0, 128, 1>>,
             Strided<1, bf16, Strides<0, 0, 128, 1>, 64>,
             Strided<2, bf16, Strides<0, 0, 128, 1>, 64>>,
    Results<
        Result<Body0, Strided<3, bf16, Strides<2097152, 131072, 128, 1>>>,
        Result<Body1, Strided<3, bf16, Strides<2097152, 131072, 128, 1>, 64>>>,
    PointwiseSchedule<256, 8, 1>>;

FACT_KERNEL(pointwise_rotary, Kernel)

} // namespace fact::pointwise_rotary
