// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

// Seven pixels of each line are rows of one product with all others, although
// no stride folds them.
func.func @pixels(%x: tensor<8x14x14x256xf32>, %w: tensor<512x256xf32>) -> tensor<8x7x7x512xf32> {
  // expected-error @below {{rows, columns or terms of the product must be at most 8, and it is 392 x 512 x 256}}
  %r = fact.fused "thin_gemm" ins(%x, %w : tensor<8x14x14x256xf32>, tensor<512x256xf32>) {
  ^bb0(%a: tensor<8x14x14x256xf32>, %b: tensor<512x256xf32>):
    %0 = fact.slice %a dim 1 start 0 step 2 : (tensor<8x14x14x256xf32>) -> tensor<8x7x14x256xf32>
    %1 = fact.slice %0 dim 2 start 0 step 2 : (tensor<8x7x14x256xf32>) -> tensor<8x7x7x256xf32>
    %2 = fact.matmul %1, %b transpose_b tf32 : (tensor<8x7x7x256xf32>, tensor<512x256xf32>) -> tensor<8x7x7x512xf32>
    fact.yield %2 : tensor<8x7x7x512xf32>
  } : tensor<8x7x7x512xf32>
  return %r : tensor<8x7x7x512xf32>
}
