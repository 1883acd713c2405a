// A product of f32 that is as exact as IEEE f32, whose tiles are split in shared memory.

module @strict_pingpong {
  fact.weight @w : tensor<328x516xf32>
  func.func @main(%x: tensor<300x516xf32>, %y: tensor<300x328xf32>) -> tensor<300x328xf32> {
    %w = fact.get_weight @w : tensor<328x516xf32>
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %y : tensor<300x516xf32>, tensor<328x516xf32>, tensor<300x328xf32>) {
    ^bb0(%a0: tensor<300x516xf32>, %a1: tensor<328x516xf32>, %a2: tensor<300x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<300x516xf32>, tensor<328x516xf32>) -> tensor<300x328xf32>
      %2 = fact.relu %1 : (tensor<300x328xf32>) -> tensor<300x328xf32>
      %3 = fact.add %2, %a2 : (tensor<300x328xf32>, tensor<300x328xf32>) -> tensor<300x328xf32>
      fact.yield %3 : tensor<300x328xf32>
    } space(#fact.sm90_gemm_space<tile = [64x128x32], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<300x328xf32>
    return %r : tensor<300x328xf32>
  }
}
