// Two heads of keys for four of queries, a causal mask and one for each batch.

module @causal_attention {
  func.func @main(%q: tensor<2x4x20x16xf32>, %k: tensor<2x2x20x16xf32>, %v: tensor<2x2x20x16xf32>, %mask: tensor<2x1x1x20xf32>) -> (tensor<2x4x20x16xf32>) {
    %r = fact.fused "attention" ins(%q, %k, %v, %mask : tensor<2x4x20x16xf32>, tensor<2x2x20x16xf32>, tensor<2x2x20x16xf32>, tensor<2x1x1x20xf32>) {
    ^bb0(%a0: tensor<2x4x20x16xf32>, %a1: tensor<2x2x20x16xf32>, %a2: tensor<2x2x20x16xf32>, %a3: tensor<2x1x1x20xf32>):
      %0 = fact.attention %a0, %a1, %a2 mask %a3 causal scale 2.500000e-01 : (tensor<2x4x20x16xf32>, tensor<2x2x20x16xf32>, tensor<2x2x20x16xf32>, tensor<2x1x1x20xf32>) -> tensor<2x4x20x16xf32>
      fact.yield %0 : tensor<2x4x20x16xf32>
    } : tensor<2x4x20x16xf32>
    return %r : tensor<2x4x20x16xf32>
  }
}
