// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %0 = fact.matmul %a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
// schedule(#fact.cublas)
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::gemm_cublas {

using Kernel =
    CublasGemm<Problem<4096, 4096, 4096>, RowMajor<0, bf16, 4096>,
               RowMajor<1, bf16, 4096>, Operands<>, RowMajor<2, bf16, 4096>>;

FACT_KERNEL(gemm_cublas, Kernel)

} // namespace fact::gemm_cublas
