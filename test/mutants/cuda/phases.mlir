// Three phases of a transposed convolution, channels before pixels, without the
// first pixel and the last two.

module @phases {
  func.func @main(%x: tensor<3x70x40xf32>, %y: tensor<3x70x40xf32>, %z: tensor<3x70x40xf32>) -> (tensor<3x40x207xf32>) {
    %r = fact.fused "concat" ins(%x, %y, %z : tensor<3x70x40xf32>, tensor<3x70x40xf32>, tensor<3x70x40xf32>) {
    ^bb0(%a0: tensor<3x70x40xf32>, %a1: tensor<3x70x40xf32>, %a2: tensor<3x70x40xf32>):
      %0 = fact.concat %a0, %a1, %a2 dim 2 : (tensor<3x70x40xf32>, tensor<3x70x40xf32>, tensor<3x70x40xf32>) -> tensor<3x70x120xf32>
      %1 = fact.reshape %0 : (tensor<3x70x120xf32>) -> tensor<3x210x40xf32>
      %2 = fact.slice %1 dim 1 start 1 : (tensor<3x210x40xf32>) -> tensor<3x207x40xf32>
      %3 = fact.permute %2 [0, 2, 1] : (tensor<3x207x40xf32>) -> tensor<3x40x207xf32>
      fact.yield %3 : tensor<3x40x207xf32>
    } schedule(#fact.cuda_tile<rows = 32, columns = 32, threads = 256>) : tensor<3x40x207xf32>
    return %r : tensor<3x40x207xf32>
  }
}
