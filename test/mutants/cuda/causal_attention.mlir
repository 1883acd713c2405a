// Two heads of keys for four of queries, a causal mask and one for the keys of each batch.

module @causal_attention {
  func.func @main(%q: tensor<2x4x200x64xbf16>, %k: tensor<2x2x200x64xbf16>, %v: tensor<2x2x200x64xbf16>, %mask: tensor<2x1x1x200xf32>) -> (tensor<2x4x200x64xbf16>) {
    %r = fact.fused "attention" ins(%q, %k, %v, %mask : tensor<2x4x200x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x1x1x200xf32>) {
    ^bb0(%a0: tensor<2x4x200x64xbf16>, %a1: tensor<2x2x200x64xbf16>, %a2: tensor<2x2x200x64xbf16>, %a3: tensor<2x1x1x200xf32>):
      %0 = fact.attention %a0, %a1, %a2 mask %a3 causal scale 1.250000e-01 : (tensor<2x4x200x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x1x1x200xf32>) -> tensor<2x4x200x64xbf16>
      fact.yield %0 : tensor<2x4x200x64xbf16>
    } : tensor<2x4x200x64xbf16>
    return %r : tensor<2x4x200x64xbf16>
  }
}
