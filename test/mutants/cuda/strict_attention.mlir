// Attention of f32 that is as exact as IEEE f32, with a rest of queries and of keys.

module @strict_attention {
  func.func @main(%q: tensor<2x4x150x64xf32>, %k: tensor<2x2x300x64xf32>, %v: tensor<2x2x300x96xf32>) -> (tensor<2x4x150x96xf32>) {
    %r = fact.fused "attention" ins(%q, %k, %v : tensor<2x4x150x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x96xf32>) {
    ^bb0(%a0: tensor<2x4x150x64xf32>, %a1: tensor<2x2x300x64xf32>, %a2: tensor<2x2x300x96xf32>):
      %0 = fact.attention %a0, %a1, %a2 scale 1.250000e-01 : (tensor<2x4x150x64xf32>, tensor<2x2x300x64xf32>, tensor<2x2x300x96xf32>) -> tensor<2x4x150x96xf32>
      fact.yield %0 : tensor<2x4x150x96xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 2, splits = 1>) : tensor<2x4x150x96xf32>
    return %r : tensor<2x4x150x96xf32>
  }
}
