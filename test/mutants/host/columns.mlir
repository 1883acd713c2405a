// Reductions of columns; as many columns as rows.

module @columns {
  func.func @main(%x: tensor<96x96xf32>) -> (tensor<96xf32>, tensor<96xf32>, tensor<96xi64>) {
    %r:3 = fact.fused "generic" ins(%x : tensor<96x96xf32>) {
    ^bb0(%a0: tensor<96x96xf32>):
      %0 = fact.reduce mean %a0 dims [0] : (tensor<96x96xf32>) -> tensor<96xf32>
      %1 = fact.reduce max %a0 dims [0] : (tensor<96x96xf32>) -> tensor<96xf32>
      %2 = fact.reduce argmax %a0 dims [0] : (tensor<96x96xf32>) -> tensor<96xi64>
      fact.yield %0, %1, %2 : tensor<96xf32>, tensor<96xf32>, tensor<96xi64>
    } : tensor<96xf32>, tensor<96xf32>, tensor<96xi64>
    return %r#0, %r#1, %r#2 : tensor<96xf32>, tensor<96xf32>, tensor<96xi64>
  }
}
