// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/workloads/gemm_large_k.py, strict.
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas_large_k {

using Kernel =
    CublasGemm<Problem<256, 256, 524288>, RowMajor<0, f32, 524288>,
               RowMajor<1, f32, 256>, Operands<>, RowMajor<2, f32, 256>>;

FACT_KERNEL(gemm_cublas_large_k, Kernel)

} // namespace fact::gemm_cublas_large_k
