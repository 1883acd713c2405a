// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mask of floats for each head, with hidden keys and queries that see none;
// lengths that no tile divides; grouped heads.
// %0 = fact.attention %q, %k, %v mask %m scale 0.125
//        : tensor<2x6x300x64xbf16>, tensor<2x3x333x64xbf16>,
//        tensor<1x6x300x333xf32>
// schedule(#fact.sm90_attention<tile = 128x64, kernel = pingpong, stages = 4>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_mask {

struct Scale {
  static constexpr float value = 0.125f;
};

using Kernel = Attention<AttentionProblem<2, 6, 3, 300, 333, 64>,
                         Heads<0, bf16, 64, 300 * 64, 6 * 300 * 64>,
                         Heads<1, bf16, 64, 333 * 64, 3 * 333 * 64>,
                         Heads<2, bf16, 64, 333 * 64, 3 * 333 * 64>,
                         Heads<4, bf16, 384, 64, 300 * 384>, Full, Scale,
                         AttentionSchedule<128, 64, Pingpong, 4>,
                         Mask<3, f32, 0, 300 * 333, 333, 1>>;

FACT_KERNEL(attention_mask, Kernel)

} // namespace fact::attention_mask
