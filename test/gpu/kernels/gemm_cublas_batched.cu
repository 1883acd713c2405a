// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/workloads/gemm_batched.py, strict.
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas_batched {

using Kernel = CublasGemm<Problem<512, 2048, 1024, 128>,
                          RowMajor<0, f32, 1024, 512 * 1024>,
                          RowMajor<1, f32, 2048, 1024 * 2048>, Operands<>,
                          RowMajor<2, f32, 2048, 512 * 2048>>;

FACT_KERNEL(gemm_cublas_batched, Kernel)

} // namespace fact::gemm_cublas_batched
