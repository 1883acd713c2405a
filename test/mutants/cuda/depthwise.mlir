// A depthwise convolution with channels first: taps lie apart, rows and columns of windows have a rest.

module @depthwise {
  fact.weight @w : tensor<6x1x1x3x3xf32>
  fact.weight @b : tensor<6x1x1xf32>
  func.func @main(%x: tensor<2x6x15x18xf32>) -> tensor<2x6x15x18xf32> {
    %w = fact.get_weight @w : tensor<6x1x1x3x3xf32>
    %b = fact.get_weight @b : tensor<6x1x1xf32>
    %r = fact.fused "windows" ins(%x, %w, %b : tensor<2x6x15x18xf32>, tensor<6x1x1x3x3xf32>, tensor<6x1x1xf32>) {
    ^bb0(%i: tensor<2x6x15x18xf32>, %f: tensor<6x1x1x3x3xf32>, %c: tensor<6x1x1xf32>):
      %0 = fact.constant dense<0.0> : tensor<2x6x2x18xf32>
      %1 = fact.concat %0, %i, %0 dim 2 : (tensor<2x6x2x18xf32>, tensor<2x6x15x18xf32>, tensor<2x6x2x18xf32>) -> tensor<2x6x19x18xf32>
      %2 = fact.constant dense<0.0> : tensor<2x6x19x2xf32>
      %3 = fact.concat %2, %1, %2 dim 3 : (tensor<2x6x19x2xf32>, tensor<2x6x19x18xf32>, tensor<2x6x19x2xf32>) -> tensor<2x6x19x22xf32>
      %4 = fact.windows %3 dim 2 kernel [3, 3] strides [1, 1] dilations [2, 2] : (tensor<2x6x19x22xf32>) -> tensor<2x6x15x18x3x3xf32>
      %5 = fact.mul %4, %f : (tensor<2x6x15x18x3x3xf32>, tensor<6x1x1x3x3xf32>) -> tensor<2x6x15x18x3x3xf32>
      %6 = fact.reduce sum %5 dims [4, 5] : (tensor<2x6x15x18x3x3xf32>) -> tensor<2x6x15x18xf32>
      %7 = fact.add %6, %c : (tensor<2x6x15x18xf32>, tensor<6x1x1xf32>) -> tensor<2x6x15x18xf32>
      fact.yield %7 : tensor<2x6x15x18xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [1], columns = [4], rows = [2]>) : tensor<2x6x15x18xf32>
    return %r : tensor<2x6x15x18xf32>
  }
}
