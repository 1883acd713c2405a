// The largest element of each row.

module @maximum {
  func.func @main(%x: tensor<64x33x520xf32>) -> (tensor<64x33xf32>) {
    %r = fact.fused "rowwise" ins(%x : tensor<64x33x520xf32>) {
    ^bb0(%a0: tensor<64x33x520xf32>):
      %0 = fact.reduce max %a0 dims [2] : (tensor<64x33x520xf32>) -> tensor<64x33xf32>
      fact.yield %0 : tensor<64x33xf32>
    } : tensor<64x33xf32>
    return %r : tensor<64x33xf32>
  }
}
