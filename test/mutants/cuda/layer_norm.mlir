// Mean and variance of a row.

module @layer_norm {
  func.func @main(%x: tensor<130x392xf32>, %weight: tensor<392xf32>, %bias: tensor<392xf32>) -> (tensor<130x392xf32>) {
    %r = fact.fused "rowwise" ins(%x, %weight, %bias : tensor<130x392xf32>, tensor<392xf32>, tensor<392xf32>) {
    ^bb0(%a0: tensor<130x392xf32>, %a1: tensor<392xf32>, %a2: tensor<392xf32>):
      %0 = fact.norm layer %a0 weight %a1 bias %a2 eps 1.000000e-05 : (tensor<130x392xf32>, tensor<392xf32>, tensor<392xf32>) -> tensor<130x392xf32>
      fact.yield %0 : tensor<130x392xf32>
    } : tensor<130x392xf32>
    return %r : tensor<130x392xf32>
  }
}
