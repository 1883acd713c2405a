// The mean of each row.

module @mean {
  func.func @main(%x: tensor<130x1000xf32>) -> (tensor<130xf32>) {
    %r = fact.fused "rowwise" ins(%x : tensor<130x1000xf32>) {
    ^bb0(%a0: tensor<130x1000xf32>):
      %0 = fact.reduce mean %a0 dims [1] : (tensor<130x1000xf32>) -> tensor<130xf32>
      fact.yield %0 : tensor<130xf32>
    } : tensor<130xf32>
    return %r : tensor<130xf32>
  }
}
