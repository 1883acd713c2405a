// A gain for each row and a bias for each column.

module @activation {
  func.func @main(%x: tensor<130x1000xf32>, %gain: tensor<130x1xf32>, %bias: tensor<1000xf32>) -> (tensor<130x1000xf32>) {
    %r = fact.fused "pointwise" ins(%x, %gain, %bias : tensor<130x1000xf32>, tensor<130x1xf32>, tensor<1000xf32>) {
    ^bb0(%a0: tensor<130x1000xf32>, %a1: tensor<130x1xf32>, %a2: tensor<1000xf32>):
      %0 = fact.silu %a0 : (tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %1 = fact.mul %0, %a1 : (tensor<130x1000xf32>, tensor<130x1xf32>) -> tensor<130x1000xf32>
      %2 = fact.add %1, %a2 : (tensor<130x1000xf32>, tensor<1000xf32>) -> tensor<130x1000xf32>
      fact.yield %2 : tensor<130x1000xf32>
    } : tensor<130x1000xf32>
    return %r : tensor<130x1000xf32>
  }
}
