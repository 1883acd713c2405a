// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MiniGPT's attention on packed queries, keys and values.
// %q, %k, %v = fact.slice %qkv : tensor<128x512x2304xbf16>, as [128, 8, 512,
// 96] %0 = fact.attention %q, %k, %v causal scale(0.1020620726) %1 =
// fact.permute, fact.reshape %0 : tensor<128x512x768xbf16>
// schedule(#fact.sm90_attention<query_tile = 128, key_tile = 128, kernel =
// cooperative, stages = 4>)
#include "fact/cutlass/Attention.cuh"

namespace fact::attention_packed {

struct Scale {
  static constexpr float value = 0.1020620726f;
};

using Kernel = Attention<AttentionProblem<128, 8, 8, 512, 512, 96>,
                         Heads<0, bf16, 2304, 96, 512 * 2304, 0>,
                         Heads<0, bf16, 2304, 96, 512 * 2304, 768>,
                         Heads<0, bf16, 2304, 96, 512 * 2304, 1536>,
                         Heads<1, bf16, 768, 96, 512 * 768>, Causal, Scale,
                         AttentionSchedule<128, 128, Cooperative, 4>>;

FACT_KERNEL(attention_packed, Kernel)

} // namespace fact::attention_packed
