// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A in registers, sums promoted after every other tile of K.
#include "strict.cuh"

namespace fact::strict_promote2 {

using Kernel = Float32Gemm<
    Problem<4096, 4096, 4096>,
    RowMajor<0, f32, 4096>,
    ColumnMajor<1, f32, 4096>,
    Operands<>,
    Results<Result<Identity, RowMajor<2, f32, 4096>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>,
                 SplitInKernel<Cooperative, 2>>>;

FACT_KERNEL(strict_promote2, Kernel)

} // namespace fact::strict_promote2
