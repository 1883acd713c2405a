// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias for each head under a causal mask: 16-bit elements, read with the
// scores. %0 = fact.attention %q, %k, %v mask %b causal scale 0.125
//        : tensor<32x16x1024x64xbf16>, ..., tensor<1x16x1024x1024xbf16>
// schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages =
// 4>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_bias {

struct Scale {
  static constexpr float value = 0.125f;
};

using Kernel = Attention<AttentionProblem<32, 16, 16, 1024, 1024, 64>,
                         Heads<0, bf16, 1024, 64, 1024 * 1024>,
                         Heads<1, bf16, 1024, 64, 1024 * 1024>,
                         Heads<2, bf16, 1024, 64, 1024 * 1024>,
                         Heads<4, bf16, 1024, 64, 1024 * 1024>, Causal, Scale,
                         AttentionSchedule<128, 128, Cooperative, 4>,
                         Mask<3, bf16, 0, 1024 * 1024, 1024, 1>>;

FACT_KERNEL(attention_bias, Kernel)

} // namespace fact::attention_bias
