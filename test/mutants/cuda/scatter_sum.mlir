// Sums of updates that are sorted by row in one launch.

module @scatter_sum {
  func.func @main(%x: tensor<300x12xf32>, %i: tensor<700xi64>, %u: tensor<700x12xf32>) -> tensor<300x12xf32> {
    %r = fact.fused "scatter" ins(%x, %i, %u : tensor<300x12xf32>, tensor<700xi64>, tensor<700x12xf32>) {
    ^bb0(%a0: tensor<300x12xf32>, %a1: tensor<700xi64>, %a2: tensor<700x12xf32>):
      %0 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<300x12xf32>, tensor<700xi64>, tensor<700x12xf32>) -> tensor<300x12xf32>
      fact.yield %0 : tensor<300x12xf32>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 8>) : tensor<300x12xf32>
    return %r : tensor<300x12xf32>
  }
}
