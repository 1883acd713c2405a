// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/workloads/gemm_batched.py
#include "fact/cutlass/Float32Gemm.cuh"

namespace fact::gemm_strict_batched {

using Kernel = Float32Gemm<
    Problem<512, 2048, 1024, 128>, RowMajor<0, f32, 1024, 512 * 1024>,
    Copied<RowMajor<1, f32, 2048, 1024 * 2048>>, Operands<>,
    Results<Result<Identity, RowMajor<2, f32, 2048, 512 * 2048>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>, Promoted<Cooperative>>>;

FACT_KERNEL(gemm_strict_batched, Kernel)

} // namespace fact::gemm_strict_batched
