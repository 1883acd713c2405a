// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples/workloads/gemm_large_k.py; B is transposed in each launch.
#include "strict.cuh"

namespace fact::strict_large_k {

using Kernel = sm90::PackedPerLaunch<Float32Gemm<
    Problem<256, 256, 524288>,
    RowMajor<0, f32, 524288>,
    RowMajor<1, f32, 256>,
    Operands<>,
    Results<Result<Identity, RowMajor<2, f32, 256>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<1, 1>,
                 SplitInKernel<StreamK>>>>;

FACT_KERNEL(strict_large_k, Kernel)

} // namespace fact::strict_large_k
