// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the largest element of each row is, the first of equals.
// %0 = fact.relu %x : tensor<3000x5003xf16>
// %1 = fact.reduce argmax %0 dims [1] -> tensor<3000xi64>
#include "fact/cutlass/Row.cuh"

namespace fact::row_arg_max {

// Few different values: many are equal.
struct Prologue {
  FACT_DEVICE float apply(float x) { return floorf(x); }
};
struct RowEpilogue {
  FACT_DEVICE int64_t apply(int64_t reduced) { return reduced; }
};

using Kernel =
    Row<Extent<3000, 5003>, ArgMax, Prologue, Operands<RowMajor<0, f16, 5003>>,
        Operands<>, Results<>, RowSchedule<256, 1, 1>, Operands<>,
        Results<Result<RowEpilogue, ColumnVector<1, i64>>>>;

FACT_KERNEL(row_arg_max, Kernel)

} // namespace fact::row_arg_max
