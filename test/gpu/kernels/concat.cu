// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.relu %b : tensor<4096x33xbf16>
// %1 = fact.concat %a, %0, %c dim 1 : tensor<4096x96xbf16>,
// tensor<4096x33xbf16>, tensor<4096x127xbf16> to tensor<4096x256xbf16>
// schedule(#fact.cuda_pointwise<threads = 256, vector = 8>)
#include "fact/cutlass/Concat.cuh"

namespace fact::concat {

using Part0 =
    Pointwise<Extents<4096, 96>, Operands<Strided<0, bf16, Strides<96, 1>>>,
              Results<Result<Identity, Strided<3, bf16, Strides<256, 1>>>>,
              PointwiseSchedule<256, 8, 1>>;

struct Body1 {
  FACT_DEVICE float apply(float x) { return fmaxf(x, 0.0f); }
};

using Part1 =
    Pointwise<Extents<4096, 33>, Operands<Strided<1, bf16, Strides<33, 1>>>,
              Results<Result<Body1, Strided<3, bf16, Strides<256, 1>, 96>>>,
              PointwiseSchedule<256, 1, 1>>;

using Part2 =
    Pointwise<Extents<4096, 127>, Operands<Strided<2, bf16, Strides<127, 1>>>,
              Results<Result<Identity, Strided<3, bf16, Strides<256, 1>, 129>>>,
              PointwiseSchedule<256, 1, 1>>;

using Kernel = Concat<Part0, Part1, Part2>;

FACT_KERNEL(concat, Kernel)

} // namespace fact::concat
