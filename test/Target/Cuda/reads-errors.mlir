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

// -----

// A tensor whose parts change places is one read, of which each part costs a
// comparison.
func.func @shuffled(%a: tensor<64x18xf32>, %b: tensor<64x18xf32>) -> tensor<64x18xf32> {
  // expected-error @below {{reads 18 parts of 'fact.concat' for each element, more than 16}}
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<64x18xf32>, tensor<64x18xf32>) {
  ^bb0(%x: tensor<64x18xf32>, %y: tensor<64x18xf32>):
    %1 = fact.slice %x dim 1 start 3 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %2 = fact.slice %x dim 1 start 10 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %3 = fact.slice %x dim 1 start 17 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %4 = fact.slice %x dim 1 start 6 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %5 = fact.slice %x dim 1 start 13 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %6 = fact.slice %x dim 1 start 2 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %7 = fact.slice %x dim 1 start 9 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %8 = fact.slice %x dim 1 start 16 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %9 = fact.slice %x dim 1 start 5 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %10 = fact.slice %x dim 1 start 12 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %11 = fact.slice %x dim 1 start 1 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %12 = fact.slice %x dim 1 start 8 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %13 = fact.slice %x dim 1 start 15 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %14 = fact.slice %x dim 1 start 4 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %15 = fact.slice %x dim 1 start 11 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %16 = fact.slice %x dim 1 start 0 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %17 = fact.slice %x dim 1 start 7 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %18 = fact.slice %x dim 1 start 14 : (tensor<64x18xf32>) -> tensor<64x1xf32>
    %19 = fact.concat %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18 dim 1 : (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x18xf32>
    %20 = fact.mul %19, %y : (tensor<64x18xf32>, tensor<64x18xf32>) -> tensor<64x18xf32>
    fact.yield %20 : tensor<64x18xf32>
  } : tensor<64x18xf32>
  return %0 : tensor<64x18xf32>
}
