// A view in another order, and two tables that broadcast.

module @rotary {
  func.func @main(%x: tensor<2x13x5x32xf32>, %cos: tensor<13x32xf32>, %sin: tensor<13x32xf32>) -> (tensor<2x5x13x32xf32>) {
    %r = fact.fused "pointwise" ins(%x, %cos, %sin : tensor<2x13x5x32xf32>, tensor<13x32xf32>, tensor<13x32xf32>) {
    ^bb0(%a0: tensor<2x13x5x32xf32>, %a1: tensor<13x32xf32>, %a2: tensor<13x32xf32>):
      %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<2x13x5x32xf32>) -> tensor<2x5x13x32xf32>
      %1 = fact.rotary %0, %a1, %a2 : (tensor<2x5x13x32xf32>, tensor<13x32xf32>, tensor<13x32xf32>) -> tensor<2x5x13x32xf32>
      fact.yield %1 : tensor<2x5x13x32xf32>
    } : tensor<2x5x13x32xf32>
    return %r : tensor<2x5x13x32xf32>
  }
}
