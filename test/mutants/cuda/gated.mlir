// Two products of one operand, one of which gates the other.

module @gated {
  fact.weight @gate : tensor<328x256xbf16>
  fact.weight @up : tensor<328x256xbf16>
  fact.weight @bias : tensor<328xbf16>
  func.func @main(%x: tensor<4x130x256xbf16>) -> (tensor<4x130x328xbf16>) {
    %gate = fact.get_weight @gate : tensor<328x256xbf16>
    %up = fact.get_weight @up : tensor<328x256xbf16>
    %bias = fact.get_weight @bias : tensor<328xbf16>
    %r = fact.fused "gated_gemm" ins(%x, %gate, %up, %bias : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>) {
    ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328x256xbf16>, %a3: tensor<328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a3 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.silu %2 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %4 = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %5 = fact.mul %3, %4 : (tensor<4x130x328xbf16>, tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      fact.yield %5 : tensor<4x130x328xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<4x130x328xbf16>
    return %r : tensor<4x130x328xbf16>
  }
}
