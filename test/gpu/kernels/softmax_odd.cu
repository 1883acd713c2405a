// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Columns that no vector divides, several rows to a warp, rows that no block
// divides. %0 = fact.mul %x, %scale : tensor<10007x77xf32>, tensor<f32> %1 =
// fact.softmax %0 schedule(#fact.row<threads = 16, rows = 8, vector = 1>)
#include "fact/cutlass/Row.cuh"

namespace fact::softmax_odd {

struct Prologue {
  FACT_DEVICE float apply(float x, float scale) { return x * scale; }
};

struct Epilogue {
  FACT_DEVICE float apply(float normalized, float value) { return normalized; }
};

using Kernel =
    Row<Extent<10007, 77>, Softmax, Prologue,
        Operands<RowMajor<0, f32, 77>, Scalar<1, f32>>, Operands<>,
        Results<Result<Epilogue, RowMajor<2, f32, 77>>>, RowSchedule<16, 8, 1>>;

FACT_KERNEL(softmax_odd, Kernel)

} // namespace fact::softmax_odd
