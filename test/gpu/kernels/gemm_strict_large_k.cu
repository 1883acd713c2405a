// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/workloads/gemm_large_k.py
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_strict_large_k {

using Kernel = Float32Gemm<
    Problem<256, 256, 524288>, RowMajor<0, f32, 524288>,
    Copied<RowMajor<1, f32, 256>>, Operands<>,
    Results<Result<Identity, RowMajor<2, f32, 256>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<1, 1>, Promoted<StreamK>>>;

FACT_KERNEL(gemm_strict_large_k, Kernel)

} // namespace fact::gemm_strict_large_k
