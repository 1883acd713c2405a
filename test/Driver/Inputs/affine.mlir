module @affine {
  fact.weight @w : tensor<3x3xf32>
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %w = fact.get_weight @w : tensor<3x3xf32>
    %0 = fact.matmul %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %1 = fact.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
