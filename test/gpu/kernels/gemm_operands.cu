// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kind of operand, a second matrix operand, two results of two types, a
// row-major B, batches. %0 = fact.matmul %a, %b : tensor<3x200x96xf16>,
// tensor<96x136xf16> %1 = fact.add %0, %row : tensor<136xf16> %2 = fact.mul %1,
// %column : tensor<200x1xf32> %3 = fact.mul %2, %scalar : tensor<f32> %4 =
// fact.add %3, %first : tensor<3x200x136xf16> %5 = fact.sub %4, %second :
// tensor<200x136xf16> fact.yield %5, %3 schedule(#fact.sm90_gemm<tile =
// 128x64x32, cluster = 1x2, kernel = cooperative, swizzle = 2>)
#include "fact/cutlass/Gemm.cuh"

namespace fact::gemm_operands {

struct Epilogue0 {
  FACT_DEVICE float apply(float accumulator, float row, float column,
                          float scalar, float first, float second) {
    return (accumulator + row) * column * scalar + first - second;
  }
};

struct Epilogue1 {
  FACT_DEVICE float apply(float accumulator, float row, float column,
                          float scalar, float first, float second) {
    return (accumulator + row) * column * scalar;
  }
};

using Kernel =
    Gemm<Problem<200, 136, 96, 3>, RowMajor<0, f16, 96, 200 * 96>,
         RowMajor<1, f16, 136>,
         Operands<RowVector<2, f16>, ColumnVector<3, f32>, Scalar<4, f32>,
                  RowMajor<5, f16, 136, 200 * 136>, RowMajor<6, f16, 136>>,
         Results<Result<Epilogue0, RowMajor<7, f16, 136, 200 * 136>>,
                 Result<Epilogue1, RowMajor<8, f32, 136, 200 * 136>>>,
         GemmSchedule<Tile<128, 64, 32>, Cluster<1, 2>, Cooperative, Swizzle<2>,
                      AlongN>>;

FACT_KERNEL(gemm_operands, Kernel)

} // namespace fact::gemm_operands
