// The largest elements of columns: several per block, in parts.

module @select {
  func.func @main(%x: tensor<1501x13xi64>) -> (tensor<9x13xi64>) {
    %r = fact.fused "sort" ins(%x : tensor<1501x13xi64>) {
    ^bb0(%a0: tensor<1501x13xi64>):
      %0 = fact.argsort %a0 dim 0 descending count 9 : (tensor<1501x13xi64>) -> tensor<9x13xi64>
      fact.yield %0 : tensor<9x13xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 8, splits = 3>) : tensor<9x13xi64>
    return %r : tensor<9x13xi64>
  }
}
