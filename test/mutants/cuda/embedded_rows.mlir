// The norm of rows of a table, and of each row one of its elements by class.

module @embedded_rows {
  fact.weight @table : tensor<1000x264xbf16>
  fact.weight @positions : tensor<40x264xbf16>
  func.func @main(%tokens: tensor<6x40xi64>, %places: tensor<6x40xi64>) -> (tensor<6x40x264xbf16>, tensor<6x40xbf16>) {
    %table = fact.get_weight @table : tensor<1000x264xbf16>
    %positions = fact.get_weight @positions : tensor<40x264xbf16>
    %r:2 = fact.fused "reduction" ins(%table, %tokens, %positions, %places : tensor<1000x264xbf16>, tensor<6x40xi64>, tensor<40x264xbf16>, tensor<6x40xi64>) {
    ^bb0(%a0: tensor<1000x264xbf16>, %a1: tensor<6x40xi64>, %a2: tensor<40x264xbf16>, %a3: tensor<6x40xi64>):
      %0 = fact.gather %a0, %a1 dim 0 : (tensor<1000x264xbf16>, tensor<6x40xi64>) -> tensor<6x40x264xbf16>
      %1 = fact.add %0, %a2 : (tensor<6x40x264xbf16>, tensor<40x264xbf16>) -> tensor<6x40x264xbf16>
      %2 = fact.reduce max %1 dims [2] keep : (tensor<6x40x264xbf16>) -> tensor<6x40x1xbf16>
      %3 = fact.sub %1, %2 : (tensor<6x40x264xbf16>, tensor<6x40x1xbf16>) -> tensor<6x40x264xbf16>
      %4 = fact.reshape %a0 : (tensor<1000x264xbf16>) -> tensor<264000xbf16>
      %5 = fact.gather %4, %a3 dim 0 : (tensor<264000xbf16>, tensor<6x40xi64>) -> tensor<6x40xbf16>
      %6 = fact.reshape %2 : (tensor<6x40x1xbf16>) -> tensor<6x40xbf16>
      %7 = fact.sub %5, %6 : (tensor<6x40xbf16>, tensor<6x40xbf16>) -> tensor<6x40xbf16>
      fact.yield %3, %7 : tensor<6x40x264xbf16>, tensor<6x40xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 32, splits = 1, operands = held>) : tensor<6x40x264xbf16>, tensor<6x40xbf16>
    return %r#0, %r#1 : tensor<6x40x264xbf16>, tensor<6x40xbf16>
  }
}
