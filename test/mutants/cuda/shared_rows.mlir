// Blocks share rows in the launches of both stages and of the results.

module @shared_rows {
  func.func @main(%x: tensor<5x3000xf32>) -> (tensor<5x3000xf32>) {
    %r = fact.fused "reduction" ins(%x : tensor<5x3000xf32>) {
    ^bb0(%a0: tensor<5x3000xf32>):
      %0 = fact.softmax %a0 dim 1 : tensor<5x3000xf32>
      fact.yield %0 : tensor<5x3000xf32>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 64, splits = 3, operands = read>) : tensor<5x3000xf32>
    return %r : tensor<5x3000xf32>
  }
}
