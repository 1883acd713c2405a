// Scores that are not scaled, and a bias for each head, as in T5.

module @unscaled_attention {
  func.func @main(%q: tensor<2x4x20x64xf32>, %k: tensor<2x4x24x64xf32>, %v: tensor<2x4x24x64xf32>, %bias: tensor<1x4x20x24xf32>) -> (tensor<2x4x20x64xf32>) {
    %r = fact.fused "attention" ins(%q, %k, %v, %bias : tensor<2x4x20x64xf32>, tensor<2x4x24x64xf32>, tensor<2x4x24x64xf32>, tensor<1x4x20x24xf32>) {
    ^bb0(%a0: tensor<2x4x20x64xf32>, %a1: tensor<2x4x24x64xf32>, %a2: tensor<2x4x24x64xf32>, %a3: tensor<1x4x20x24xf32>):
      %0 = fact.attention %a0, %a1, %a2 mask %a3 scale 1.0 : (tensor<2x4x20x64xf32>, tensor<2x4x24x64xf32>, tensor<2x4x24x64xf32>, tensor<1x4x20x24xf32>) -> tensor<2x4x20x64xf32>
      fact.yield %0 : tensor<2x4x20x64xf32>
    } : tensor<2x4x20x64xf32>
    return %r : tensor<2x4x20x64xf32>
  }
}
