// The kernel of small.mlir, twice, behind another one.
module @behind {
  fact.weight @front : tensor<32x64xf32>
  fact.weight @w : tensor<16x32xf32>
  fact.weight @v : tensor<16x32xf32>
  func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x32xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %front = fact.get_weight @front : tensor<32x64xf32>
    %w = fact.get_weight @w : tensor<16x32xf32>
    %v = fact.get_weight @v : tensor<16x32xf32>
    %0 = fact.matmul %x, %front transpose_b : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
    %1 = fact.matmul %0, %w transpose_b : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
    %2 = fact.relu %1 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = fact.matmul %y, %v transpose_b : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
    %4 = fact.relu %3 : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2, %4 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
