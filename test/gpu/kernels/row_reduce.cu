// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mean of each row and the row without it; two results of different forms.
// %0 = fact.mul %x, %y : tensor<4096x1000xbf16>
// %1 = fact.reduce mean %0 dims [1] keep
// %2 = fact.sub %0, %1
// %3 = fact.mul %1, %scale : tensor<4096x1xbf16>
#include "fact/cutlass/Row.cuh"

namespace fact::row_reduce {

struct Prologue {
  FACT_DEVICE float apply(float x, float y) { return x * y; }
};
struct Epilogue {
  FACT_DEVICE float apply(float reduced, float value) {
    return value - reduced;
  }
};
struct RowEpilogue {
  FACT_DEVICE float apply(float reduced, float scale) {
    return reduced * scale;
  }
};

using Kernel =
    Row<Extent<4096, 1000>, Mean, Prologue,
        Operands<RowMajor<0, bf16, 1000>, RowMajor<1, bf16, 1000>>, Operands<>,
        Results<Result<Epilogue, RowMajor<3, bf16, 1000>>>,
        RowSchedule<32, 4, 8>, Operands<ColumnVector<2, bf16>>,
        Results<Result<RowEpilogue, ColumnVector<4, f32>>>>;

FACT_KERNEL(row_reduce, Kernel)

} // namespace fact::row_reduce
