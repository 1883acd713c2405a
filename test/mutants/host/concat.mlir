// Two tensors beside each other.

module @concat {
  func.func @main(%x: tensor<17x7xf32>, %y: tensor<17x9xf32>) -> (tensor<17x16xf32>) {
    %r = fact.fused "generic" ins(%x, %y : tensor<17x7xf32>, tensor<17x9xf32>) {
    ^bb0(%a0: tensor<17x7xf32>, %a1: tensor<17x9xf32>):
      %0 = fact.concat %a0, %a1 dim 1 : (tensor<17x7xf32>, tensor<17x9xf32>) -> tensor<17x16xf32>
      fact.yield %0 : tensor<17x16xf32>
    } : tensor<17x16xf32>
    return %r : tensor<17x16xf32>
  }
}
