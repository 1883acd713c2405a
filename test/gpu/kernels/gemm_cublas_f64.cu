// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %w transpose_b : tensor<130x67xf64>, tensor<130x67xf64>
// schedule(#fact.cublas_gemm)
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas_f64 {

using Kernel =
    CublasGemm<Problem<130, 130, 67>, RowMajor<0, f64, 67>,
               ColumnMajor<1, f64, 67>, Operands<>, RowMajor<2, f64, 130>>;

FACT_KERNEL(gemm_cublas_f64, Kernel)

} // namespace fact::gemm_cublas_f64
