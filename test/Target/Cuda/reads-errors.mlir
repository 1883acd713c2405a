// RUN: fact-opt --fact-discover=target=h200 -split-input-file -verify-diagnostics %s

// Windows read each element of what they are of several times.
func.func @windows(%a: tensor<2x8x8x4xf32>) -> tensor<2x8x8x3x3x4xf32> {
  // expected-error @below {{reads each element of 'fact.concat' more than twice, which costs more than a copy}}
  %0 = fact.fused "pointwise" ins(%a : tensor<2x8x8x4xf32>) {
  ^bb0(%x: tensor<2x8x8x4xf32>):
    %1 = fact.constant dense<0.0> : tensor<2x1x8x4xf32>
    %2 = fact.concat %1, %x, %1 dim 1 : (tensor<2x1x8x4xf32>, tensor<2x8x8x4xf32>, tensor<2x1x8x4xf32>) -> tensor<2x10x8x4xf32>
    %3 = fact.constant dense<0.0> : tensor<2x10x1x4xf32>
    %4 = fact.concat %3, %2, %3 dim 2 : (tensor<2x10x1x4xf32>, tensor<2x10x8x4xf32>, tensor<2x10x1x4xf32>) -> tensor<2x10x10x4xf32>
    %5 = fact.windows %4 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x10x10x4xf32>) -> tensor<2x8x8x3x3x4xf32>
    fact.yield %5 : tensor<2x8x8x3x3x4xf32>
  } : tensor<2x8x8x3x3x4xf32>
  return %0 : tensor<2x8x8x3x3x4xf32>
}

// -----

// Sources of gathers are not computed again for each index.
func.func @computed(%a: tensor<50x16xf32>, %i: tensor<9xi64>) -> tensor<9x16xf32> {
  // expected-error @below {{the source of 'fact.gather' must be an argument of the region, or gathered from one}}
  %0 = fact.fused "pointwise" ins(%a, %i : tensor<50x16xf32>, tensor<9xi64>) {
  ^bb0(%x: tensor<50x16xf32>, %y: tensor<9xi64>):
    %1 = fact.exp %x : (tensor<50x16xf32>) -> tensor<50x16xf32>
    %2 = fact.gather %1, %y dim 0 : (tensor<50x16xf32>, tensor<9xi64>) -> tensor<9x16xf32>
    fact.yield %2 : tensor<9x16xf32>
  } : tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}
