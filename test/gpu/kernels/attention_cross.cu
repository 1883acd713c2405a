// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fewer queries than keys, a last key tile that is not full, no mask.
// %0 = fact.attention %q, %k, %v scale(0.125)
//        : tensor<2x4x100x64xbf16>, tensor<2x2x333x64xbf16>
// schedule(#fact.sm90_attention<query_tile = 128, key_tile = 96, kernel =
// cooperative, stages = 3>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_cross {

struct Scale {
  static constexpr float value = 0.125f;
};

using Kernel = Attention<AttentionProblem<2, 4, 2, 100, 333, 64>,
                         Heads<0, bf16, 64, 100 * 64, 4 * 100 * 64>,
                         Heads<1, bf16, 64, 333 * 64, 2 * 333 * 64>,
                         Heads<2, bf16, 64, 333 * 64, 2 * 333 * 64>,
                         Heads<3, bf16, 256, 64, 100 * 256>, Full, Scale,
                         AttentionSchedule<128, 96, Cooperative, 3>>;

FACT_KERNEL(attention_cross, Kernel)

} // namespace fact::attention_cross
