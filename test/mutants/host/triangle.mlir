// A product of a triangular factor, of which the part below the diagonal is used. The kernel knows both.
func.func @main(%x: tensor<2x37x29xf32>, %w: tensor<29x41xf32>, %m: tensor<37x41xi1>) -> tensor<2x37x41xf32> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %m : tensor<2x37x29xf32>, tensor<29x41xf32>, tensor<37x41xi1>) {
  ^bb0(%a: tensor<2x37x29xf32>, %b: tensor<29x41xf32>, %mask: tensor<37x41xi1>):
    %other = fact.constant dense<-1.0> : tensor<f32>
    %1 = fact.matmul %a, %b : (tensor<2x37x29xf32>, tensor<29x41xf32>) -> tensor<2x37x41xf32>
    %2 = fact.select %mask, %1, %other : (tensor<37x41xi1>, tensor<2x37x41xf32>, tensor<f32>) -> tensor<2x37x41xf32>
    fact.yield %2 : tensor<2x37x41xf32>
  } {fact.bands = array<i64: -536870912, 1, -536870912, 536870912, -536870912, 0>} : tensor<2x37x41xf32>
  return %0 : tensor<2x37x41xf32>
}
