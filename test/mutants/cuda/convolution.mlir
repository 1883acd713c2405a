// Windows that overlap, with different strides, dilations and zeros. Taps of 40 channels are filled
// up, and two blocks share the filters.

module @convolution {
  fact.weight @w : tensor<72x360xbf16>
  fact.weight @b : tensor<72xbf16>
  func.func @main(%x: tensor<3x13x17x40xbf16>) -> tensor<3x7x16x72xbf16> {
    %w = fact.get_weight @w : tensor<72x360xbf16>
    %b = fact.get_weight @b : tensor<72xbf16>
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<3x13x17x40xbf16>, tensor<72x360xbf16>, tensor<72xbf16>) {
    ^bb0(%i: tensor<3x13x17x40xbf16>, %f: tensor<72x360xbf16>, %b: tensor<72xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<3x1x17x40xbf16>
      %z0b = fact.constant dense<0.0> : tensor<3x2x17x40xbf16>
      %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<3x1x17x40xbf16>, tensor<3x13x17x40xbf16>, tensor<3x2x17x40xbf16>) -> tensor<3x16x17x40xbf16>
      %z1a = fact.constant dense<0.0> : tensor<3x16x2x40xbf16>
      %z1b = fact.constant dense<0.0> : tensor<3x16x1x40xbf16>
      %p1 = fact.concat %z1a, %p0, %z1b dim 2 : (tensor<3x16x2x40xbf16>, tensor<3x16x17x40xbf16>, tensor<3x16x1x40xbf16>) -> tensor<3x16x20x40xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [2, 1] dilations [1, 2] : (tensor<3x16x20x40xbf16>) -> tensor<3x7x16x3x3x40xbf16>
      %r = fact.reshape %v : (tensor<3x7x16x3x3x40xbf16>) -> tensor<3x7x16x360xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<3x7x16x360xbf16>, tensor<72x360xbf16>) -> tensor<3x7x16x72xbf16>
      %a = fact.add %m, %b : (tensor<3x7x16x72xbf16>, tensor<72xbf16>) -> tensor<3x7x16x72xbf16>
      %y = fact.relu %a : (tensor<3x7x16x72xbf16>) -> tensor<3x7x16x72xbf16>
      fact.yield %y : tensor<3x7x16x72xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<3x7x16x72xbf16>
    return %r : tensor<3x7x16x72xbf16>
  }
}
