// Two images of 9 x 11 pixels between zeros, filters of 3 x 2 taps, every
// second row of windows, taps two columns apart.
func.func @main(%x: tensor<2x9x11x5xf32>, %w: tensor<7x30xf32>, %b: tensor<7xf32>) -> tensor<2x5x12x7xf32> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<2x9x11x5xf32>, tensor<7x30xf32>, tensor<7xf32>) {
  ^bb0(%image: tensor<2x9x11x5xf32>, %filters: tensor<7x30xf32>, %bias: tensor<7xf32>):
    %c0 = fact.constant dense<0.0> : tensor<2x1x11x5xf32>
    %1 = fact.concat %c0, %image, %c0 dim 1 : (tensor<2x1x11x5xf32>, tensor<2x9x11x5xf32>, tensor<2x1x11x5xf32>) -> tensor<2x11x11x5xf32>
    %c1 = fact.constant dense<0.0> : tensor<2x11x1x5xf32>
    %c2 = fact.constant dense<0.0> : tensor<2x11x2x5xf32>
    %2 = fact.concat %c1, %1, %c2 dim 2 : (tensor<2x11x1x5xf32>, tensor<2x11x11x5xf32>, tensor<2x11x2x5xf32>) -> tensor<2x11x14x5xf32>
    %3 = fact.windows %2 dim 1 kernel [3, 2] strides [2, 1] dilations [1, 2] : (tensor<2x11x14x5xf32>) -> tensor<2x5x12x3x2x5xf32>
    %4 = fact.reshape %3 : (tensor<2x5x12x3x2x5xf32>) -> tensor<2x5x12x30xf32>
    %5 = fact.matmul %4, %filters transpose_b : (tensor<2x5x12x30xf32>, tensor<7x30xf32>) -> tensor<2x5x12x7xf32>
    %6 = fact.add %5, %bias : (tensor<2x5x12x7xf32>, tensor<7xf32>) -> tensor<2x5x12x7xf32>
    fact.yield %6 : tensor<2x5x12x7xf32>
  } : tensor<2x5x12x7xf32>
  return %0 : tensor<2x5x12x7xf32>
}
