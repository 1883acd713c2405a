// Results of f32, bf16 and booleans; half of the logarithms are NaN.

module @mixed {
  func.func @main(%x: tensor<64x1000xf32>, %y: tensor<64x1000xbf16>) -> (tensor<64x1000xf32>, tensor<64x1000xbf16>, tensor<64x1000xi1>) {
    %r:3 = fact.fused "pointwise" ins(%x, %y : tensor<64x1000xf32>, tensor<64x1000xbf16>) {
    ^bb0(%a0: tensor<64x1000xf32>, %a1: tensor<64x1000xbf16>):
      %0 = fact.log %a0 : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
      %1 = fact.cast %a0 : (tensor<64x1000xf32>) -> tensor<64x1000xbf16>
      %2 = fact.mul %1, %a1 : (tensor<64x1000xbf16>, tensor<64x1000xbf16>) -> tensor<64x1000xbf16>
      %3 = fact.compare gt %2, %a1 : (tensor<64x1000xbf16>, tensor<64x1000xbf16>) -> tensor<64x1000xi1>
      fact.yield %0, %2, %3 : tensor<64x1000xf32>, tensor<64x1000xbf16>, tensor<64x1000xi1>
    } : tensor<64x1000xf32>, tensor<64x1000xbf16>, tensor<64x1000xi1>
    return %r#0, %r#1, %r#2 : tensor<64x1000xf32>, tensor<64x1000xbf16>, tensor<64x1000xi1>
  }
}
