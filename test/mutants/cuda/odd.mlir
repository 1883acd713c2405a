// A product of odd sizes, through mma.sync; blocks divide K.

module @odd {
  fact.weight @w : tensor<517x131xbf16>
  func.func @main(%x: tensor<300x517xbf16>, %y: tensor<300x131xbf16>) -> tensor<300x131xbf16> {
    %w = fact.get_weight @w : tensor<517x131xbf16>
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %y : tensor<300x517xbf16>, tensor<517x131xbf16>, tensor<300x131xbf16>) {
    ^bb0(%a0: tensor<300x517xbf16>, %a1: tensor<517x131xbf16>, %a2: tensor<300x131xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<300x517xbf16>, tensor<517x131xbf16>) -> tensor<300x131xbf16>
      %2 = fact.relu %1 : (tensor<300x131xbf16>) -> tensor<300x131xbf16>
      %3 = fact.add %2, %a2 : (tensor<300x131xbf16>, tensor<300x131xbf16>) -> tensor<300x131xbf16>
      fact.yield %3 : tensor<300x131xbf16>
    } space(#fact.sm80_gemm_space<tile = [64x64x32], warps = [2x2], stages = [3], split_k = [3], math = [mma]>) : tensor<300x131xbf16>
    return %r : tensor<300x131xbf16>
  }
}
