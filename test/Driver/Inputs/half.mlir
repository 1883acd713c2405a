// A plain product in bf16: one kernel on sm_90a.
module @half {
  fact.weight @w : tensor<128x64xbf16>
  func.func @main(%x: tensor<128x64xbf16>) -> tensor<128x128xbf16> {
    %w = fact.get_weight @w : tensor<128x64xbf16>
    %0 = fact.matmul %x, %w transpose_b : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xbf16>
    return %0 : tensor<128x128xbf16>
  }
}
