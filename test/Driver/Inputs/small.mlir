// A product with an activation: one kernel on every target that takes f32.
module @small {
  fact.weight @w : tensor<16x32xf32>
  func.func @main(%x: tensor<8x32xf32>) -> tensor<8x16xf32> {
    %w = fact.get_weight @w : tensor<16x32xf32>
    %0 = fact.matmul %x, %w transpose_b : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
    %1 = fact.relu %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
