// A product in TF32; K is odd, so that both operands are copied.

module @tf32 {
  fact.weight @w : tensor<328x517xf32>
  func.func @main(%x: tensor<300x517xf32>, %y: tensor<300x328xf32>) -> tensor<300x328xf32> {
    %w = fact.get_weight @w : tensor<328x517xf32>
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %y : tensor<300x517xf32>, tensor<328x517xf32>, tensor<300x328xf32>) {
    ^bb0(%a0: tensor<300x517xf32>, %a1: tensor<328x517xf32>, %a2: tensor<300x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<300x517xf32>, tensor<328x517xf32>) -> tensor<300x328xf32>
      %2 = fact.relu %1 : (tensor<300x328xf32>) -> tensor<300x328xf32>
      %3 = fact.add %2, %a2 : (tensor<300x328xf32>, tensor<300x328xf32>) -> tensor<300x328xf32>
      fact.yield %3 : tensor<300x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<300x328xf32>
    return %r : tensor<300x328xf32>
  }
}
