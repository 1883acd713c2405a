// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

// What kernels of window reductions refuse: regions first, then schedules.

func.func @two_reductions(%x: tensor<2x8x8x16xf32>) -> tensor<2x6x6xf32> {
  // expected-error @below {{needs exactly one 'fact.windows' and one 'fact.reduce'}}
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x16xf32>) {
  ^bb0(%x_: tensor<2x8x8x16xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    %2 = fact.reduce sum %1 dims [3] : (tensor<2x6x6x16xf32>) -> tensor<2x6x6xf32>
    fact.yield %2 : tensor<2x6x6xf32>
  } : tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

// -----

func.func @products(%x: tensor<2x8x8x16xf32>, %w: tensor<16x4xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{'fact.matmul' is not a pointwise op, a view or padding}}
  %r = fact.fused "windows" ins(%x, %w : tensor<2x8x8x16xf32>, tensor<16x4xf32>) {
  ^bb0(%x_: tensor<2x8x8x16xf32>, %w_: tensor<16x4xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    %2 = fact.matmul %1, %w_ : (tensor<2x6x6x16xf32>, tensor<16x4xf32>) -> tensor<2x6x6x4xf32>
    fact.yield %2 : tensor<2x6x6x4xf32>
  } : tensor<2x6x6x4xf32>
  return %r : tensor<2x6x6x4xf32>
}

// -----

func.func @images(%x: tensor<2x8x8x16xf32>) -> tensor<6x6x3x16xf32> {
  // expected-error @below {{the reduced dimensions must be the places in a}}
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x16xf32>) {
  ^bb0(%x_: tensor<2x8x8x16xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [0, 3] : (tensor<2x6x6x3x3x16xf32>) -> tensor<6x6x3x16xf32>
    fact.yield %1 : tensor<6x6x3x16xf32>
  } : tensor<6x6x3x16xf32>
  return %r : tensor<6x6x3x16xf32>
}

// -----

func.func @expensive(%x: tensor<2x8x8x16xf32>) -> tensor<2x6x6x16xf32> {
  // expected-error @below {{the pointwise ops before windows must cost at most}}
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x16xf32>) {
  ^bb0(%x_: tensor<2x8x8x16xf32>):
    %a = fact.erf %x_ : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %b = fact.exp %a : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %c = fact.tanh %b : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %d = fact.sin %c : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %0 = fact.windows %d dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    fact.yield %1 : tensor<2x6x6x16xf32>
  } : tensor<2x6x6x16xf32>
  return %r : tensor<2x6x6x16xf32>
}

// -----

func.func @lanes(%x: tensor<2x8x8x6xf32>) -> tensor<2x6x6x6xf32> {
  // expected-error @below {{vectors of 4 do not divide 6 channels}}
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x6xf32>) {
  ^bb0(%x_: tensor<2x8x8x6xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x6xf32>) -> tensor<2x6x6x3x3x6xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x6xf32>) -> tensor<2x6x6x6xf32>
    fact.yield %1 : tensor<2x6x6x6xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 4, columns = 2, rows = 2>) : tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

// -----

func.func @columns(%x: tensor<2x4x9x10xf32>) -> tensor<2x4x7x8xf32> {
  // expected-error @below {{vectors of 4 must divide rows of 10 elements and the 4 columns of a thread times the stride}}
  %r = fact.fused "windows" ins(%x : tensor<2x4x9x10xf32>) {
  ^bb0(%x_: tensor<2x4x9x10xf32>):
    %0 = fact.windows %x_ dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x4x9x10xf32>) -> tensor<2x4x7x8x3x3xf32>
    %1 = fact.reduce sum %0 dims [4, 5] : (tensor<2x4x7x8x3x3xf32>) -> tensor<2x4x7x8xf32>
    fact.yield %1 : tensor<2x4x7x8xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 4, columns = 4, rows = 2>) : tensor<2x4x7x8xf32>
  return %r : tensor<2x4x7x8xf32>
}

// -----

func.func @too_many(%x: tensor<2x5x8x16xf32>) -> tensor<2x3x6x16xf32> {
  // expected-error @below {{a thread has more windows than there are}}
  %r = fact.fused "windows" ins(%x : tensor<2x5x8x16xf32>) {
  ^bb0(%x_: tensor<2x5x8x16xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x5x8x16xf32>) -> tensor<2x3x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x3x6x3x3x16xf32>) -> tensor<2x3x6x16xf32>
    fact.yield %1 : tensor<2x3x6x16xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 4, columns = 1, rows = 8>) : tensor<2x3x6x16xf32>
  return %r : tensor<2x3x6x16xf32>
}

// -----

func.func @held(%x: tensor<2x16x16x16xf32>) -> tensor<2x14x14x16xf32> {
  // expected-error @below {{a thread has at most 64 windows and as many elements of a row}}
  %r = fact.fused "windows" ins(%x : tensor<2x16x16x16xf32>) {
  ^bb0(%x_: tensor<2x16x16x16xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x16x16x16xf32>) -> tensor<2x14x14x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x14x14x3x3x16xf32>) -> tensor<2x14x14x16xf32>
    fact.yield %1 : tensor<2x14x14x16xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 2, columns = 8, rows = 8>) : tensor<2x14x14x16xf32>
  return %r : tensor<2x14x14x16xf32>
}

// -----

func.func @aligned(%x: tensor<2x8x8x20xf32>) -> tensor<2x6x6x16xf32> {
  // expected-error @below {{the images are not aligned to vectors of 4}}
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x20xf32>) {
  ^bb0(%x_: tensor<2x8x8x20xf32>):
    %s = fact.slice %x_ dim 3 start 1 : (tensor<2x8x8x20xf32>) -> tensor<2x8x8x16xf32>
    %0 = fact.windows %s dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    fact.yield %1 : tensor<2x6x6x16xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 4, columns = 2, rows = 2>) : tensor<2x6x6x16xf32>
  return %r : tensor<2x6x6x16xf32>
}

// -----

// Channels are neighbors in the image and far from each other in the result; of small results that is taken.
func.func @across(%x: tensor<32x54x54x64xf32>, %y: tensor<2x54x54x64xf32>) -> (tensor<32x64x27x27xf32>, tensor<2x64x27x27xf32>) {
  // expected-error @below {{a result of type 'tensor<32x64x27x27xf32>' lies across the image, which costs more than a kernel that transposes it}}
  %r = fact.fused "windows" ins(%x : tensor<32x54x54x64xf32>) {
  ^bb0(%x_: tensor<32x54x54x64xf32>):
    %0 = fact.windows %x_ dim 1 kernel [2, 2] strides [2, 2] dilations [1, 1] : (tensor<32x54x54x64xf32>) -> tensor<32x27x27x2x2x64xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<32x27x27x2x2x64xf32>) -> tensor<32x27x27x64xf32>
    %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<32x27x27x64xf32>) -> tensor<32x64x27x27xf32>
    fact.yield %2 : tensor<32x64x27x27xf32>
  } : tensor<32x64x27x27xf32>
  %s = fact.fused "windows" ins(%y : tensor<2x54x54x64xf32>) {
  ^bb0(%y_: tensor<2x54x54x64xf32>):
    %0 = fact.windows %y_ dim 1 kernel [2, 2] strides [2, 2] dilations [1, 1] : (tensor<2x54x54x64xf32>) -> tensor<2x27x27x2x2x64xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x27x27x2x2x64xf32>) -> tensor<2x27x27x64xf32>
    %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<2x27x27x64xf32>) -> tensor<2x64x27x27xf32>
    fact.yield %2 : tensor<2x64x27x27xf32>
  } : tensor<2x64x27x27xf32>
  return %r, %s : tensor<32x64x27x27xf32>, tensor<2x64x27x27xf32>
}

// -----

// Every window with a filter of its own.
func.func @per_window(%x: tensor<2x8x8x16xf32>, %w: tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32> {
  // expected-error @below {{must be the same for all windows of an image}}
  %r = fact.fused "windows" ins(%x, %w : tensor<2x8x8x16xf32>, tensor<2x6x6x3x3x16xf32>) {
  ^bb0(%x_: tensor<2x8x8x16xf32>, %w_: tensor<2x6x6x3x3x16xf32>):
    %0 = fact.windows %x_ dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.mul %0, %w_ : (tensor<2x6x6x3x3x16xf32>, tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %2 = fact.reduce max %1 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    fact.yield %2 : tensor<2x6x6x16xf32>
  } : tensor<2x6x6x16xf32>
  return %r : tensor<2x6x6x16xf32>
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Columns of images whose channels come first, stored with channels last.
func.func @across_columns(%x: tensor<32x64x56x56xbf16>) -> tensor<32x55x55x64xbf16> {
  // expected-error @below {{a result of type 'tensor<32x55x55x64xbf16>' lies across the image, which costs more than a kernel that transposes it}}
  %0 = fact.fused "windows" ins(%x : tensor<32x64x56x56xbf16>) {
  ^bb0(%a: tensor<32x64x56x56xbf16>):
    %1 = fact.windows %a dim 2 kernel [2, 2] strides [1, 1] dilations [1, 1] : (tensor<32x64x56x56xbf16>) -> tensor<32x64x55x55x2x2xbf16>
    %2 = fact.reduce max %1 dims [4, 5] : (tensor<32x64x55x55x2x2xbf16>) -> tensor<32x64x55x55xbf16>
    %3 = fact.permute %2 [0, 2, 3, 1] : (tensor<32x64x55x55xbf16>) -> tensor<32x55x55x64xbf16>
    fact.yield %3 : tensor<32x55x55x64xbf16>
  } : tensor<32x55x55x64xbf16>
  return %0 : tensor<32x55x55x64xbf16>
}
}
