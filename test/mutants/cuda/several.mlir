// Three reductions in one pass, which blocks share: a sum, a maximum and a place, of two tensors.

module @several {
  func.func @main(%x: tensor<6x1000xf32>, %y: tensor<6x1000xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xi64>) {
    %r:3 = fact.fused "reduction" ins(%x, %y : tensor<6x1000xf32>, tensor<6x1000xf32>) {
    ^bb0(%a: tensor<6x1000xf32>, %b: tensor<6x1000xf32>):
      %0 = fact.mul %a, %b : (tensor<6x1000xf32>, tensor<6x1000xf32>) -> tensor<6x1000xf32>
      %1 = fact.reduce sum %0 dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %2 = fact.reduce max %a dims [1] : (tensor<6x1000xf32>) -> tensor<6xf32>
      %3 = fact.reduce argmin %b dims [1] : (tensor<6x1000xf32>) -> tensor<6xi64>
      fact.yield %1, %2, %3 : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 32, splits = 3, operands = read>) : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>
    return %r#0, %r#1, %r#2 : tensor<6xf32>, tensor<6xf32>, tensor<6xi64>
  }
}
