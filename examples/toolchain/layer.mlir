func.func @main(%x: tensor<48x40xf32>, %w: tensor<40x56xf32>) -> tensor<48x56xf32> {
  %0 = fact.reshape %x : (tensor<48x40xf32>) -> tensor<1920xf32>
  %1 = fact.reshape %0 : (tensor<1920xf32>) -> tensor<48x40xf32>
  %2 = fact.matmul %1, %w : (tensor<48x40xf32>, tensor<40x56xf32>) -> tensor<48x56xf32>
  %3 = fact.relu %2 : (tensor<48x56xf32>) -> tensor<48x56xf32>
  %4 = fact.relu %3 : (tensor<48x56xf32>) -> tensor<48x56xf32>
  return %4 : tensor<48x56xf32>
}
