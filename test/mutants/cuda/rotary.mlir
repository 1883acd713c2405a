// A view in another order, and two tables that broadcast.

module @rotary {
  fact.weight @cos : tensor<26x256xbf16>
  fact.weight @sin : tensor<26x256xbf16>
  func.func @main(%x: tensor<4x26x5x256xbf16>) -> (tensor<4x5x26x256xbf16>) {
    %cos = fact.get_weight @cos : tensor<26x256xbf16>
    %sin = fact.get_weight @sin : tensor<26x256xbf16>
    %r = fact.fused "pointwise" ins(%x, %cos, %sin : tensor<4x26x5x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) {
    ^bb0(%a0: tensor<4x26x5x256xbf16>, %a1: tensor<26x256xbf16>, %a2: tensor<26x256xbf16>):
      %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<4x26x5x256xbf16>) -> tensor<4x5x26x256xbf16>
      %1 = fact.rotary %0, %a1, %a2 : (tensor<4x5x26x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) -> tensor<4x5x26x256xbf16>
      fact.yield %1 : tensor<4x5x26x256xbf16>
    } : tensor<4x5x26x256xbf16>
    return %r : tensor<4x5x26x256xbf16>
  }
}
