// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.permute %x [0, 2, 1, 3] : tensor<16x2048x32x128xf16> to
// tensor<16x32x2048x128xf16> schedule(#fact.pointwise<threads = 256, vector =
// 8, vectors = 4>)
#include "fact/cutlass/Pointwise.cuh"

namespace fact::pointwise_permute {

using Kernel = Pointwise<
    Extents<16, 32, 2048, 128>,
    Operands<Strided<0, f16, Strides<2048 * 32 * 128, 128, 32 * 128, 1>>>,
    Results<
        Result<Identity,
               Strided<1, f16, Strides<32 * 2048 * 128, 2048 * 128, 128, 1>>>>,
    PointwiseSchedule<256, 8, 4>>;

FACT_KERNEL(pointwise_permute, Kernel)

} // namespace fact::pointwise_permute
