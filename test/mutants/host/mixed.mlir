// A result of f32 beside one of bf16.

module @mixed {
  func.func @main(%x: tensor<64x96xf32>, %y: tensor<64x96xbf16>) -> (tensor<64x96xf32>, tensor<64x96xbf16>) {
    %r:2 = fact.fused "pointwise" ins(%x, %y : tensor<64x96xf32>, tensor<64x96xbf16>) {
    ^bb0(%a0: tensor<64x96xf32>, %a1: tensor<64x96xbf16>):
      %0 = fact.tanh %a0 : (tensor<64x96xf32>) -> tensor<64x96xf32>
      %1 = fact.cast %0 : (tensor<64x96xf32>) -> tensor<64x96xbf16>
      %2 = fact.add %1, %a1 : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
      fact.yield %0, %2 : tensor<64x96xf32>, tensor<64x96xbf16>
    } : tensor<64x96xf32>, tensor<64x96xbf16>
    return %r#0, %r#1 : tensor<64x96xf32>, tensor<64x96xbf16>
  }
}
