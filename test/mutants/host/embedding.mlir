// Rows of a table with more than 256 of them.

module @embedding {
  func.func @main(%table: tensor<300x24xbf16>, %tokens: tensor<6x40xi64>, %positions: tensor<40x24xbf16>) -> (tensor<6x40x24xbf16>) {
    %r = fact.fused "pointwise" ins(%table, %tokens, %positions : tensor<300x24xbf16>, tensor<6x40xi64>, tensor<40x24xbf16>) {
    ^bb0(%a0: tensor<300x24xbf16>, %a1: tensor<6x40xi64>, %a2: tensor<40x24xbf16>):
      %0 = fact.gather %a0, %a1 dim 0 : (tensor<300x24xbf16>, tensor<6x40xi64>) -> tensor<6x40x24xbf16>
      %1 = fact.add %0, %a2 : (tensor<6x40x24xbf16>, tensor<40x24xbf16>) -> tensor<6x40x24xbf16>
      fact.yield %1 : tensor<6x40x24xbf16>
    } : tensor<6x40x24xbf16>
    return %r : tensor<6x40x24xbf16>
  }
}
