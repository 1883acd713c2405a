// Rows of two warps, divided by their sums.

module @quotients {
  func.func @main(%x: tensor<96x512xf32>) -> tensor<96x512xf32> {
    %r = fact.fused "rowwise" ins(%x : tensor<96x512xf32>) {
    ^bb0(%a0: tensor<96x512xf32>):
      %0 = fact.abs %a0 : (tensor<96x512xf32>) -> tensor<96x512xf32>
      %1 = fact.reduce sum %0 dims [1] keep : (tensor<96x512xf32>) -> tensor<96x1xf32>
      %2 = fact.div %a0, %1 : (tensor<96x512xf32>, tensor<96x1xf32>) -> tensor<96x512xf32>
      fact.yield %2 : tensor<96x512xf32>
    } schedule(#fact.cuda_row<threads = 64, rows = 1>) : tensor<96x512xf32>
    return %r : tensor<96x512xf32>
  }
}
