// A gain for each row and a bias for each column.

module @activation {
  func.func @main(%x: tensor<48x100xf32>, %gain: tensor<48x1xf32>, %bias: tensor<100xf32>) -> (tensor<48x100xf32>) {
    %r = fact.fused "pointwise" ins(%x, %gain, %bias : tensor<48x100xf32>, tensor<48x1xf32>, tensor<100xf32>) {
    ^bb0(%a0: tensor<48x100xf32>, %a1: tensor<48x1xf32>, %a2: tensor<100xf32>):
      %0 = fact.silu %a0 : (tensor<48x100xf32>) -> tensor<48x100xf32>
      %1 = fact.mul %0, %a1 : (tensor<48x100xf32>, tensor<48x1xf32>) -> tensor<48x100xf32>
      %2 = fact.add %1, %a2 : (tensor<48x100xf32>, tensor<100xf32>) -> tensor<48x100xf32>
      fact.yield %2 : tensor<48x100xf32>
    } : tensor<48x100xf32>
    return %r : tensor<48x100xf32>
  }
}
