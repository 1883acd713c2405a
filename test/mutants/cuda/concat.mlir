// Two tensors beside each other.

module @concat {
  func.func @main(%x: tensor<130x72xbf16>, %y: tensor<130x136xbf16>) -> (tensor<130x208xbf16>) {
    %r = fact.fused "concat" ins(%x, %y : tensor<130x72xbf16>, tensor<130x136xbf16>) {
    ^bb0(%a0: tensor<130x72xbf16>, %a1: tensor<130x136xbf16>):
      %0 = fact.concat %a0, %a1 dim 1 : (tensor<130x72xbf16>, tensor<130x136xbf16>) -> tensor<130x208xbf16>
      fact.yield %0 : tensor<130x208xbf16>
    } : tensor<130x208xbf16>
    return %r : tensor<130x208xbf16>
  }
}
