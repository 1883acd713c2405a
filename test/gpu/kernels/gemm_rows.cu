// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A linear layer with the mean and the largest element of each of its rows; no
// tile divides the sizes.
// %0 = fact.matmul %x, %w transpose_b : tensor<1000x264xbf16>,
// tensor<520x264xbf16> %1 = fact.add %0, %bias %2 = fact.reduce mean %1 dims
// [1] keep %3 = fact.relu %1 %4 = fact.reduce max %0 dims [1] keep %5 =
// fact.mul %2, %scale : tensor<1000x1xf32> %6 = fact.sub %4, %2
// schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel =
// cooperative, swizzle = 1>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_rows {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float bias) {
    return fmaxf(accumulator + bias, 0.0f);
  }
};
struct Reduced0 {
  FACT_DEVICE float apply(float accumulator, float bias) {
    return accumulator + bias;
  }
};
struct Reduced1 {
  FACT_DEVICE float apply(float accumulator, float bias) { return accumulator; }
};
struct RowResult0 {
  FACT_DEVICE float apply(float mean, float largest, float scale) {
    return mean * scale;
  }
};
struct RowResult1 {
  FACT_DEVICE float apply(float mean, float largest, float scale) {
    return largest - mean;
  }
};

using Kernel = Gemm<
    Problem<1000, 520, 264>, RowMajor<0, bf16, 264>, ColumnMajor<1, bf16, 264>,
    Operands<RowVector<2, bf16>>,
    Results<Result<Epilogue, RowMajor<4, bf16, 520>>>,
    GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Cooperative, Swizzle<1>>,
    RowEpilogue<
        Reductions<Reduced<Reduced0, ReduceMean>, Reduced<Reduced1, ReduceMax>>,
        Operands<ColumnVector<3, f32>>,
        Results<Result<RowResult0, ColumnVector<5, f32>>,
                Result<RowResult1, ColumnVector<6, bf16>>>>>;

FACT_KERNEL(gemm_rows, Kernel)

} // namespace fact::gemm_rows
