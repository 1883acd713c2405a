// Running sums of products, less the factor.

module @running {
  func.func @main(%x: tensor<9x304xf32>, %w: tensor<304xf32>) -> (tensor<9x304xf32>) {
    %r = fact.fused "scan" ins(%x, %w : tensor<9x304xf32>, tensor<304xf32>) {
    ^bb0(%a0: tensor<9x304xf32>, %a1: tensor<304xf32>):
      %0 = fact.mul %a0, %a1 : (tensor<9x304xf32>, tensor<304xf32>) -> tensor<9x304xf32>
      %1 = fact.scan sum %0 dim 1 : tensor<9x304xf32>
      %2 = fact.sub %1, %a0 : (tensor<9x304xf32>, tensor<9x304xf32>) -> tensor<9x304xf32>
      fact.yield %2 : tensor<9x304xf32>
    } schedule(#fact.cuda_scan<lanes = 8, splits = 2>) : tensor<9x304xf32>
    return %r : tensor<9x304xf32>
  }
}
