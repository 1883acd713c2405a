// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches of products of which only reductions are stored: the sum of each row
// and, of many row tiles, the mean and the smallest element of each column; no
// tile divides the sizes.
// %0 = fact.matmul %x, %w : tensor<3x4200x136xf16>, tensor<3x136x328xf16>
// %1 = fact.add %0, %residual : tensor<3x4200x328xf16>
// %2 = fact.reduce sum %1 dims [2]
// %3 = fact.reduce mean %1 dims [1]
// %4 = fact.reduce min %0 dims [1]
// %5 = fact.mul %3, %scale : tensor<3x328xf32>
// %6 = fact.add %4, %shift : tensor<1x1xf32>
// schedule(#fact.sm90_gemm<tile = 64x256x64, cluster = 2x1, kernel = pingpong,
// swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_columns {

struct Reduced0 {
  FACT_DEVICE float apply(float accumulator, float residual) {
    return accumulator + residual;
  }
};
struct Reduced1 {
  FACT_DEVICE float apply(float accumulator, float residual) {
    return accumulator;
  }
};
struct RowResult {
  FACT_DEVICE float apply(float sum) { return sum; }
};
struct ColumnResult0 {
  FACT_DEVICE float apply(float mean, float smallest, float scale,
                          float shift) {
    return mean * scale;
  }
};
struct ColumnResult1 {
  FACT_DEVICE float apply(float mean, float smallest, float scale,
                          float shift) {
    return smallest + shift;
  }
};

using Kernel = Gemm<
    Problem<4200, 328, 136, 3>, RowMajor<0, f16, 136, 4200 * 136>,
    RowMajor<1, f16, 328, 136 * 328>,
    Operands<RowMajor<2, f16, 328, 4200 * 328>>, Results<>,
    GemmSchedule<Tile<64, 256, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>>,
    RowEpilogue<Reductions<Reduced<Reduced0, ReduceSum>>, Operands<>,
                Results<Result<RowResult, ColumnVector<5, f16, 4200>>>>,
    ColumnEpilogue<
        Reductions<Reduced<Reduced0, ReduceMean>, Reduced<Reduced1, ReduceMin>>,
        Operands<RowVector<3, f32, 328>, Scalar<4, f32>>,
        Results<Result<ColumnResult0, RowVector<6, f32, 328>>,
                Result<ColumnResult1, RowVector<7, f16, 328>>>>>;

FACT_KERNEL(gemm_columns, Kernel)

} // namespace fact::gemm_columns
