// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %w transpose_b : tensor<3x520x1024xf16>,
// tensor<264x1024xf16> %1 = fact.add %0, %b : tensor<264xf16>
// schedule(#fact.cublas)
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas_bias {

using Kernel =
    CublasGemm<Problem<520, 264, 1024, 3>, RowMajor<0, f16, 1024, 520 * 1024>,
               ColumnMajor<1, f16, 1024>, Operands<RowVector<2, f16>>,
               RowMajor<3, f16, 264, 520 * 264>>;

FACT_KERNEL(gemm_cublas_bias, Kernel)

} // namespace fact::gemm_cublas_bias
