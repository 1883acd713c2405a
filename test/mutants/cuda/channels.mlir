// Over channels of images that come first: several warps share a column, and not all have as many elements.

module @channels {
  func.func @main(%x: tensor<5x77x52xf32>) -> (tensor<5x77x52xf32>) {
    %r = fact.fused "reduction" ins(%x : tensor<5x77x52xf32>) {
    ^bb0(%a0: tensor<5x77x52xf32>):
      %0 = fact.softmax %a0 dim 1 : tensor<5x77x52xf32>
      fact.yield %0 : tensor<5x77x52xf32>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 64, splits = 1, operands = held>) : tensor<5x77x52xf32>
    return %r : tensor<5x77x52xf32>
  }
}
