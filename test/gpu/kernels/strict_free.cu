// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A in registers, small parts of B by TMA, without turns; B is split in each
// launch.
#include "strict.cuh"

namespace fact::strict_free {

using Kernel = sm90::PackedPerLaunch<sm90::PresplitGemm<
    Problem<4096, 4096, 4096>,
    RowMajor<0, f32, 4096>,
    ColumnMajor<1, f32, 4096>,
    Operands<>,
    Results<Result<Identity, RowMajor<2, f32, 4096>>>,
    GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>,
                 SplitAhead<Cooperative, 1, false>>>>;

FACT_KERNEL(strict_free, Kernel)

} // namespace fact::strict_free
