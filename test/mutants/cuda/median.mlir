// The middle of long rows, which blocks count together.

module @median {
  func.func @main(%x: tensor<3x9001xf32>) -> (tensor<3x1xi64>) {
    %r = fact.fused "sort" ins(%x : tensor<3x9001xf32>) {
    ^bb0(%a0: tensor<3x9001xf32>):
      %0 = fact.argsort %a0 dim 1 count 4501 : (tensor<3x9001xf32>) -> tensor<3x4501xi64>
      %1 = fact.slice %0 dim 1 start 4500 : (tensor<3x4501xi64>) -> tensor<3x1xi64>
      fact.yield %1 : tensor<3x1xi64>
    } schedule(#fact.cuda_select<threads = 64, rows = 1, splits = 5>) : tensor<3x1xi64>
    return %r : tensor<3x1xi64>
  }
}
