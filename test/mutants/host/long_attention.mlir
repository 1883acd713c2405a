// 2,000 keys, which are no whole number of tiles of 64.

module @long_attention {
  func.func @main(%q: tensor<1x2x16x32xbf16>, %k: tensor<1x1x2000x32xbf16>, %v: tensor<1x1x2000x32xbf16>) -> (tensor<1x2x16x32xbf16>) {
    %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x16x32xbf16>, tensor<1x1x2000x32xbf16>, tensor<1x1x2000x32xbf16>) {
    ^bb0(%a0: tensor<1x2x16x32xbf16>, %a1: tensor<1x1x2000x32xbf16>, %a2: tensor<1x1x2000x32xbf16>):
      %0 = fact.attention %a0, %a1, %a2 scale 0.17677669529663687 : (tensor<1x2x16x32xbf16>, tensor<1x1x2000x32xbf16>, tensor<1x1x2000x32xbf16>) -> tensor<1x2x16x32xbf16>
      fact.yield %0 : tensor<1x2x16x32xbf16>
    } : tensor<1x2x16x32xbf16>
    return %r : tensor<1x2x16x32xbf16>
  }
}
