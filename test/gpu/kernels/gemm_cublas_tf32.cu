// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %x, %w transpose_b tf32 : tensor<4096x4096xf32>,
// tensor<4096x4096xf32> schedule(#fact.cublas_gemm)
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas_tf32 {

using Kernel = CublasGemm<Problem<4096, 4096, 4096>, RowMajor<0, f32, 4096>,
                          ColumnMajor<1, f32, 4096>, Operands<>,
                          RowMajor<2, f32, 4096>, AllowTf32>;

FACT_KERNEL(gemm_cublas_tf32, Kernel)

} // namespace fact::gemm_cublas_tf32
