// Booleans that decide between values, beside a result that is rounded.

module @compare {
  func.func @main(%x: tensor<128x256xbf16>, %y: tensor<128x256xbf16>, %z: tensor<128x256xbf16>) -> (tensor<128x256xbf16>, tensor<128x256xi1>) {
    %r:2 = fact.fused "pointwise" ins(%x, %y, %z : tensor<128x256xbf16>, tensor<128x256xbf16>, tensor<128x256xbf16>) {
    ^bb0(%a0: tensor<128x256xbf16>, %a1: tensor<128x256xbf16>, %a2: tensor<128x256xbf16>):
      %0 = fact.mul %a0, %a1 : (tensor<128x256xbf16>, tensor<128x256xbf16>) -> tensor<128x256xbf16>
      %1 = fact.compare gt %0, %a2 : (tensor<128x256xbf16>, tensor<128x256xbf16>) -> tensor<128x256xi1>
      fact.yield %0, %1 : tensor<128x256xbf16>, tensor<128x256xi1>
    } : tensor<128x256xbf16>, tensor<128x256xi1>
    return %r#0, %r#1 : tensor<128x256xbf16>, tensor<128x256xi1>
  }
}
