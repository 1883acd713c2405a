// Rows of several runs, which are merged.

module @sorted {
  func.func @main(%x: tensor<5x1300xf32>) -> (tensor<5x1300xi64>) {
    %r = fact.fused "sort" ins(%x : tensor<5x1300xf32>) {
    ^bb0(%a0: tensor<5x1300xf32>):
      %0 = fact.argsort %a0 dim 1 : (tensor<5x1300xf32>) -> tensor<5x1300xi64>
      fact.yield %0 : tensor<5x1300xi64>
    } schedule(#fact.cuda_sort<tile = 512, items = 4>) : tensor<5x1300xi64>
    return %r : tensor<5x1300xi64>
  }
}
