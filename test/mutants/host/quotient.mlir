// Functions with poles: half of the logarithms are NaN.

module @quotient {
  func.func @main(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
    %r:2 = fact.fused "pointwise" ins(%x, %y : tensor<64x96xf32>, tensor<64x96xf32>) {
    ^bb0(%a0: tensor<64x96xf32>, %a1: tensor<64x96xf32>):
      %0 = fact.log %a0 : (tensor<64x96xf32>) -> tensor<64x96xf32>
      %1 = fact.div %a1, %a0 : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
      fact.yield %0, %1 : tensor<64x96xf32>, tensor<64x96xf32>
    } : tensor<64x96xf32>, tensor<64x96xf32>
    return %r#0, %r#1 : tensor<64x96xf32>, tensor<64x96xf32>
  }
}
