// Steps on few elements in one thread block: more rows than the block takes at once, then what is left of them.

module @steps {
  func.func @main(%x: tensor<70x300xf32>) -> (tensor<70xf32>, tensor<f32>) {
    %r:2 = fact.fused "small" ins(%x : tensor<70x300xf32>) {
    ^bb0(%a: tensor<70x300xf32>):
      %0 = fact.reduce sum %a dims [1] : (tensor<70x300xf32>) -> tensor<70xf32>
      %1 = fact.tanh %0 : (tensor<70xf32>) -> tensor<70xf32>
      %2 = fact.reduce mean %1 dims [0] : (tensor<70xf32>) -> tensor<f32>
      fact.yield %1, %2 : tensor<70xf32>, tensor<f32>
    } : tensor<70xf32>, tensor<f32>
    return %r#0, %r#1 : tensor<70xf32>, tensor<f32>
  }
}
