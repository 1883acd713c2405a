// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths and a head size that no tile divides; more queries than keys; grouped
// heads. %0 = fact.attention %q, %k, %v causal scale(0.25)
//        : tensor<2x6x300x40xf16>, tensor<2x3x170x40xf16>
// schedule(#fact.sm90_attention<query_tile = 192, key_tile = 128, kernel =
// pingpong, stages = 3>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_odd {

struct Scale {
  static constexpr float value = 0.25f;
};

using Kernel = Attention<AttentionProblem<2, 6, 3, 300, 170, 40>,
                         Heads<0, f16, 40, 300 * 40, 6 * 300 * 40>,
                         Heads<1, f16, 40, 170 * 40, 3 * 170 * 40>,
                         Heads<2, f16, 40, 170 * 40, 3 * 170 * 40>,
                         Heads<3, f16, 240, 40, 300 * 240>, Causal, Scale,
                         AttentionSchedule<192, 128, Pingpong, 3>>;

FACT_KERNEL(attention_odd, Kernel)

} // namespace fact::attention_odd
