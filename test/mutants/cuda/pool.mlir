// A max pool of odd images with channels last: rows of windows have a rest, and what lies outside
// is not zero.

module @pool {
  func.func @main(%x: tensor<2x13x11x24xbf16>) -> tensor<2x7x6x24xbf16> {
    %r = fact.fused "windows" ins(%x : tensor<2x13x11x24xbf16>) {
    ^bb0(%a: tensor<2x13x11x24xbf16>):
      %0 = fact.constant dense<0xFF80> : tensor<2x1x11x24xbf16>
      %1 = fact.concat %0, %a, %0 dim 1 : (tensor<2x1x11x24xbf16>, tensor<2x13x11x24xbf16>, tensor<2x1x11x24xbf16>) -> tensor<2x15x11x24xbf16>
      %2 = fact.constant dense<0xFF80> : tensor<2x15x1x24xbf16>
      %3 = fact.concat %2, %1, %2 dim 2 : (tensor<2x15x1x24xbf16>, tensor<2x15x11x24xbf16>, tensor<2x15x1x24xbf16>) -> tensor<2x15x13x24xbf16>
      %4 = fact.windows %3 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<2x15x13x24xbf16>) -> tensor<2x7x6x3x3x24xbf16>
      %5 = fact.reduce max %4 dims [3, 4] : (tensor<2x7x6x3x3x24xbf16>) -> tensor<2x7x6x24xbf16>
      fact.yield %5 : tensor<2x7x6x24xbf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [8], columns = [2], rows = [4]>) : tensor<2x7x6x24xbf16>
    return %r : tensor<2x7x6x24xbf16>
  }
}
