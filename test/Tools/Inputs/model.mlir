module @model {
  fact.weight @w : tensor<8x8xf32>
  func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>) -> (tensor<4x8xf32>, tensor<4x6xf32>) {
    %w = fact.get_weight @w : tensor<8x8xf32>
    %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = fact.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = fact.softmax %1 dim 1 : tensor<4x8xf32>
    %3 = fact.matmul %2, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %4 = fact.relu %y : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %3, %4 : tensor<4x8xf32>, tensor<4x6xf32>
  }
}
