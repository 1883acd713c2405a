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

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @sums(%x: tensor<40000x25xf32>, %w: tensor<8x25xf32>) -> tensor<40000x8xf32> {
  // expected-error @below {{a block reads whole rows of 25 terms}}
  %r = fact.fused "thin_gemm" ins(%x, %w : tensor<40000x25xf32>, tensor<8x25xf32>) {
  ^bb0(%a: tensor<40000x25xf32>, %b: tensor<8x25xf32>):
    %0 = fact.matmul %a, %b transpose_b : (tensor<40000x25xf32>, tensor<8x25xf32>) -> tensor<40000x8xf32>
    fact.yield %0 : tensor<40000x8xf32>
  } schedule(#fact.cuda_thin_rows<rows = 1, terms = 16>) : tensor<40000x8xf32>
  return %r : tensor<40000x8xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @filters(%x: tensor<4x128x128x3xf32>, %w: tensor<40x27xf32>) -> tensor<4x126x126x40xf32> {
  // expected-error @below {{a product of windows has at most 32 columns, not 40}}
  %r = fact.fused "thin_gemm" ins(%x, %w : tensor<4x128x128x3xf32>, tensor<40x27xf32>) {
  ^bb0(%a: tensor<4x128x128x3xf32>, %b: tensor<40x27xf32>):
    %v = fact.windows %a dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x128x128x3xf32>) -> tensor<4x126x126x3x3x3xf32>
    %s = fact.reshape %v : (tensor<4x126x126x3x3x3xf32>) -> tensor<4x126x126x27xf32>
    %0 = fact.matmul %s, %b transpose_b : (tensor<4x126x126x27xf32>, tensor<40x27xf32>) -> tensor<4x126x126x40xf32>
    fact.yield %0 : tensor<4x126x126x40xf32>
  } : tensor<4x126x126x40xf32>
  return %r : tensor<4x126x126x40xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @channels(%x: tensor<4x128x128x8xf32>, %w: tensor<4x72xf32>) -> tensor<4x126x126x4xf32> {
  // expected-error @below {{windows have less than 16 bytes of channels, not 32}}
  %r = fact.fused "thin_gemm" ins(%x, %w : tensor<4x128x128x8xf32>, tensor<4x72xf32>) {
  ^bb0(%a: tensor<4x128x128x8xf32>, %b: tensor<4x72xf32>):
    %v = fact.windows %a dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x128x128x8xf32>) -> tensor<4x126x126x3x3x8xf32>
    %s = fact.reshape %v : (tensor<4x126x126x3x3x8xf32>) -> tensor<4x126x126x72xf32>
    %0 = fact.matmul %s, %b transpose_b : (tensor<4x126x126x72xf32>, tensor<4x72xf32>) -> tensor<4x126x126x4xf32>
    fact.yield %0 : tensor<4x126x126x4xf32>
  } : tensor<4x126x126x4xf32>
  return %r : tensor<4x126x126x4xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @registers(%x: tensor<4x128x128x3xf32>, %w: tensor<32x27xf32>) -> tensor<4x126x126x32xf32> {
  // expected-error @below {{a thread has at most 64 sums, and 4 rows of 32 have 128}}
  %r = fact.fused "thin_gemm" ins(%x, %w : tensor<4x128x128x3xf32>, tensor<32x27xf32>) {
  ^bb0(%a: tensor<4x128x128x3xf32>, %b: tensor<32x27xf32>):
    %v = fact.windows %a dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x128x128x3xf32>) -> tensor<4x126x126x3x3x3xf32>
    %s = fact.reshape %v : (tensor<4x126x126x3x3x3xf32>) -> tensor<4x126x126x27xf32>
    %0 = fact.matmul %s, %b transpose_b : (tensor<4x126x126x27xf32>, tensor<32x27xf32>) -> tensor<4x126x126x32xf32>
    fact.yield %0 : tensor<4x126x126x32xf32>
  } schedule(#fact.cuda_thin_rows<rows = 4, terms = 16>) : tensor<4x126x126x32xf32>
  return %r : tensor<4x126x126x32xf32>
}
}
