// Sines and cosines, and logarithms of positive numbers only.

module @angles {
  func.func @main(%x: tensor<130x1000xf32>, %y: tensor<130x1000xf32>) -> (tensor<130x1000xf32>) {
    %r = fact.fused "pointwise" ins(%x, %y : tensor<130x1000xf32>, tensor<130x1000xf32>) {
    ^bb0(%a0: tensor<130x1000xf32>, %a1: tensor<130x1000xf32>):
      %zero = fact.constant dense<0.0> : tensor<f32>
      %four = fact.constant dense<4.0> : tensor<f32>
      %0 = fact.mul %a0, %four : (tensor<130x1000xf32>, tensor<f32>) -> tensor<130x1000xf32>
      %1 = fact.sin %0 : (tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %2 = fact.cos %0 : (tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %3 = fact.add %1, %2 : (tensor<130x1000xf32>, tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %4 = fact.add %a1, %four : (tensor<130x1000xf32>, tensor<f32>) -> tensor<130x1000xf32>
      %5 = fact.log %4 : (tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %6 = fact.mul %5, %4 : (tensor<130x1000xf32>, tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %7 = fact.compare gt %4, %zero : (tensor<130x1000xf32>, tensor<f32>) -> tensor<130x1000xi1>
      %8 = fact.select %7, %6, %a1 : (tensor<130x1000xi1>, tensor<130x1000xf32>, tensor<130x1000xf32>) -> tensor<130x1000xf32>
      %9 = fact.add %3, %8 : (tensor<130x1000xf32>, tensor<130x1000xf32>) -> tensor<130x1000xf32>
      fact.yield %9 : tensor<130x1000xf32>
    } : tensor<130x1000xf32>
    return %r : tensor<130x1000xf32>
  }
}
