// Rows of a table.

module @embedding {
  fact.weight @table : tensor<1000x264xbf16>
  fact.weight @positions : tensor<40x264xbf16>
  func.func @main(%tokens: tensor<6x40xi64>) -> (tensor<6x40x264xbf16>) {
    %table = fact.get_weight @table : tensor<1000x264xbf16>
    %positions = fact.get_weight @positions : tensor<40x264xbf16>
    %r = fact.fused "pointwise" ins(%table, %tokens, %positions : tensor<1000x264xbf16>, tensor<6x40xi64>, tensor<40x264xbf16>) {
    ^bb0(%a0: tensor<1000x264xbf16>, %a1: tensor<6x40xi64>, %a2: tensor<40x264xbf16>):
      %0 = fact.gather %a0, %a1 dim 0 : (tensor<1000x264xbf16>, tensor<6x40xi64>) -> tensor<6x40x264xbf16>
      %1 = fact.add %0, %a2 : (tensor<6x40x264xbf16>, tensor<40x264xbf16>) -> tensor<6x40x264xbf16>
      fact.yield %1 : tensor<6x40x264xbf16>
    } : tensor<6x40x264xbf16>
    return %r : tensor<6x40x264xbf16>
  }
}
