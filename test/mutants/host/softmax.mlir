// Rows that do not fill a whole number of vectors.

module @softmax {
  func.func @main(%x: tensor<40x130xf32>) -> (tensor<40x130xf32>) {
    %r = fact.fused "rowwise" ins(%x : tensor<40x130xf32>) {
    ^bb0(%a0: tensor<40x130xf32>):
      %0 = fact.softmax %a0 dim 1 : tensor<40x130xf32>
      fact.yield %0 : tensor<40x130xf32>
    } : tensor<40x130xf32>
    return %r : tensor<40x130xf32>
  }
}
