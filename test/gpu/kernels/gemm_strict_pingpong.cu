// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gemm_strict_odd.cu as a ping-pong kernel.
// %0 = fact.matmul %a, %b transpose_a : tensor<3x97x200xf32>,
// tensor<97x136xf32> %1 = fact.add %0, %row : tensor<136xf32> %2 = fact.mul %1,
// %column : tensor<200x1xf32> %3 = fact.add %2, %matrix : tensor<3x200x136xf32>
// schedule(#fact.sm90_gemm<tile = 64x128x32, cluster = 1x1, kernel = pingpong,
// swizzle = 1>)
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_strict_pingpong {

struct Epilogue {
  FACT_DEVICE float apply(float accumulator, float row, float column,
                          float matrix) {
    return (accumulator + row) * column + matrix;
  }
};

using Kernel = Float32Gemm<
    Problem<200, 136, 97, 3>, Copied<ColumnMajor<0, f32, 200, 97 * 200>>,
    Copied<RowMajor<1, f32, 136>>,
    Operands<RowVector<2, f32>, ColumnVector<3, f32>,
             RowMajor<4, f32, 136, 200 * 136>>,
    Results<Result<Epilogue, RowMajor<5, f32, 136, 200 * 136>>>,
    GemmSchedule<Tile<64, 128, 32>, Cluster<1, 1>, Promoted<Pingpong>>>;

FACT_KERNEL(gemm_strict_pingpong, Kernel)

} // namespace fact::gemm_strict_pingpong
