// A product whose operands may be rounded to TF32.

module @tf32 {
  func.func @main(%x: tensor<33x70xf32>, %w: tensor<70x70xf32>, %bias: tensor<70xf32>) -> (tensor<33x70xf32>) {
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %bias : tensor<33x70xf32>, tensor<70x70xf32>, tensor<70xf32>) {
    ^bb0(%a0: tensor<33x70xf32>, %a1: tensor<70x70xf32>, %a2: tensor<70xf32>):
      %0 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<33x70xf32>, tensor<70x70xf32>) -> tensor<33x70xf32>
      %1 = fact.add %0, %a2 : (tensor<33x70xf32>, tensor<70xf32>) -> tensor<33x70xf32>
      %2 = fact.gelu %1 : (tensor<33x70xf32>) -> tensor<33x70xf32>
      fact.yield %2 : tensor<33x70xf32>
    } : tensor<33x70xf32>
    return %r : tensor<33x70xf32>
  }
}
