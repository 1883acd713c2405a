// Few queries of strict f32 with many keys, which several blocks split.

module @split_attention {
  func.func @main(%q: tensor<2x4x3x72xf32>, %k: tensor<2x2x300x72xf32>, %v: tensor<2x2x300x40xf32>, %mask: tensor<2x1x1x300xf32>) -> (tensor<2x4x3x40xf32>) {
    %r = fact.fused "attention" ins(%q, %k, %v, %mask : tensor<2x4x3x72xf32>, tensor<2x2x300x72xf32>, tensor<2x2x300x40xf32>, tensor<2x1x1x300xf32>) {
    ^bb0(%a0: tensor<2x4x3x72xf32>, %a1: tensor<2x2x300x72xf32>, %a2: tensor<2x2x300x40xf32>, %a3: tensor<2x1x1x300xf32>):
      %0 = fact.attention %a0, %a1, %a2 mask %a3 scale 1.250000e-01 : (tensor<2x4x3x72xf32>, tensor<2x2x300x72xf32>, tensor<2x2x300x40xf32>, tensor<2x1x1x300xf32>) -> tensor<2x4x3x40xf32>
      fact.yield %0 : tensor<2x4x3x40xf32>
    } space(#fact.sm80_attention_space<tile = [16x32], warps = [1], stages = [2], splits = [3]>) : tensor<2x4x3x40xf32>
    return %r : tensor<2x4x3x40xf32>
  }
}
