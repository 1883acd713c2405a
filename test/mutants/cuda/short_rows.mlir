// Rows of 25 that follow each other, times 8 filters.

module @short_rows {
  func.func @main(%x: tensor<33001x25xbf16>, %w: tensor<25x8xbf16>) -> (tensor<33001x8xbf16>) {
    %r = fact.fused "thin_gemm" ins(%x, %w : tensor<33001x25xbf16>, tensor<25x8xbf16>) {
    ^bb0(%a: tensor<33001x25xbf16>, %c: tensor<25x8xbf16>):
      %1 = fact.matmul %a, %c : (tensor<33001x25xbf16>, tensor<25x8xbf16>) -> tensor<33001x8xbf16>
      fact.yield %1 : tensor<33001x8xbf16>
    } space(#fact.cuda_thin_rows_space<rows = [2], terms = [32]>) : tensor<33001x8xbf16>
    return %r : tensor<33001x8xbf16>
  }
}
