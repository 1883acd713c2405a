// A product of a matrix and its transpose: tiles on and below the diagonal, each stored twice.

module @gram {
  func.func @main(%x: tensor<3x456x200xbf16>) -> tensor<3x456x456xbf16> {
    %r = fact.fused "gemm_epilogue" ins(%x : tensor<3x456x200xbf16>) {
    ^bb0(%a: tensor<3x456x200xbf16>):
      %1 = fact.matmul %a, %a transpose_b : (tensor<3x456x200xbf16>, tensor<3x456x200xbf16>) -> tensor<3x456x456xbf16>
      %2 = fact.relu %1 : (tensor<3x456x456xbf16>) -> tensor<3x456x456xbf16>
      fact.yield %2 : tensor<3x456x456xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<3x456x456xbf16>
    return %r : tensor<3x456x456xbf16>
  }
}
