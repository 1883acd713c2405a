// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Token embeddings plus position embeddings; tokens outside of the table give
// NaN (there are none here). %0 = fact.gather %table, %tokens dim 0 :
// tensor<50257x768xbf16>, tensor<32x512xi64> %1 = fact.add %0, %positions :
// tensor<512x768xbf16>
#include "fact/cutlass/Pointwise.cuh"

namespace fact::pointwise_gather {

struct Body {
  FACT_DEVICE float apply(int64_t token, float row, float position) {
    return row + position;
  }
};

struct Token {
  FACT_DEVICE int64_t apply(int64_t token, float row, float position) {
    return token;
  }
};

using Kernel =
    Pointwise<Extents<32, 512, 768>,
              Operands<Strided<1, i64, Strides<512, 1, 0>>,
                       Gathered<Strided<0, bf16, Strides<0, 0, 1>>,
                                IndexOf<Token, 768, 50257, true>>,
                       Strided<2, bf16, Strides<0, 768, 1>>>,
              Results<Result<Body, Strided<3, bf16, Strides<393216, 768, 1>>>>,
              PointwiseSchedule<256, 8, 2>>;

FACT_KERNEL(pointwise_gather, Kernel)

} // namespace fact::pointwise_gather
