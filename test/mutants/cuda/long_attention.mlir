// 2,000 keys, which are no whole number of tiles.

module @long_attention {
  func.func @main(%q: tensor<1x4x130x64xbf16>, %k: tensor<1x4x2000x64xbf16>, %v: tensor<1x4x2000x64xbf16>) -> (tensor<1x4x130x64xbf16>) {
    %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x4x130x64xbf16>, tensor<1x4x2000x64xbf16>, tensor<1x4x2000x64xbf16>) {
    ^bb0(%a0: tensor<1x4x130x64xbf16>, %a1: tensor<1x4x2000x64xbf16>, %a2: tensor<1x4x2000x64xbf16>):
      %0 = fact.attention %a0, %a1, %a2 scale 1.250000e-01 : (tensor<1x4x130x64xbf16>, tensor<1x4x2000x64xbf16>, tensor<1x4x2000x64xbf16>) -> tensor<1x4x130x64xbf16>
      fact.yield %0 : tensor<1x4x130x64xbf16>
    } : tensor<1x4x130x64xbf16>
    return %r : tensor<1x4x130x64xbf16>
  }
}
