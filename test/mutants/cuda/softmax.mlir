// Rows of several warps.

module @softmax {
  func.func @main(%x: tensor<100x8000xf32>) -> (tensor<100x8000xf32>) {
    %r = fact.fused "rowwise" ins(%x : tensor<100x8000xf32>) {
    ^bb0(%a0: tensor<100x8000xf32>):
      %0 = fact.softmax %a0 dim 1 : tensor<100x8000xf32>
      fact.yield %0 : tensor<100x8000xf32>
    } : tensor<100x8000xf32>
    return %r : tensor<100x8000xf32>
  }
}
