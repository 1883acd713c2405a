// A product of a triangular factor, of which the part below the diagonal is used: steps and tiles are left out.

module @triangle {
  func.func @main(%x: tensor<16x456x392xbf16>, %w: tensor<16x392x528xbf16>, %m: tensor<456x528xi1>) -> tensor<16x456x528xbf16> {
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %m : tensor<16x456x392xbf16>, tensor<16x392x528xbf16>, tensor<456x528xi1>) {
    ^bb0(%a: tensor<16x456x392xbf16>, %b: tensor<16x392x528xbf16>, %mask: tensor<456x528xi1>):
      %other = fact.constant dense<-1.0> : tensor<bf16>
      %1 = fact.matmul %a, %b : (tensor<16x456x392xbf16>, tensor<16x392x528xbf16>) -> tensor<16x456x528xbf16>
      %2 = fact.select %mask, %1, %other : (tensor<456x528xi1>, tensor<16x456x528xbf16>, tensor<bf16>) -> tensor<16x456x528xbf16>
      fact.yield %2 : tensor<16x456x528xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [2x1], kernel = [cooperative], swizzle = [1]>) {fact.bands = array<i64: -536870912, 1, -536870912, 536870912, -536870912, 130>} : tensor<16x456x528xbf16>
    return %r : tensor<16x456x528xbf16>
  }
}
