// A convolution of images with two channels, which lie first, between zeros.

module @few_filters {
  func.func @main(%x: tensor<3x2x109x107xf32>, %w: tensor<5x18xf32>, %bias: tensor<5xf32>) -> (tensor<3x109x107x5xf32>) {
    %r = fact.fused "thin_gemm" ins(%x, %w, %bias : tensor<3x2x109x107xf32>, tensor<5x18xf32>, tensor<5xf32>) {
    ^bb0(%a: tensor<3x2x109x107xf32>, %c: tensor<5x18xf32>, %d: tensor<5xf32>):
      %p = fact.permute %a [0, 2, 3, 1] : (tensor<3x2x109x107xf32>) -> tensor<3x109x107x2xf32>
      %rows = fact.constant dense<0.0> : tensor<3x1x107x2xf32>
      %h = fact.concat %rows, %p, %rows dim 1 : (tensor<3x1x107x2xf32>, tensor<3x109x107x2xf32>, tensor<3x1x107x2xf32>) -> tensor<3x111x107x2xf32>
      %columns = fact.constant dense<0.0> : tensor<3x111x1x2xf32>
      %i = fact.concat %columns, %h, %columns dim 2 : (tensor<3x111x1x2xf32>, tensor<3x111x107x2xf32>, tensor<3x111x1x2xf32>) -> tensor<3x111x109x2xf32>
      %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<3x111x109x2xf32>) -> tensor<3x109x107x3x3x2xf32>
      %s = fact.reshape %v : (tensor<3x109x107x3x3x2xf32>) -> tensor<3x109x107x18xf32>
      %1 = fact.matmul %s, %c transpose_b : (tensor<3x109x107x18xf32>, tensor<5x18xf32>) -> tensor<3x109x107x5xf32>
      %2 = fact.add %1, %d : (tensor<3x109x107x5xf32>, tensor<5xf32>) -> tensor<3x109x107x5xf32>
      fact.yield %2 : tensor<3x109x107x5xf32>
    } space(#fact.cuda_thin_rows_space<rows = [2], terms = [16]>) : tensor<3x109x107x5xf32>
    return %r : tensor<3x109x107x5xf32>
  }
}
