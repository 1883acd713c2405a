// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers, booleans, doubles, an odd innermost extent, two results.
// %0 = fact.where %mask, %a, %b : tensor<31x1x77xi1>, tensor<31x53x77xi64>,
// tensor<1x53x1xi64> %1 = fact.cast %0 : f64 %2 = fact.mul %1, %1 fact.yield
// %0, %2 schedule(#fact.pointwise<threads = 128, vector = 1, vectors = 4>)
#include "fact/cutlass/Pointwise.cuh"

namespace fact::pointwise_mask {

struct Body0 {
  FACT_DEVICE int64_t apply(bool mask, int64_t a, int64_t b) {
    return mask ? a : b;
  }
};

struct Body1 {
  FACT_DEVICE double apply(bool mask, int64_t a, int64_t b) {
    double chosen = static_cast<double>(mask ? a : b);
    return chosen * chosen;
  }
};

using Kernel =
    Pointwise<Extents<31, 53, 77>,
              Operands<Strided<0, i1, Strides<77, 0, 1>>,
                       Strided<1, i64, Strides<53 * 77, 77, 1>>,
                       Strided<2, i64, Strides<0, 1, 0>>>,
              Results<Result<Body0, Strided<3, i64, Strides<53 * 77, 77, 1>>>,
                      Result<Body1, Strided<4, f64, Strides<53 * 77, 77, 1>>>>,
              PointwiseSchedule<128, 1, 4>>;

FACT_KERNEL(pointwise_mask, Kernel)

} // namespace fact::pointwise_mask
