// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

// Windows that TMA does not load.

func.func @channels(%x: tensor<2x8x8x12xbf16>, %w: tensor<64x108xbf16>) -> tensor<2x6x6x64xbf16> {
  // expected-error @below {{the channels of a pixel must be multiples of 16 bytes for TMA, not 12 elements of 'bf16'}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x12xbf16>, tensor<64x108xbf16>) {
  ^bb0(%i: tensor<2x8x8x12xbf16>, %f: tensor<64x108xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x12xbf16>) -> tensor<2x6x6x3x3x12xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x12xbf16>) -> tensor<2x6x6x108xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x108xbf16>, tensor<64x108xbf16>) -> tensor<2x6x6x64xbf16>
    fact.yield %m : tensor<2x6x6x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xbf16>
  return %r : tensor<2x6x6x64xbf16>
}

// -----

func.func @strides(%x: tensor<2x8x8x12xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x6x6x64xbf16> {
  // expected-error @below {{strides and offset of the images must be multiples of 16 bytes}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x12xbf16>, tensor<64x72xbf16>) {
  ^bb0(%i: tensor<2x8x8x12xbf16>, %f: tensor<64x72xbf16>):
    %s = fact.slice %i dim 3 start 4 : (tensor<2x8x8x12xbf16>) -> tensor<2x8x8x8xbf16>
    %v = fact.windows %s dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x8xbf16>) -> tensor<2x6x6x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x8xbf16>) -> tensor<2x6x6x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x72xbf16>, tensor<64x72xbf16>) -> tensor<2x6x6x64xbf16>
    fact.yield %m : tensor<2x6x6x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xbf16>
  return %r : tensor<2x6x6x64xbf16>
}

// -----

func.func @steps(%x: tensor<2x32x32x8xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x4x4x64xbf16> {
  // expected-error @below {{TMA loads windows that begin at most 8 elements apart, not 9}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x32x32x8xbf16>, tensor<64x72xbf16>) {
  ^bb0(%i: tensor<2x32x32x8xbf16>, %f: tensor<64x72xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [9, 9] dilations [1, 1] : (tensor<2x32x32x8xbf16>) -> tensor<2x4x4x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x4x4x3x3x8xbf16>) -> tensor<2x4x4x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x4x4x72xbf16>, tensor<64x72xbf16>) -> tensor<2x4x4x64xbf16>
    fact.yield %m : tensor<2x4x4x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x4x4x64xbf16>
  return %r : tensor<2x4x4x64xbf16>
}

// -----

func.func @corners(%x: tensor<2x8x8x8xbf16>, %w: tensor<64x8xbf16>) -> tensor<2x137x8x64xbf16> {
  // expected-error @below {{windows of 2 dimensions begin at most 128 elements before an image, and the last one -128 to 127 behind its last element, not 129 and 0}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x8xbf16>, tensor<64x8xbf16>) {
  ^bb0(%i: tensor<2x8x8x8xbf16>, %f: tensor<64x8xbf16>):
    %z0a = fact.constant dense<0.0> : tensor<2x129x8x8xbf16>
    %p0 = fact.concat %z0a, %i dim 1 : (tensor<2x129x8x8xbf16>, tensor<2x8x8x8xbf16>) -> tensor<2x137x8x8xbf16>
    %v = fact.windows %p0 dim 1 kernel [1, 1] strides [1, 1] dilations [1, 1] : (tensor<2x137x8x8xbf16>) -> tensor<2x137x8x1x1x8xbf16>
    %r = fact.reshape %v : (tensor<2x137x8x1x1x8xbf16>) -> tensor<2x137x8x8xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x137x8x8xbf16>, tensor<64x8xbf16>) -> tensor<2x137x8x64xbf16>
    fact.yield %m : tensor<2x137x8x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x137x8x64xbf16>
  return %r : tensor<2x137x8x64xbf16>
}

// -----

func.func @reach(%x: tensor<2x8x8x17x8xbf16>, %w: tensor<64x64xbf16>) -> tensor<2x7x7x17x64xbf16> {
  // expected-error @below {{a window of 3 dimensions reaches over at most 32 elements, not 33}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x17x8xbf16>, tensor<64x64xbf16>) {
  ^bb0(%i: tensor<2x8x8x17x8xbf16>, %f: tensor<64x64xbf16>):
    %z2a = fact.constant dense<0.0> : tensor<2x8x8x16x8xbf16>
    %p2 = fact.concat %z2a, %i, %z2a dim 3 : (tensor<2x8x8x16x8xbf16>, tensor<2x8x8x17x8xbf16>, tensor<2x8x8x16x8xbf16>) -> tensor<2x8x8x49x8xbf16>
    %v = fact.windows %p2 dim 1 kernel [2, 2, 2] strides [1, 1, 1] dilations [1, 1, 32] : (tensor<2x8x8x49x8xbf16>) -> tensor<2x7x7x17x2x2x2x8xbf16>
    %r = fact.reshape %v : (tensor<2x7x7x17x2x2x2x8xbf16>) -> tensor<2x7x7x17x64xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x7x7x17x64xbf16>, tensor<64x64xbf16>) -> tensor<2x7x7x17x64xbf16>
    fact.yield %m : tensor<2x7x7x17x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x7x7x17x64xbf16>
  return %r : tensor<2x7x7x17x64xbf16>
}

// -----

func.func @dims(%x: tensor<2x4x4x4x4x8xbf16>, %w: tensor<64x128xbf16>) -> tensor<2x3x3x3x3x64xbf16> {
  // expected-error @below {{TMA loads windows of at most 3 dimensions, or 2 of groups, not 4}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x4x4x4x4x8xbf16>, tensor<64x128xbf16>) {
  ^bb0(%i: tensor<2x4x4x4x4x8xbf16>, %f: tensor<64x128xbf16>):
    %v = fact.windows %i dim 1 kernel [2, 2, 2, 2] strides [1, 1, 1, 1] dilations [1, 1, 1, 1] : (tensor<2x4x4x4x4x8xbf16>) -> tensor<2x3x3x3x3x2x2x2x2x8xbf16>
    %r = fact.reshape %v : (tensor<2x3x3x3x3x2x2x2x2x8xbf16>) -> tensor<2x3x3x3x3x128xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x3x3x3x3x128xbf16>, tensor<64x128xbf16>) -> tensor<2x3x3x3x3x64xbf16>
    fact.yield %m : tensor<2x3x3x3x3x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x3x3x3x3x64xbf16>
  return %r : tensor<2x3x3x3x3x64xbf16>
}

// -----

func.func @strict(%x: tensor<2x8x8x8xf32>, %w: tensor<64x72xf32>) -> tensor<2x6x6x64xf32> {
  // expected-error @below {{multiplies windows of f16, bf16 and, as 'tf32', f32}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x8xf32>, tensor<64x72xf32>) {
  ^bb0(%i: tensor<2x8x8x8xf32>, %f: tensor<64x72xf32>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x8xf32>) -> tensor<2x6x6x3x3x8xf32>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x8xf32>) -> tensor<2x6x6x72xf32>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x72xf32>, tensor<64x72xf32>) -> tensor<2x6x6x64xf32>
    fact.yield %m : tensor<2x6x6x64xf32>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xf32>
  return %r : tensor<2x6x6x64xf32>
}

// -----

func.func @filters(%x: tensor<2x8x8x8xbf16>, %w: tensor<72x64xbf16>) -> tensor<2x6x6x64xbf16> {
  // expected-error @below {{the filters of windows must be contiguous along their taps and channels}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x8xbf16>, tensor<72x64xbf16>) {
  ^bb0(%i: tensor<2x8x8x8xbf16>, %f: tensor<72x64xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x8xbf16>) -> tensor<2x6x6x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x8xbf16>) -> tensor<2x6x6x72xbf16>
    %m = fact.matmul %r, %f : (tensor<2x6x6x72xbf16>, tensor<72x64xbf16>) -> tensor<2x6x6x64xbf16>
    fact.yield %m : tensor<2x6x6x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xbf16>
  return %r : tensor<2x6x6x64xbf16>
}

// -----

func.func @columns(%x: tensor<2x8x8x8xbf16>, %w: tensor<60x72xbf16>) -> tensor<2x6x6x60xbf16> {
  // expected-error @below {{needs strides and offsets that are multiples of 16 bytes for TMA, and a row has 60 elements of 'bf16'}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x8xbf16>, tensor<60x72xbf16>) {
  ^bb0(%i: tensor<2x8x8x8xbf16>, %f: tensor<60x72xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x8xbf16>) -> tensor<2x6x6x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x8xbf16>) -> tensor<2x6x6x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x72xbf16>, tensor<60x72xbf16>) -> tensor<2x6x6x60xbf16>
    fact.yield %m : tensor<2x6x6x60xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x60xbf16>
  return %r : tensor<2x6x6x60xbf16>
}

// -----

func.func @boxes(%x: tensor<2x8x8x64xbf16>, %w: tensor<64x576xbf16>) -> tensor<2x6x6x64xbf16> {
  // expected-error @below {{tile K of windows must be a multiple of 64 channels, not 32}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x64xbf16>, tensor<64x576xbf16>) {
  ^bb0(%i: tensor<2x8x8x64xbf16>, %f: tensor<64x576xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x64xbf16>) -> tensor<2x6x6x3x3x64xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x64xbf16>) -> tensor<2x6x6x576xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x576xbf16>, tensor<64x576xbf16>) -> tensor<2x6x6x64xbf16>
    fact.yield %m : tensor<2x6x6x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x32, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xbf16>
  return %r : tensor<2x6x6x64xbf16>
}

// -----

func.func @parts(%x: tensor<2x8x8x64xbf16>, %w: tensor<64x576xbf16>) -> tensor<2x6x6x64xbf16> {
  // expected-error @below {{tile N of windows must be a multiple of 8 for each of 4 blocks that share filters, not 48}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x64xbf16>, tensor<64x576xbf16>) {
  ^bb0(%i: tensor<2x8x8x64xbf16>, %f: tensor<64x576xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x64xbf16>) -> tensor<2x6x6x3x3x64xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x64xbf16>) -> tensor<2x6x6x576xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x576xbf16>, tensor<64x576xbf16>) -> tensor<2x6x6x64xbf16>
    fact.yield %m : tensor<2x6x6x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x48x64, cluster = 4x1, kernel = pingpong, swizzle = 1>) : tensor<2x6x6x64xbf16>
  return %r : tensor<2x6x6x64xbf16>
}

// -----

func.func @channels_first(%x: tensor<2x8x10x10xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x8x8x64xbf16> {
  // expected-error @below {{the channels of an image must be contiguous, and lie at a stride of 100}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x10x10xbf16>, tensor<64x72xbf16>) {
  ^bb0(%i: tensor<2x8x10x10xbf16>, %f: tensor<64x72xbf16>):
    %p = fact.permute %i [0, 2, 3, 1] : (tensor<2x8x10x10xbf16>) -> tensor<2x10x10x8xbf16>
    %v = fact.windows %p dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x10x10x8xbf16>) -> tensor<2x8x8x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x8x8x3x3x8xbf16>) -> tensor<2x8x8x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x8x8x72xbf16>, tensor<64x72xbf16>) -> tensor<2x8x8x64xbf16>
    fact.yield %m : tensor<2x8x8x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x8x8x64xbf16>
  return %r : tensor<2x8x8x64xbf16>
}

// -----

func.func @groups(%x: tensor<2x10x10x8xbf16>, %w: tensor<2x64x36xbf16>) -> tensor<2x128x64xbf16> {
  // expected-error @below {{the channels of a pixel must be multiples of 16 bytes for TMA, not 4 elements of 'bf16'}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x10x10x8xbf16>, tensor<2x64x36xbf16>) {
  ^bb0(%i: tensor<2x10x10x8xbf16>, %f: tensor<2x64x36xbf16>):
    %s = fact.reshape %i : (tensor<2x10x10x8xbf16>) -> tensor<2x10x10x2x4xbf16>
    %p = fact.permute %s [3, 0, 1, 2, 4] : (tensor<2x10x10x2x4xbf16>) -> tensor<2x2x10x10x4xbf16>
    %v = fact.windows %p dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x2x10x10x4xbf16>) -> tensor<2x2x8x8x3x3x4xbf16>
    %r = fact.reshape %v : (tensor<2x2x8x8x3x3x4xbf16>) -> tensor<2x128x36xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x128x36xbf16>, tensor<2x64x36xbf16>) -> tensor<2x128x64xbf16>
    fact.yield %m : tensor<2x128x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x128x64xbf16>
  return %r : tensor<2x128x64xbf16>
}

// -----

func.func @small_groups(%x: tensor<2x10x10x16xbf16>, %w: tensor<2x64x72xbf16>) -> tensor<2x128x64xbf16> {
  // expected-error @below {{windows of groups of fewer than 32 bytes are faster copied, as of 8 elements of 'bf16'}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x10x10x16xbf16>, tensor<2x64x72xbf16>) {
  ^bb0(%i: tensor<2x10x10x16xbf16>, %f: tensor<2x64x72xbf16>):
    %s = fact.reshape %i : (tensor<2x10x10x16xbf16>) -> tensor<2x10x10x2x8xbf16>
    %p = fact.permute %s [3, 0, 1, 2, 4] : (tensor<2x10x10x2x8xbf16>) -> tensor<2x2x10x10x8xbf16>
    %v = fact.windows %p dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x2x10x10x8xbf16>) -> tensor<2x2x8x8x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x2x8x8x3x3x8xbf16>) -> tensor<2x128x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x128x72xbf16>, tensor<2x64x72xbf16>) -> tensor<2x128x64xbf16>
    fact.yield %m : tensor<2x128x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x128x64xbf16>
  return %r : tensor<2x128x64xbf16>
}

// -----

func.func @groups_of_volumes(%x: tensor<2x5x6x7x16xbf16>, %w: tensor<2x64x64xbf16>) -> tensor<2x240x64xbf16> {
  // expected-error @below {{TMA loads windows of at most 3 dimensions, or 2 of groups, not 3}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x5x6x7x16xbf16>, tensor<2x64x64xbf16>) {
  ^bb0(%i: tensor<2x5x6x7x16xbf16>, %f: tensor<2x64x64xbf16>):
    %s = fact.reshape %i : (tensor<2x5x6x7x16xbf16>) -> tensor<2x5x6x7x2x8xbf16>
    %p = fact.permute %s [4, 0, 1, 2, 3, 5] : (tensor<2x5x6x7x2x8xbf16>) -> tensor<2x2x5x6x7x8xbf16>
    %v = fact.windows %p dim 2 kernel [2, 2, 2] strides [1, 1, 1] dilations [1, 1, 1] : (tensor<2x2x5x6x7x8xbf16>) -> tensor<2x2x4x5x6x2x2x2x8xbf16>
    %r = fact.reshape %v : (tensor<2x2x4x5x6x2x2x2x8xbf16>) -> tensor<2x240x64xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x240x64xbf16>, tensor<2x64x64xbf16>) -> tensor<2x240x64xbf16>
    fact.yield %m : tensor<2x240x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x240x64xbf16>
  return %r : tensor<2x240x64xbf16>
}

// -----

func.func @images(%x: tensor<3x2x10x10x8xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x3x8x8x64xbf16> {
  // expected-error @below {{the images of a convolution must lie at one stride}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<3x2x10x10x8xbf16>, tensor<64x72xbf16>) {
  ^bb0(%i: tensor<3x2x10x10x8xbf16>, %f: tensor<64x72xbf16>):
    %p = fact.permute %i [1, 0, 2, 3, 4] : (tensor<3x2x10x10x8xbf16>) -> tensor<2x3x10x10x8xbf16>
    %v = fact.windows %p dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x3x10x10x8xbf16>) -> tensor<2x3x8x8x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x3x8x8x3x3x8xbf16>) -> tensor<2x3x8x8x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x3x8x8x72xbf16>, tensor<64x72xbf16>) -> tensor<2x3x8x8x64xbf16>
    fact.yield %m : tensor<2x3x8x8x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x3x8x8x64xbf16>
  return %r : tensor<2x3x8x8x64xbf16>
}

// -----

// 36 pixels would leave most of each tile empty.
func.func @few_pixels(%x: tensor<2x8x8x8xbf16>, %w: tensor<64x72xbf16>) -> tensor<2x64x6x6xbf16> {
  // expected-error @below {{a result must have contiguous rows or columns of whole 16 bytes, and its last views permute them}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x8x8x8xbf16>, tensor<64x72xbf16>) {
  ^bb0(%i: tensor<2x8x8x8xbf16>, %f: tensor<64x72xbf16>):
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x8xbf16>) -> tensor<2x6x6x3x3x8xbf16>
    %r = fact.reshape %v : (tensor<2x6x6x3x3x8xbf16>) -> tensor<2x6x6x72xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x6x6x72xbf16>, tensor<64x72xbf16>) -> tensor<2x6x6x64xbf16>
    %y = fact.permute %m [0, 3, 1, 2] : (tensor<2x6x6x64xbf16>) -> tensor<2x64x6x6xbf16>
    fact.yield %y : tensor<2x64x6x6xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x64x6x6xbf16>
  return %r : tensor<2x64x6x6xbf16>
}
