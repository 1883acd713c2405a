// Sums over the first and the last dimension.

module @around {
  func.func @main(%x: tensor<7x12x40xf32>) -> (tensor<12xf32>) {
    %r = fact.fused "reduction" ins(%x : tensor<7x12x40xf32>) {
    ^bb0(%a0: tensor<7x12x40xf32>):
      %0 = fact.reduce sum %a0 dims [0, 2] : (tensor<7x12x40xf32>) -> tensor<12xf32>
      fact.yield %0 : tensor<12xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = read>) : tensor<12xf32>
    return %r : tensor<12xf32>
  }
}
