// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Llama's attention: 32 heads over 8 key heads, [batch, time, heads, head
// size]. %0 = fact.attention %q, %k, %v scale(0.08838834765)
//        : tensor<16x32x2048x128xbf16>, tensor<16x8x2048x128xbf16>
// schedule(#fact.sm90_attention<query_tile = 128, key_tile = 128, kernel =
// pingpong, stages = 4>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_grouped {

struct Scale {
  static constexpr float value = 0.08838834765f;
};

using Kernel = Attention<AttentionProblem<16, 32, 8, 2048, 2048, 128>,
                         Heads<0, bf16, 32 * 128, 128, 2048 * 32 * 128>,
                         Heads<1, bf16, 8 * 128, 128, 2048 * 8 * 128>,
                         Heads<2, bf16, 8 * 128, 128, 2048 * 8 * 128>,
                         Heads<3, bf16, 32 * 128, 128, 2048 * 32 * 128>, Full,
                         Scale, AttentionSchedule<128, 128, Pingpong, 4>>;

FACT_KERNEL(attention_grouped, Kernel)

} // namespace fact::attention_grouped
