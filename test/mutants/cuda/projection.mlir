// A product with a bias and an activation, and reductions of its rows.

module @projection {
  fact.weight @w : tensor<328x256xbf16>
  fact.weight @bias : tensor<328xbf16>
  func.func @main(%x: tensor<4x130x256xbf16>) -> (tensor<4x130x328xbf16>, tensor<4x130xbf16>, tensor<4x130xbf16>) {
    %w = fact.get_weight @w : tensor<328x256xbf16>
    %bias = fact.get_weight @bias : tensor<328xbf16>
    %r:3 = fact.fused "gemm_epilogue" ins(%x, %w, %bias : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>) {
    ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.reduce mean %2 dims [2] : (tensor<4x130x328xbf16>) -> tensor<4x130xbf16>
      %4 = fact.reduce max %1 dims [2] : (tensor<4x130x328xbf16>) -> tensor<4x130xbf16>
      %5 = fact.gelu %2 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      fact.yield %5, %3, %4 : tensor<4x130x328xbf16>, tensor<4x130xbf16>, tensor<4x130xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<4x130x328xbf16>, tensor<4x130xbf16>, tensor<4x130xbf16>
    return %r#0, %r#1, %r#2 : tensor<4x130x328xbf16>, tensor<4x130xbf16>, tensor<4x130xbf16>
  }
}
