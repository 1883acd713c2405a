// Where the largest element of each row is.

module @arg_max {
  func.func @main(%x: tensor<130x1000xbf16>) -> (tensor<130xi64>) {
    %r = fact.fused "rowwise" ins(%x : tensor<130x1000xbf16>) {
    ^bb0(%a0: tensor<130x1000xbf16>):
      %0 = fact.reduce argmax %a0 dims [1] : (tensor<130x1000xbf16>) -> tensor<130xi64>
      fact.yield %0 : tensor<130xi64>
    } : tensor<130xi64>
    return %r : tensor<130xi64>
  }
}
