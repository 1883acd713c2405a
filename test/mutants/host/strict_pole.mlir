// Quotients of a strict product. Its error is tracked, and the bound of a long
// sum leaves no room for TF32.

module @strict_pole {
  func.func @main(%x: tensor<8x16384xf32>, %w: tensor<16x16384xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %r:2 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<8x16384xf32>, tensor<16x16384xf32>) {
    ^bb0(%a0: tensor<8x16384xf32>, %a1: tensor<16x16384xf32>):
      %one = fact.constant dense<1.0> : tensor<f32>
      %0 = fact.matmul %a0, %a1 transpose_b : (tensor<8x16384xf32>, tensor<16x16384xf32>) -> tensor<8x16xf32>
      %1 = fact.abs %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
      %2 = fact.add %1, %one : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
      %3 = fact.div %0, %2 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %4 = fact.reciprocal %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
      fact.yield %3, %4 : tensor<8x16xf32>, tensor<8x16xf32>
    } : tensor<8x16xf32>, tensor<8x16xf32>
    return %r#0, %r#1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
