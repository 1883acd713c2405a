module @layer {
  func.func @main(%x: tensor<48x40xf32>, %w: tensor<56x40xf32>) -> tensor<48x56xf32> {
    %0 = fact.matmul %x, %w transpose_b : (tensor<48x40xf32>, tensor<56x40xf32>) -> tensor<48x56xf32>
    %1 = fact.softmax %0 dim 1 : tensor<48x56xf32>
    return %1 : tensor<48x56xf32>
  }
}
