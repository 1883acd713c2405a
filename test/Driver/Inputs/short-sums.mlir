fact.weight @w : tensor<512x8xf32>
func.func @forward(%x: tensor<2048x8xf32>) -> tensor<2048x512xf32> {
  %w = fact.get_weight @w : tensor<512x8xf32>
  %0 = fact.matmul %x, %w transpose_b : (tensor<2048x8xf32>, tensor<512x8xf32>) -> tensor<2048x512xf32>
  %1 = fact.relu %0 : (tensor<2048x512xf32>) -> tensor<2048x512xf32>
  return %1 : tensor<2048x512xf32>
}
