// Two products of one operand, side by side.

module @grouped {
  fact.weight @wq : tensor<512x256xbf16>
  fact.weight @wk : tensor<136x256xbf16>
  fact.weight @bq : tensor<512xbf16>
  func.func @main(%x: tensor<4x130x256xbf16>) -> (tensor<4x130x512xbf16>, tensor<4x130x136xbf16>) {
    %wq = fact.get_weight @wq : tensor<512x256xbf16>
    %wk = fact.get_weight @wk : tensor<136x256xbf16>
    %bq = fact.get_weight @bq : tensor<512xbf16>
    %r:2 = fact.fused "grouped_gemm" ins(%x, %wq, %wk, %bq : tensor<4x130x256xbf16>, tensor<512x256xbf16>, tensor<136x256xbf16>, tensor<512xbf16>) {
    ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<512x256xbf16>, %a2: tensor<136x256xbf16>, %a3: tensor<512xbf16>):
      %q = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<512x256xbf16>) -> tensor<4x130x512xbf16>
      %qb = fact.add %q, %a3 : (tensor<4x130x512xbf16>, tensor<512xbf16>) -> tensor<4x130x512xbf16>
      %k = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x256xbf16>, tensor<136x256xbf16>) -> tensor<4x130x136xbf16>
      %kr = fact.gelu %k : (tensor<4x130x136xbf16>) -> tensor<4x130x136xbf16>
      fact.yield %qb, %kr : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>
    return %r#0, %r#1 : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>
  }
}
