// Integers wrap.

module @integers {
  func.func @main(%x: tensor<64x33xi32>, %y: tensor<64x33xi32>) -> (tensor<64x33xi32>) {
    %r = fact.fused "pointwise" ins(%x, %y : tensor<64x33xi32>, tensor<64x33xi32>) {
    ^bb0(%a0: tensor<64x33xi32>, %a1: tensor<64x33xi32>):
      %0 = fact.mul %a0, %a1 : (tensor<64x33xi32>, tensor<64x33xi32>) -> tensor<64x33xi32>
      %1 = fact.add %0, %a0 : (tensor<64x33xi32>, tensor<64x33xi32>) -> tensor<64x33xi32>
      fact.yield %1 : tensor<64x33xi32>
    } : tensor<64x33xi32>
    return %r : tensor<64x33xi32>
  }
}
