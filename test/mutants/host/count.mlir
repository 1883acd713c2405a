// Sums of booleans: with normal numbers, one tie leaves a row undecided.

module @count {
  func.func @main(%x: tensor<24x2048xbf16>, %y: tensor<24x2048xbf16>, %z: tensor<24x2048xbf16>) -> (tensor<24xi64>) {
    %r = fact.fused "generic" ins(%x, %y, %z : tensor<24x2048xbf16>, tensor<24x2048xbf16>, tensor<24x2048xbf16>) {
    ^bb0(%a0: tensor<24x2048xbf16>, %a1: tensor<24x2048xbf16>, %a2: tensor<24x2048xbf16>):
      %0 = fact.add %a0, %a1 : (tensor<24x2048xbf16>, tensor<24x2048xbf16>) -> tensor<24x2048xbf16>
      %1 = fact.compare gt %0, %a2 : (tensor<24x2048xbf16>, tensor<24x2048xbf16>) -> tensor<24x2048xi1>
      %2 = fact.cast %1 : (tensor<24x2048xi1>) -> tensor<24x2048xi64>
      %3 = fact.reduce sum %2 dims [1] : (tensor<24x2048xi64>) -> tensor<24xi64>
      fact.yield %3 : tensor<24xi64>
    } : tensor<24xi64>
    return %r : tensor<24xi64>
  }
}
