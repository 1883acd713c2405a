// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three products of widths that no tile divides, each with another epilogue;
// two weights are parts of one buffer. %0 = fact.matmul %x, %a transpose_b :
// tensor<200x104xf16>, tensor<88x104xf16> %1 = fact.add %0, %bias %2 =
// fact.relu %1 %3 = fact.matmul %x, %b transpose_b : tensor<200x104xf16>,
// tensor<40x104xf16> %4 = fact.mul %3, %scale : tensor<200x1xf32> %5 =
// fact.matmul %x, %c transpose_b : tensor<200x104xf16>, tensor<136x104xf16> %6
// = fact.add %5, %residual %7 = fact.mul %6, %factor : tensor<f32>
// schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 2x1, kernel = pingpong,
// swizzle = 1>)
#include "fact/cutlass/GroupedGemm.cuh"

namespace fact::grouped_gemm_odd {

struct Epilogue0 {
  FACT_DEVICE float apply(float product, float bias) {
    return fmaxf(product + bias, 0.0f);
  }
};
struct Epilogue1 {
  FACT_DEVICE float apply(float product, float scale) {
    return product * scale;
  }
};
struct Epilogue2 {
  FACT_DEVICE float apply(float product, float residual, float factor) {
    return (product + residual) * factor;
  }
};

using Kernel = GroupedGemm<
    GroupedProblem<200, 104>, RowMajor<0, f16, 104>,
    Segments<Segment<88, ColumnMajor<1, f16, 104>, Operands<RowVector<3, f16>>,
                     Epilogue0, RowMajor<7, f16, 88>>,
             Segment<40, ColumnMajor<1, f16, 104, 0, 88 * 104>,
                     Operands<ColumnVector<4, f32>>, Epilogue1,
                     RowMajor<8, f16, 40>>,
             Segment<136, ColumnMajor<2, f16, 104>,
                     Operands<RowMajor<5, f16, 136>, Scalar<6, f32>>, Epilogue2,
                     RowMajor<9, f16, 136>>>,
    GemmSchedule<Tile<128, 64, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>>>;

FACT_KERNEL(grouped_gemm_odd, Kernel)

} // namespace fact::grouped_gemm_odd
