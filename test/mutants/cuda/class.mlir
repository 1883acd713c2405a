// The class of each pixel: the place of the largest channel.

module @class {
  func.func @main(%x: tensor<3x65x70xbf16>) -> (tensor<3x70xi64>) {
    %r = fact.fused "reduction" ins(%x : tensor<3x65x70xbf16>) {
    ^bb0(%a0: tensor<3x65x70xbf16>):
      %0 = fact.reduce argmax %a0 dims [1] : (tensor<3x65x70xbf16>) -> tensor<3x70xi64>
      fact.yield %0 : tensor<3x70xi64>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = read>) : tensor<3x70xi64>
    return %r : tensor<3x70xi64>
  }
}
