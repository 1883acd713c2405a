// Convolutions whose windows TMA loads; test_families.py lets fact-tune check their kernels
// against the references.

module @convolutions attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @w0 : tensor<200x648xbf16>
  fact.weight @b0 : tensor<200xbf16>
  fact.weight @w1 : tensor<200x648xbf16>
  fact.weight @b1 : tensor<200xbf16>
  fact.weight @w2 : tensor<200x648xbf16>
  fact.weight @b2 : tensor<200xbf16>
  fact.weight @w3 : tensor<200x1080xbf16>
  fact.weight @b3 : tensor<200xbf16>
  fact.weight @w4 : tensor<136x1400xf16>
  fact.weight @b4 : tensor<136xf16>
  fact.weight @w5 : tensor<64x576xbf16>
  fact.weight @b5 : tensor<64xbf16>
  fact.weight @w6 : tensor<64x144xbf16>
  fact.weight @b6 : tensor<64xbf16>
  fact.weight @w7 : tensor<72x288xf16>
  fact.weight @b7 : tensor<72xf16>
  fact.weight @w8 : tensor<256x2304xbf16>
  fact.weight @b8 : tensor<256xbf16>
  fact.weight @w9 : tensor<136x576xbf16>
  fact.weight @w10 : tensor<128x64xbf16>
  fact.weight @b10 : tensor<128xbf16>
  fact.weight @w11 : tensor<200x648xbf16>
  fact.weight @b11 : tensor<200xbf16>
  fact.weight @w12 : tensor<136x400xf16>
  fact.weight @b12 : tensor<136xf16>
  fact.weight @w13 : tensor<72x864xbf16>
  fact.weight @b13 : tensor<72xbf16>
  fact.weight @w14 : tensor<136x960xf16>
  fact.weight @b14 : tensor<136xf16>
  fact.weight @w15 : tensor<100x324xf32>
  fact.weight @b15 : tensor<100xf32>
  fact.weight @w16 : tensor<132x960xf32>
  fact.weight @b16 : tensor<132xf32>
  fact.weight @w17 : tensor<100x80xf32>
  fact.weight @b17 : tensor<100xf32>
  fact.weight @w18 : tensor<68x540xf32>
  fact.weight @w19 : tensor<72x576xbf16>
  fact.weight @b19 : tensor<72xbf16>
  fact.weight @w20 : tensor<64x392xbf16>
  fact.weight @b20 : tensor<64xbf16>
  fact.weight @w21 : tensor<64x36xf32>
  fact.weight @b21 : tensor<64xf32>
  fact.weight @w22 : tensor<64x576xbf16>
  fact.weight @b22 : tensor<64xbf16>
  fact.weight @w23 : tensor<3x40x216xbf16>
  fact.weight @w24 : tensor<4x32x288xf32>
  fact.weight @w25 : tensor<2x72x80xf16>
  fact.weight @w26 : tensor<64x196xf32>
  fact.weight @w27 : tensor<72x200xbf16>
  func.func @main(%x0: tensor<7x19x37x72xbf16>, %x1: tensor<7x19x37x72xbf16>, %x2: tensor<7x19x37x72xbf16>, %x3: tensor<7x19x37x72xbf16>, %s3: tensor<7x10x36x200xbf16>, %x4: tensor<3x19x37x200xf16>, %x5: tensor<5x28x28x64xbf16>, %x6: tensor<5x28x28x16xbf16>, %x7: tensor<5x29x31x32xf16>, %x8: tensor<2x7x7x256xbf16>, %x9: tensor<4x14x14x96xbf16>, %x10: tensor<4x28x28x64xbf16>, %x11: tensor<7x301x72xbf16>, %x12: tensor<7x301x80xf16>, %x13: tensor<2x9x13x17x32xbf16>, %x14: tensor<2x9x13x17x40xf16>, %s14: tensor<2x9x7x6x136xf16>, %x15: tensor<7x19x37x36xf32>, %x16: tensor<7x19x37x64xf32>, %s16: tensor<7x9x18x132xf32>, %x17: tensor<7x301x16xf32>, %x18: tensor<2x9x13x17x20xf32>, %x19: tensor<3x18x20x64xbf16>, %x20: tensor<5x30x30x8xbf16>, %x21: tensor<5x30x30x4xf32>, %x22: tensor<11x56x56x64xbf16>, %x23: tensor<5x15x17x72xbf16>, %x24: tensor<5x28x28x128xf32>, %x25: tensor<6x301x32xf16>, %x26: tensor<5x37x184x1xf32>, %x27: tensor<3x20x192x1xbf16>, %t0: tensor<3x2x109x107xf32>, %tw0: tensor<5x18xf32>, %tb0: tensor<5xf32>, %t1: tensor<3x107x109x4xbf16>, %tw1: tensor<24x36xbf16>, %t2: tensor<33001x25xbf16>, %tw2: tensor<25x8xbf16>) -> (tensor<7x19x37x200xbf16>, tensor<7x9x18x200xbf16>, tensor<7x15x33x200xbf16>, tensor<7x10x36x200xbf16>, tensor<3x19x37x136xf16>, tensor<5x28x28x64xbf16>, tensor<5x28x28x64xbf16>, tensor<5x15x16x72xf16>, tensor<2x7x7x256xbf16>, tensor<4x12x12x136xbf16>, tensor<4x14x14x128xbf16>, tensor<7x293x200xbf16>, tensor<7x150x136xf16>, tensor<2x9x13x17x72xbf16>, tensor<2x9x7x6x136xf16>, tensor<7x19x37x100xf32>, tensor<7x9x18x132xf32>, tensor<7x151x100xf32>, tensor<2x9x13x17x68xf32>, tensor<3x18x20x72xbf16>, tensor<72xbf16>, tensor<5x15x15x64xbf16>, tensor<5x30x30x64xf32>, tensor<11x56x56x64xbf16>, tensor<5x8x9x120xbf16>, tensor<5x28x28x128xf32>, tensor<6x301x144xf16>, tensor<5x19x20x64xf32>, tensor<3x16x20x72xbf16>, tensor<3x109x107x5xf32>, tensor<3x24x105x107xbf16>, tensor<33001x8xbf16>) {
    // Odd sizes; taps of 80 channels of which 72 are real.
    %w0 = fact.get_weight @w0 : tensor<200x648xbf16>
    %b0 = fact.get_weight @b0 : tensor<200xbf16>
    %r0 = fact.fused "gemm_epilogue" ins(%x0, %w0, %b0 : tensor<7x19x37x72xbf16>, tensor<200x648xbf16>, tensor<200xbf16>) {
    ^bb0(%i: tensor<7x19x37x72xbf16>, %f: tensor<200x648xbf16>, %b: tensor<200xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<7x1x37x72xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<7x1x37x72xbf16>, tensor<7x19x37x72xbf16>, tensor<7x1x37x72xbf16>) -> tensor<7x21x37x72xbf16>
      %z1a = fact.constant dense<0.0> : tensor<7x21x1x72xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<7x21x1x72xbf16>, tensor<7x21x37x72xbf16>, tensor<7x21x1x72xbf16>) -> tensor<7x21x39x72xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<7x21x39x72xbf16>) -> tensor<7x19x37x3x3x72xbf16>
      %r = fact.reshape %v : (tensor<7x19x37x3x3x72xbf16>) -> tensor<7x19x37x648xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x19x37x648xbf16>, tensor<200x648xbf16>) -> tensor<7x19x37x200xbf16>
      %a = fact.add %m, %b : (tensor<7x19x37x200xbf16>, tensor<200xbf16>) -> tensor<7x19x37x200xbf16>
      %y = fact.relu %a : (tensor<7x19x37x200xbf16>) -> tensor<7x19x37x200xbf16>
      fact.yield %y : tensor<7x19x37x200xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<7x19x37x200xbf16>
    // The same kernels at stride 2, and with zeros behind the image only.
    %w1 = fact.get_weight @w1 : tensor<200x648xbf16>
    %b1 = fact.get_weight @b1 : tensor<200xbf16>
    %r1 = fact.fused "gemm_epilogue" ins(%x1, %w1, %b1 : tensor<7x19x37x72xbf16>, tensor<200x648xbf16>, tensor<200xbf16>) {
    ^bb0(%i: tensor<7x19x37x72xbf16>, %f: tensor<200x648xbf16>, %b: tensor<200xbf16>):
      %z0b = fact.constant dense<0.0> : tensor<7x1x37x72xbf16>
      %p0 = fact.concat %i, %z0b dim 1 : (tensor<7x19x37x72xbf16>, tensor<7x1x37x72xbf16>) -> tensor<7x20x37x72xbf16>
      %z1b = fact.constant dense<0.0> : tensor<7x20x1x72xbf16>
      %p1 = fact.concat %p0, %z1b dim 2 : (tensor<7x20x37x72xbf16>, tensor<7x20x1x72xbf16>) -> tensor<7x20x38x72xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<7x20x38x72xbf16>) -> tensor<7x9x18x3x3x72xbf16>
      %r = fact.reshape %v : (tensor<7x9x18x3x3x72xbf16>) -> tensor<7x9x18x648xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x9x18x648xbf16>, tensor<200x648xbf16>) -> tensor<7x9x18x200xbf16>
      %a = fact.add %m, %b : (tensor<7x9x18x200xbf16>, tensor<200xbf16>) -> tensor<7x9x18x200xbf16>
      %y = fact.relu %a : (tensor<7x9x18x200xbf16>) -> tensor<7x9x18x200xbf16>
      fact.yield %y : tensor<7x9x18x200xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<7x9x18x200xbf16>
    // No padding, dilation 2; cooperative, without a cluster and with one along N.
    %w2 = fact.get_weight @w2 : tensor<200x648xbf16>
    %b2 = fact.get_weight @b2 : tensor<200xbf16>
    %r2 = fact.fused "gemm_epilogue" ins(%x2, %w2, %b2 : tensor<7x19x37x72xbf16>, tensor<200x648xbf16>, tensor<200xbf16>) {
    ^bb0(%i: tensor<7x19x37x72xbf16>, %f: tensor<200x648xbf16>, %b: tensor<200xbf16>):
      %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [2, 2] : (tensor<7x19x37x72xbf16>) -> tensor<7x15x33x3x3x72xbf16>
      %r = fact.reshape %v : (tensor<7x15x33x3x3x72xbf16>) -> tensor<7x15x33x648xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x15x33x648xbf16>, tensor<200x648xbf16>) -> tensor<7x15x33x200xbf16>
      %a = fact.add %m, %b : (tensor<7x15x33x200xbf16>, tensor<200xbf16>) -> tensor<7x15x33x200xbf16>
      %y = fact.relu %a : (tensor<7x15x33x200xbf16>) -> tensor<7x15x33x200xbf16>
      fact.yield %y : tensor<7x15x33x200xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1, 1x2], kernel = [cooperative], swizzle = [1]>) : tensor<7x15x33x200xbf16>
    // 3x5, different zeros on all sides, a residual.
    %w3 = fact.get_weight @w3 : tensor<200x1080xbf16>
    %b3 = fact.get_weight @b3 : tensor<200xbf16>
    %r3 = fact.fused "gemm_epilogue" ins(%x3, %w3, %b3, %s3 : tensor<7x19x37x72xbf16>, tensor<200x1080xbf16>, tensor<200xbf16>, tensor<7x10x36x200xbf16>) {
    ^bb0(%i: tensor<7x19x37x72xbf16>, %f: tensor<200x1080xbf16>, %b: tensor<200xbf16>, %t: tensor<7x10x36x200xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<7x2x37x72xbf16>
      %z0b = fact.constant dense<0.0> : tensor<7x1x37x72xbf16>
      %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<7x2x37x72xbf16>, tensor<7x19x37x72xbf16>, tensor<7x1x37x72xbf16>) -> tensor<7x22x37x72xbf16>
      %z1a = fact.constant dense<0.0> : tensor<7x22x3x72xbf16>
      %z1b = fact.constant dense<0.0> : tensor<7x22x4x72xbf16>
      %p1 = fact.concat %z1a, %p0, %z1b dim 2 : (tensor<7x22x3x72xbf16>, tensor<7x22x37x72xbf16>, tensor<7x22x4x72xbf16>) -> tensor<7x22x44x72xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 5] strides [2, 1] dilations [1, 2] : (tensor<7x22x44x72xbf16>) -> tensor<7x10x36x3x5x72xbf16>
      %r = fact.reshape %v : (tensor<7x10x36x3x5x72xbf16>) -> tensor<7x10x36x1080xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x10x36x1080xbf16>, tensor<200x1080xbf16>) -> tensor<7x10x36x200xbf16>
      %a = fact.add %m, %b : (tensor<7x10x36x200xbf16>, tensor<200xbf16>) -> tensor<7x10x36x200xbf16>
      %q = fact.add %a, %t : (tensor<7x10x36x200xbf16>, tensor<7x10x36x200xbf16>) -> tensor<7x10x36x200xbf16>
      %y = fact.relu %q : (tensor<7x10x36x200xbf16>) -> tensor<7x10x36x200xbf16>
      fact.yield %y : tensor<7x10x36x200xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 256x128x64], cluster = [2x1], kernel = [cooperative], swizzle = [1]>) : tensor<7x10x36x200xbf16>
    // 1x7, more channels than one box has.
    %w4 = fact.get_weight @w4 : tensor<136x1400xf16>
    %b4 = fact.get_weight @b4 : tensor<136xf16>
    %r4 = fact.fused "gemm_epilogue" ins(%x4, %w4, %b4 : tensor<3x19x37x200xf16>, tensor<136x1400xf16>, tensor<136xf16>) {
    ^bb0(%i: tensor<3x19x37x200xf16>, %f: tensor<136x1400xf16>, %b: tensor<136xf16>):
      %z1a = fact.constant dense<0.0> : tensor<3x19x3x200xf16>
      %p1 = fact.concat %z1a, %i, %z1a dim 2 : (tensor<3x19x3x200xf16>, tensor<3x19x37x200xf16>, tensor<3x19x3x200xf16>) -> tensor<3x19x43x200xf16>
      %v = fact.windows %p1 dim 1 kernel [1, 7] strides [1, 1] dilations [1, 1] : (tensor<3x19x43x200xf16>) -> tensor<3x19x37x1x7x200xf16>
      %r = fact.reshape %v : (tensor<3x19x37x1x7x200xf16>) -> tensor<3x19x37x1400xf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<3x19x37x1400xf16>, tensor<136x1400xf16>) -> tensor<3x19x37x136xf16>
      %a = fact.add %m, %b : (tensor<3x19x37x136xf16>, tensor<136xf16>) -> tensor<3x19x37x136xf16>
      %y = fact.relu %a : (tensor<3x19x37x136xf16>) -> tensor<3x19x37x136xf16>
      fact.yield %y : tensor<3x19x37x136xf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64], cluster = [1x2], kernel = [pingpong], swizzle = [1]>) : tensor<3x19x37x136xf16>
    // 64 channels: boxes as wide as a tile of K. 64 filters.
    %w5 = fact.get_weight @w5 : tensor<64x576xbf16>
    %b5 = fact.get_weight @b5 : tensor<64xbf16>
    %r5 = fact.fused "gemm_epilogue" ins(%x5, %w5, %b5 : tensor<5x28x28x64xbf16>, tensor<64x576xbf16>, tensor<64xbf16>) {
    ^bb0(%i: tensor<5x28x28x64xbf16>, %f: tensor<64x576xbf16>, %b: tensor<64xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<5x1x28x64xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<5x1x28x64xbf16>, tensor<5x28x28x64xbf16>, tensor<5x1x28x64xbf16>) -> tensor<5x30x28x64xbf16>
      %z1a = fact.constant dense<0.0> : tensor<5x30x1x64xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<5x30x1x64xbf16>, tensor<5x30x28x64xbf16>, tensor<5x30x1x64xbf16>) -> tensor<5x30x30x64xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<5x30x30x64xbf16>) -> tensor<5x28x28x3x3x64xbf16>
      %r = fact.reshape %v : (tensor<5x28x28x3x3x64xbf16>) -> tensor<5x28x28x576xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<5x28x28x576xbf16>, tensor<64x576xbf16>) -> tensor<5x28x28x64xbf16>
      %a = fact.add %m, %b : (tensor<5x28x28x64xbf16>, tensor<64xbf16>) -> tensor<5x28x28x64xbf16>
      %y = fact.relu %a : (tensor<5x28x28x64xbf16>) -> tensor<5x28x28x64xbf16>
      fact.yield %y : tensor<5x28x28x64xbf16>
    } space(#fact.sm90_gemm_space<tile = [256x64x64, 128x64x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<5x28x28x64xbf16>
    // 16 channels: a tile of K has four taps, the last tile one.
    %w6 = fact.get_weight @w6 : tensor<64x144xbf16>
    %b6 = fact.get_weight @b6 : tensor<64xbf16>
    %r6 = fact.fused "gemm_epilogue" ins(%x6, %w6, %b6 : tensor<5x28x28x16xbf16>, tensor<64x144xbf16>, tensor<64xbf16>) {
    ^bb0(%i: tensor<5x28x28x16xbf16>, %f: tensor<64x144xbf16>, %b: tensor<64xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<5x1x28x16xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<5x1x28x16xbf16>, tensor<5x28x28x16xbf16>, tensor<5x1x28x16xbf16>) -> tensor<5x30x28x16xbf16>
      %z1a = fact.constant dense<0.0> : tensor<5x30x1x16xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<5x30x1x16xbf16>, tensor<5x30x28x16xbf16>, tensor<5x30x1x16xbf16>) -> tensor<5x30x30x16xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<5x30x30x16xbf16>) -> tensor<5x28x28x3x3x16xbf16>
      %r = fact.reshape %v : (tensor<5x28x28x3x3x16xbf16>) -> tensor<5x28x28x144xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<5x28x28x144xbf16>, tensor<64x144xbf16>) -> tensor<5x28x28x64xbf16>
      %a = fact.add %m, %b : (tensor<5x28x28x64xbf16>, tensor<64xbf16>) -> tensor<5x28x28x64xbf16>
      %y = fact.relu %a : (tensor<5x28x28x64xbf16>) -> tensor<5x28x28x64xbf16>
      fact.yield %y : tensor<5x28x28x64xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64, 64x64x64], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<5x28x28x64xbf16>
    // 32 channels, stride 2, and a tile of K with a box that has no tap.
    %w7 = fact.get_weight @w7 : tensor<72x288xf16>
    %b7 = fact.get_weight @b7 : tensor<72xf16>
    %r7 = fact.fused "gemm_epilogue" ins(%x7, %w7, %b7 : tensor<5x29x31x32xf16>, tensor<72x288xf16>, tensor<72xf16>) {
    ^bb0(%i: tensor<5x29x31x32xf16>, %f: tensor<72x288xf16>, %b: tensor<72xf16>):
      %z0a = fact.constant dense<0.0> : tensor<5x1x31x32xf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<5x1x31x32xf16>, tensor<5x29x31x32xf16>, tensor<5x1x31x32xf16>) -> tensor<5x31x31x32xf16>
      %z1a = fact.constant dense<0.0> : tensor<5x31x1x32xf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<5x31x1x32xf16>, tensor<5x31x31x32xf16>, tensor<5x31x1x32xf16>) -> tensor<5x31x33x32xf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<5x31x33x32xf16>) -> tensor<5x15x16x3x3x32xf16>
      %r = fact.reshape %v : (tensor<5x15x16x3x3x32xf16>) -> tensor<5x15x16x288xf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<5x15x16x288xf16>, tensor<72x288xf16>) -> tensor<5x15x16x72xf16>
      %a = fact.add %m, %b : (tensor<5x15x16x72xf16>, tensor<72xf16>) -> tensor<5x15x16x72xf16>
      %y = fact.relu %a : (tensor<5x15x16x72xf16>) -> tensor<5x15x16x72xf16>
      fact.yield %y : tensor<5x15x16x72xf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64, 64x64x128], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<5x15x16x72xf16>
    // Few tiles and a long K, split over blocks.
    %w8 = fact.get_weight @w8 : tensor<256x2304xbf16>
    %b8 = fact.get_weight @b8 : tensor<256xbf16>
    %r8 = fact.fused "gemm_epilogue" ins(%x8, %w8, %b8 : tensor<2x7x7x256xbf16>, tensor<256x2304xbf16>, tensor<256xbf16>) {
    ^bb0(%i: tensor<2x7x7x256xbf16>, %f: tensor<256x2304xbf16>, %b: tensor<256xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<2x1x7x256xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<2x1x7x256xbf16>, tensor<2x7x7x256xbf16>, tensor<2x1x7x256xbf16>) -> tensor<2x9x7x256xbf16>
      %z1a = fact.constant dense<0.0> : tensor<2x9x1x256xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<2x9x1x256xbf16>, tensor<2x9x7x256xbf16>, tensor<2x9x1x256xbf16>) -> tensor<2x9x9x256xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x9x9x256xbf16>) -> tensor<2x7x7x3x3x256xbf16>
      %r = fact.reshape %v : (tensor<2x7x7x3x3x256xbf16>) -> tensor<2x7x7x2304xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<2x7x7x2304xbf16>, tensor<256x2304xbf16>) -> tensor<2x7x7x256xbf16>
      %a = fact.add %m, %b : (tensor<2x7x7x256xbf16>, tensor<256xbf16>) -> tensor<2x7x7x256xbf16>
      %y = fact.relu %a : (tensor<2x7x7x256xbf16>) -> tensor<2x7x7x256xbf16>
      fact.yield %y : tensor<2x7x7x256xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 128x64x64], cluster = [2x1], kernel = [stream_k], swizzle = [1]>) : tensor<2x7x7x256xbf16>
    // A product without an epilogue, of the last channels of an image.
    %w9 = fact.get_weight @w9 : tensor<136x576xbf16>
    %r9 = fact.fused "gemm_epilogue" ins(%x9, %w9 : tensor<4x14x14x96xbf16>, tensor<136x576xbf16>) {
    ^bb0(%i: tensor<4x14x14x96xbf16>, %f: tensor<136x576xbf16>):
      %s = fact.slice %i dim 3 start 32 : (tensor<4x14x14x96xbf16>) -> tensor<4x14x14x64xbf16>
      %v = fact.windows %s dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x14x14x64xbf16>) -> tensor<4x12x12x3x3x64xbf16>
      %r = fact.reshape %v : (tensor<4x12x12x3x3x64xbf16>) -> tensor<4x12x12x576xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<4x12x12x576xbf16>, tensor<136x576xbf16>) -> tensor<4x12x12x136xbf16>
      fact.yield %m : tensor<4x12x12x136xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 128x64x64], cluster = [4x1], kernel = [pingpong], swizzle = [1]>) : tensor<4x12x12x136xbf16>
    // Every second pixel, as a slice would have it.
    %w10 = fact.get_weight @w10 : tensor<128x64xbf16>
    %b10 = fact.get_weight @b10 : tensor<128xbf16>
    %r10 = fact.fused "gemm_epilogue" ins(%x10, %w10, %b10 : tensor<4x28x28x64xbf16>, tensor<128x64xbf16>, tensor<128xbf16>) {
    ^bb0(%i: tensor<4x28x28x64xbf16>, %f: tensor<128x64xbf16>, %b: tensor<128xbf16>):
      %v = fact.windows %i dim 1 kernel [1, 1] strides [2, 2] dilations [1, 1] : (tensor<4x28x28x64xbf16>) -> tensor<4x14x14x1x1x64xbf16>
      %r = fact.reshape %v : (tensor<4x14x14x1x1x64xbf16>) -> tensor<4x14x14x64xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<4x14x14x64xbf16>, tensor<128x64xbf16>) -> tensor<4x14x14x128xbf16>
      %a = fact.add %m, %b : (tensor<4x14x14x128xbf16>, tensor<128xbf16>) -> tensor<4x14x14x128xbf16>
      %y = fact.relu %a : (tensor<4x14x14x128xbf16>) -> tensor<4x14x14x128xbf16>
      fact.yield %y : tensor<4x14x14x128xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<4x14x14x128xbf16>
    // One dimension, windows that overlap.
    %w11 = fact.get_weight @w11 : tensor<200x648xbf16>
    %b11 = fact.get_weight @b11 : tensor<200xbf16>
    %r11 = fact.fused "gemm_epilogue" ins(%x11, %w11, %b11 : tensor<7x301x72xbf16>, tensor<200x648xbf16>, tensor<200xbf16>) {
    ^bb0(%i: tensor<7x301x72xbf16>, %f: tensor<200x648xbf16>, %b: tensor<200xbf16>):
      %v = fact.windows %i dim 1 kernel [9] strides [1] dilations [1] : (tensor<7x301x72xbf16>) -> tensor<7x293x9x72xbf16>
      %r = fact.reshape %v : (tensor<7x293x9x72xbf16>) -> tensor<7x293x648xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x293x648xbf16>, tensor<200x648xbf16>) -> tensor<7x293x200xbf16>
      %a = fact.add %m, %b : (tensor<7x293x200xbf16>, tensor<200xbf16>) -> tensor<7x293x200xbf16>
      %y = fact.relu %a : (tensor<7x293x200xbf16>) -> tensor<7x293x200xbf16>
      fact.yield %y : tensor<7x293x200xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<7x293x200xbf16>
    // One dimension, stride 2, zeros, dilation.
    %w12 = fact.get_weight @w12 : tensor<136x400xf16>
    %b12 = fact.get_weight @b12 : tensor<136xf16>
    %r12 = fact.fused "gemm_epilogue" ins(%x12, %w12, %b12 : tensor<7x301x80xf16>, tensor<136x400xf16>, tensor<136xf16>) {
    ^bb0(%i: tensor<7x301x80xf16>, %f: tensor<136x400xf16>, %b: tensor<136xf16>):
      %z0a = fact.constant dense<0.0> : tensor<7x6x80xf16>
      %z0b = fact.constant dense<0.0> : tensor<7x5x80xf16>
      %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<7x6x80xf16>, tensor<7x301x80xf16>, tensor<7x5x80xf16>) -> tensor<7x312x80xf16>
      %v = fact.windows %p0 dim 1 kernel [5] strides [2] dilations [3] : (tensor<7x312x80xf16>) -> tensor<7x150x5x80xf16>
      %r = fact.reshape %v : (tensor<7x150x5x80xf16>) -> tensor<7x150x400xf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<7x150x400xf16>, tensor<136x400xf16>) -> tensor<7x150x136xf16>
      %a = fact.add %m, %b : (tensor<7x150x136xf16>, tensor<136xf16>) -> tensor<7x150x136xf16>
      %y = fact.relu %a : (tensor<7x150x136xf16>) -> tensor<7x150x136xf16>
      fact.yield %y : tensor<7x150x136xf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 128x64x64], cluster = [2x1], kernel = [cooperative], swizzle = [1]>) : tensor<7x150x136xf16>
    // Three dimensions.
    %w13 = fact.get_weight @w13 : tensor<72x864xbf16>
    %b13 = fact.get_weight @b13 : tensor<72xbf16>
    %r13 = fact.fused "gemm_epilogue" ins(%x13, %w13, %b13 : tensor<2x9x13x17x32xbf16>, tensor<72x864xbf16>, tensor<72xbf16>) {
    ^bb0(%i: tensor<2x9x13x17x32xbf16>, %f: tensor<72x864xbf16>, %b: tensor<72xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<2x1x13x17x32xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<2x1x13x17x32xbf16>, tensor<2x9x13x17x32xbf16>, tensor<2x1x13x17x32xbf16>) -> tensor<2x11x13x17x32xbf16>
      %z1a = fact.constant dense<0.0> : tensor<2x11x1x17x32xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<2x11x1x17x32xbf16>, tensor<2x11x13x17x32xbf16>, tensor<2x11x1x17x32xbf16>) -> tensor<2x11x15x17x32xbf16>
      %z2a = fact.constant dense<0.0> : tensor<2x11x15x1x32xbf16>
      %p2 = fact.concat %z2a, %p1, %z2a dim 3 : (tensor<2x11x15x1x32xbf16>, tensor<2x11x15x17x32xbf16>, tensor<2x11x15x1x32xbf16>) -> tensor<2x11x15x19x32xbf16>
      %v = fact.windows %p2 dim 1 kernel [3, 3, 3] strides [1, 1, 1] dilations [1, 1, 1] : (tensor<2x11x15x19x32xbf16>) -> tensor<2x9x13x17x3x3x3x32xbf16>
      %r = fact.reshape %v : (tensor<2x9x13x17x3x3x3x32xbf16>) -> tensor<2x9x13x17x864xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<2x9x13x17x864xbf16>, tensor<72x864xbf16>) -> tensor<2x9x13x17x72xbf16>
      %a = fact.add %m, %b : (tensor<2x9x13x17x72xbf16>, tensor<72xbf16>) -> tensor<2x9x13x17x72xbf16>
      %y = fact.relu %a : (tensor<2x9x13x17x72xbf16>) -> tensor<2x9x13x17x72xbf16>
      fact.yield %y : tensor<2x9x13x17x72xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<2x9x13x17x72xbf16>
    // Three dimensions, strides, dilations and zeros that differ.
    %w14 = fact.get_weight @w14 : tensor<136x960xf16>
    %b14 = fact.get_weight @b14 : tensor<136xf16>
    %r14 = fact.fused "gemm_epilogue" ins(%x14, %w14, %b14, %s14 : tensor<2x9x13x17x40xf16>, tensor<136x960xf16>, tensor<136xf16>, tensor<2x9x7x6x136xf16>) {
    ^bb0(%i: tensor<2x9x13x17x40xf16>, %f: tensor<136x960xf16>, %b: tensor<136xf16>, %t: tensor<2x9x7x6x136xf16>):
      %z0a = fact.constant dense<0.0> : tensor<2x2x13x17x40xf16>
      %z0b = fact.constant dense<0.0> : tensor<2x1x13x17x40xf16>
      %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<2x2x13x17x40xf16>, tensor<2x9x13x17x40xf16>, tensor<2x1x13x17x40xf16>) -> tensor<2x12x13x17x40xf16>
      %z1b = fact.constant dense<0.0> : tensor<2x12x3x17x40xf16>
      %p1 = fact.concat %p0, %z1b dim 2 : (tensor<2x12x13x17x40xf16>, tensor<2x12x3x17x40xf16>) -> tensor<2x12x16x17x40xf16>
      %z2a = fact.constant dense<0.0> : tensor<2x12x16x5x40xf16>
      %z2b = fact.constant dense<0.0> : tensor<2x12x16x1x40xf16>
      %p2 = fact.concat %z2a, %p1, %z2b dim 3 : (tensor<2x12x16x5x40xf16>, tensor<2x12x16x17x40xf16>, tensor<2x12x16x1x40xf16>) -> tensor<2x12x16x23x40xf16>
      %v = fact.windows %p2 dim 1 kernel [2, 3, 4] strides [1, 2, 3] dilations [3, 1, 2] : (tensor<2x12x16x23x40xf16>) -> tensor<2x9x7x6x2x3x4x40xf16>
      %r = fact.reshape %v : (tensor<2x9x7x6x2x3x4x40xf16>) -> tensor<2x9x7x6x960xf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<2x9x7x6x960xf16>, tensor<136x960xf16>) -> tensor<2x9x7x6x136xf16>
      %a = fact.add %m, %b : (tensor<2x9x7x6x136xf16>, tensor<136xf16>) -> tensor<2x9x7x6x136xf16>
      %q = fact.add %a, %t : (tensor<2x9x7x6x136xf16>, tensor<2x9x7x6x136xf16>) -> tensor<2x9x7x6x136xf16>
      %y = fact.relu %q : (tensor<2x9x7x6x136xf16>) -> tensor<2x9x7x6x136xf16>
      fact.yield %y : tensor<2x9x7x6x136xf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1, 1x2], kernel = [cooperative], swizzle = [1]>) : tensor<2x9x7x6x136xf16>
    // TF32, odd sizes.
    %w15 = fact.get_weight @w15 : tensor<100x324xf32>
    %b15 = fact.get_weight @b15 : tensor<100xf32>
    %r15 = fact.fused "gemm_epilogue" ins(%x15, %w15, %b15 : tensor<7x19x37x36xf32>, tensor<100x324xf32>, tensor<100xf32>) {
    ^bb0(%i: tensor<7x19x37x36xf32>, %f: tensor<100x324xf32>, %b: tensor<100xf32>):
      %z0a = fact.constant dense<0.0> : tensor<7x1x37x36xf32>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<7x1x37x36xf32>, tensor<7x19x37x36xf32>, tensor<7x1x37x36xf32>) -> tensor<7x21x37x36xf32>
      %z1a = fact.constant dense<0.0> : tensor<7x21x1x36xf32>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<7x21x1x36xf32>, tensor<7x21x37x36xf32>, tensor<7x21x1x36xf32>) -> tensor<7x21x39x36xf32>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<7x21x39x36xf32>) -> tensor<7x19x37x3x3x36xf32>
      %r = fact.reshape %v : (tensor<7x19x37x3x3x36xf32>) -> tensor<7x19x37x324xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<7x19x37x324xf32>, tensor<100x324xf32>) -> tensor<7x19x37x100xf32>
      %a = fact.add %m, %b : (tensor<7x19x37x100xf32>, tensor<100xf32>) -> tensor<7x19x37x100xf32>
      %y = fact.relu %a : (tensor<7x19x37x100xf32>) -> tensor<7x19x37x100xf32>
      fact.yield %y : tensor<7x19x37x100xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 64x64x32], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<7x19x37x100xf32>
    // TF32, stride 2, dilation, a residual.
    %w16 = fact.get_weight @w16 : tensor<132x960xf32>
    %b16 = fact.get_weight @b16 : tensor<132xf32>
    %r16 = fact.fused "gemm_epilogue" ins(%x16, %w16, %b16, %s16 : tensor<7x19x37x64xf32>, tensor<132x960xf32>, tensor<132xf32>, tensor<7x9x18x132xf32>) {
    ^bb0(%i: tensor<7x19x37x64xf32>, %f: tensor<132x960xf32>, %b: tensor<132xf32>, %t: tensor<7x9x18x132xf32>):
      %z0a = fact.constant dense<0.0> : tensor<7x1x37x64xf32>
      %z0b = fact.constant dense<0.0> : tensor<7x2x37x64xf32>
      %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<7x1x37x64xf32>, tensor<7x19x37x64xf32>, tensor<7x2x37x64xf32>) -> tensor<7x22x37x64xf32>
      %z1a = fact.constant dense<0.0> : tensor<7x22x2x64xf32>
      %p1 = fact.concat %z1a, %p0 dim 2 : (tensor<7x22x2x64xf32>, tensor<7x22x37x64xf32>) -> tensor<7x22x39x64xf32>
      %v = fact.windows %p1 dim 1 kernel [3, 5] strides [2, 2] dilations [2, 1] : (tensor<7x22x39x64xf32>) -> tensor<7x9x18x3x5x64xf32>
      %r = fact.reshape %v : (tensor<7x9x18x3x5x64xf32>) -> tensor<7x9x18x960xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<7x9x18x960xf32>, tensor<132x960xf32>) -> tensor<7x9x18x132xf32>
      %a = fact.add %m, %b : (tensor<7x9x18x132xf32>, tensor<132xf32>) -> tensor<7x9x18x132xf32>
      %q = fact.add %a, %t : (tensor<7x9x18x132xf32>, tensor<7x9x18x132xf32>) -> tensor<7x9x18x132xf32>
      %y = fact.relu %q : (tensor<7x9x18x132xf32>) -> tensor<7x9x18x132xf32>
      fact.yield %y : tensor<7x9x18x132xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32], cluster = [1x2, 1x1], kernel = [cooperative], swizzle = [1]>) : tensor<7x9x18x132xf32>
    // TF32, one and three dimensions.
    %w17 = fact.get_weight @w17 : tensor<100x80xf32>
    %b17 = fact.get_weight @b17 : tensor<100xf32>
    %r17 = fact.fused "gemm_epilogue" ins(%x17, %w17, %b17 : tensor<7x301x16xf32>, tensor<100x80xf32>, tensor<100xf32>) {
    ^bb0(%i: tensor<7x301x16xf32>, %f: tensor<100x80xf32>, %b: tensor<100xf32>):
      %z0a = fact.constant dense<0.0> : tensor<7x2x16xf32>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<7x2x16xf32>, tensor<7x301x16xf32>, tensor<7x2x16xf32>) -> tensor<7x305x16xf32>
      %v = fact.windows %p0 dim 1 kernel [5] strides [2] dilations [1] : (tensor<7x305x16xf32>) -> tensor<7x151x5x16xf32>
      %r = fact.reshape %v : (tensor<7x151x5x16xf32>) -> tensor<7x151x80xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<7x151x80xf32>, tensor<100x80xf32>) -> tensor<7x151x100xf32>
      %a = fact.add %m, %b : (tensor<7x151x100xf32>, tensor<100xf32>) -> tensor<7x151x100xf32>
      %y = fact.relu %a : (tensor<7x151x100xf32>) -> tensor<7x151x100xf32>
      fact.yield %y : tensor<7x151x100xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x64x32], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<7x151x100xf32>
    %w18 = fact.get_weight @w18 : tensor<68x540xf32>
    %r18 = fact.fused "gemm_epilogue" ins(%x18, %w18 : tensor<2x9x13x17x20xf32>, tensor<68x540xf32>) {
    ^bb0(%i: tensor<2x9x13x17x20xf32>, %f: tensor<68x540xf32>):
      %z0a = fact.constant dense<0.0> : tensor<2x1x13x17x20xf32>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<2x1x13x17x20xf32>, tensor<2x9x13x17x20xf32>, tensor<2x1x13x17x20xf32>) -> tensor<2x11x13x17x20xf32>
      %z1a = fact.constant dense<0.0> : tensor<2x11x1x17x20xf32>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<2x11x1x17x20xf32>, tensor<2x11x13x17x20xf32>, tensor<2x11x1x17x20xf32>) -> tensor<2x11x15x17x20xf32>
      %z2a = fact.constant dense<0.0> : tensor<2x11x15x1x20xf32>
      %p2 = fact.concat %z2a, %p1, %z2a dim 3 : (tensor<2x11x15x1x20xf32>, tensor<2x11x15x17x20xf32>, tensor<2x11x15x1x20xf32>) -> tensor<2x11x15x19x20xf32>
      %v = fact.windows %p2 dim 1 kernel [3, 3, 3] strides [1, 1, 1] dilations [1, 1, 1] : (tensor<2x11x15x19x20xf32>) -> tensor<2x9x13x17x3x3x3x20xf32>
      %r = fact.reshape %v : (tensor<2x9x13x17x3x3x3x20xf32>) -> tensor<2x9x13x17x540xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<2x9x13x17x540xf32>, tensor<68x540xf32>) -> tensor<2x9x13x17x68xf32>
      fact.yield %m : tensor<2x9x13x17x68xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x64x64], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<2x9x13x17x68xf32>
    // Sums of each filter's results, as batch statistics need them.
    %w19 = fact.get_weight @w19 : tensor<72x576xbf16>
    %b19 = fact.get_weight @b19 : tensor<72xbf16>
    %r19:2 = fact.fused "gemm_epilogue" ins(%x19, %w19, %b19 : tensor<3x18x20x64xbf16>, tensor<72x576xbf16>, tensor<72xbf16>) {
    ^bb0(%i: tensor<3x18x20x64xbf16>, %f: tensor<72x576xbf16>, %b: tensor<72xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<3x1x20x64xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<3x1x20x64xbf16>, tensor<3x18x20x64xbf16>, tensor<3x1x20x64xbf16>) -> tensor<3x20x20x64xbf16>
      %z1a = fact.constant dense<0.0> : tensor<3x20x1x64xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<3x20x1x64xbf16>, tensor<3x20x20x64xbf16>, tensor<3x20x1x64xbf16>) -> tensor<3x20x22x64xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<3x20x22x64xbf16>) -> tensor<3x18x20x3x3x64xbf16>
      %r = fact.reshape %v : (tensor<3x18x20x3x3x64xbf16>) -> tensor<3x18x20x576xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<3x18x20x576xbf16>, tensor<72x576xbf16>) -> tensor<3x18x20x72xbf16>
      %a = fact.add %m, %b : (tensor<3x18x20x72xbf16>, tensor<72xbf16>) -> tensor<3x18x20x72xbf16>
      %u = fact.reduce sum %a dims [0, 1, 2] : (tensor<3x18x20x72xbf16>) -> tensor<72xbf16>
      fact.yield %a, %u : tensor<3x18x20x72xbf16>, tensor<72xbf16>
    } space(#fact.sm90_gemm_space<tile = [64x128x64, 64x64x64], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<3x18x20x72xbf16>, tensor<72xbf16>
    // Lines of 16 bytes: a tile of K has eight taps.
    %w20 = fact.get_weight @w20 : tensor<64x392xbf16>
    %b20 = fact.get_weight @b20 : tensor<64xbf16>
    %r20 = fact.fused "gemm_epilogue" ins(%x20, %w20, %b20 : tensor<5x30x30x8xbf16>, tensor<64x392xbf16>, tensor<64xbf16>) {
    ^bb0(%i: tensor<5x30x30x8xbf16>, %f: tensor<64x392xbf16>, %b: tensor<64xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<5x3x30x8xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<5x3x30x8xbf16>, tensor<5x30x30x8xbf16>, tensor<5x3x30x8xbf16>) -> tensor<5x36x30x8xbf16>
      %z1a = fact.constant dense<0.0> : tensor<5x36x3x8xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<5x36x3x8xbf16>, tensor<5x36x30x8xbf16>, tensor<5x36x3x8xbf16>) -> tensor<5x36x36x8xbf16>
      %v = fact.windows %p1 dim 1 kernel [7, 7] strides [2, 2] dilations [1, 1] : (tensor<5x36x36x8xbf16>) -> tensor<5x15x15x7x7x8xbf16>
      %r = fact.reshape %v : (tensor<5x15x15x7x7x8xbf16>) -> tensor<5x15x15x392xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<5x15x15x392xbf16>, tensor<64x392xbf16>) -> tensor<5x15x15x64xbf16>
      %a = fact.add %m, %b : (tensor<5x15x15x64xbf16>, tensor<64xbf16>) -> tensor<5x15x15x64xbf16>
      %y = fact.relu %a : (tensor<5x15x15x64xbf16>) -> tensor<5x15x15x64xbf16>
      fact.yield %y : tensor<5x15x15x64xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<5x15x15x64xbf16>
    %w21 = fact.get_weight @w21 : tensor<64x36xf32>
    %b21 = fact.get_weight @b21 : tensor<64xf32>
    %r21 = fact.fused "gemm_epilogue" ins(%x21, %w21, %b21 : tensor<5x30x30x4xf32>, tensor<64x36xf32>, tensor<64xf32>) {
    ^bb0(%i: tensor<5x30x30x4xf32>, %f: tensor<64x36xf32>, %b: tensor<64xf32>):
      %z0a = fact.constant dense<0.0> : tensor<5x1x30x4xf32>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<5x1x30x4xf32>, tensor<5x30x30x4xf32>, tensor<5x1x30x4xf32>) -> tensor<5x32x30x4xf32>
      %z1a = fact.constant dense<0.0> : tensor<5x32x1x4xf32>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<5x32x1x4xf32>, tensor<5x32x30x4xf32>, tensor<5x32x1x4xf32>) -> tensor<5x32x32x4xf32>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<5x32x32x4xf32>) -> tensor<5x30x30x3x3x4xf32>
      %r = fact.reshape %v : (tensor<5x30x30x3x3x4xf32>) -> tensor<5x30x30x36xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<5x30x30x36xf32>, tensor<64x36xf32>) -> tensor<5x30x30x64xf32>
      %a = fact.add %m, %b : (tensor<5x30x30x64xf32>, tensor<64xf32>) -> tensor<5x30x30x64xf32>
      %y = fact.relu %a : (tensor<5x30x30x64xf32>) -> tensor<5x30x30x64xf32>
      fact.yield %y : tensor<5x30x30x64xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x64x32], cluster = [1x2], kernel = [pingpong], swizzle = [1]>) : tensor<5x30x30x64xf32>
    // The space that the family gives.
    %w22 = fact.get_weight @w22 : tensor<64x576xbf16>
    %b22 = fact.get_weight @b22 : tensor<64xbf16>
    %r22 = fact.fused "gemm_epilogue" ins(%x22, %w22, %b22 : tensor<11x56x56x64xbf16>, tensor<64x576xbf16>, tensor<64xbf16>) {
    ^bb0(%i: tensor<11x56x56x64xbf16>, %f: tensor<64x576xbf16>, %b: tensor<64xbf16>):
      %z0a = fact.constant dense<0.0> : tensor<11x1x56x64xbf16>
      %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<11x1x56x64xbf16>, tensor<11x56x56x64xbf16>, tensor<11x1x56x64xbf16>) -> tensor<11x58x56x64xbf16>
      %z1a = fact.constant dense<0.0> : tensor<11x58x1x64xbf16>
      %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<11x58x1x64xbf16>, tensor<11x58x56x64xbf16>, tensor<11x58x1x64xbf16>) -> tensor<11x58x58x64xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<11x58x58x64xbf16>) -> tensor<11x56x56x3x3x64xbf16>
      %r = fact.reshape %v : (tensor<11x56x56x3x3x64xbf16>) -> tensor<11x56x56x576xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<11x56x56x576xbf16>, tensor<64x576xbf16>) -> tensor<11x56x56x64xbf16>
      %a = fact.add %m, %b : (tensor<11x56x56x64xbf16>, tensor<64xbf16>) -> tensor<11x56x56x64xbf16>
      %y = fact.relu %a : (tensor<11x56x56x64xbf16>) -> tensor<11x56x56x64xbf16>
      fact.yield %y : tensor<11x56x56x64xbf16>
    } : tensor<11x56x56x64xbf16>
    // Three groups of 24 channels: TMA fills each up with zeros, not with its neighbor.
    %w23 = fact.get_weight @w23 : tensor<3x40x216xbf16>
    %r23 = fact.fused "gemm_epilogue" ins(%x23, %w23 : tensor<5x15x17x72xbf16>, tensor<3x40x216xbf16>) {
    ^bb0(%i: tensor<5x15x17x72xbf16>, %f: tensor<3x40x216xbf16>):
      %s = fact.reshape %i : (tensor<5x15x17x72xbf16>) -> tensor<5x15x17x3x24xbf16>
      %g = fact.permute %s [3, 0, 1, 2, 4] : (tensor<5x15x17x3x24xbf16>) -> tensor<3x5x15x17x24xbf16>
      %z0 = fact.constant dense<0.0> : tensor<3x5x1x17x24xbf16>
      %p0 = fact.concat %z0, %g, %z0 dim 2 : (tensor<3x5x1x17x24xbf16>, tensor<3x5x15x17x24xbf16>, tensor<3x5x1x17x24xbf16>) -> tensor<3x5x17x17x24xbf16>
      %z1 = fact.constant dense<0.0> : tensor<3x5x17x1x24xbf16>
      %p1 = fact.concat %z1, %p0, %z1 dim 3 : (tensor<3x5x17x1x24xbf16>, tensor<3x5x17x17x24xbf16>, tensor<3x5x17x1x24xbf16>) -> tensor<3x5x17x19x24xbf16>
      %v = fact.windows %p1 dim 2 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<3x5x17x19x24xbf16>) -> tensor<3x5x8x9x3x3x24xbf16>
      %r = fact.reshape %v : (tensor<3x5x8x9x3x3x24xbf16>) -> tensor<3x360x216xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<3x360x216xbf16>, tensor<3x40x216xbf16>) -> tensor<3x360x40xbf16>
      %a = fact.relu %m : (tensor<3x360x40xbf16>) -> tensor<3x360x40xbf16>
      %b = fact.reshape %a : (tensor<3x360x40xbf16>) -> tensor<3x5x8x9x40xbf16>
      %l = fact.permute %b [1, 2, 3, 0, 4] : (tensor<3x5x8x9x40xbf16>) -> tensor<5x8x9x3x40xbf16>
      %y = fact.reshape %l : (tensor<5x8x9x3x40xbf16>) -> tensor<5x8x9x120xbf16>
      fact.yield %y : tensor<5x8x9x120xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64, 64x64x64], cluster = [2x1], kernel = [pingpong], swizzle = [1]>) : tensor<5x8x9x120xbf16>
    // TF32, groups that fill whole lines.
    %w24 = fact.get_weight @w24 : tensor<4x32x288xf32>
    %r24 = fact.fused "gemm_epilogue" ins(%x24, %w24 : tensor<5x28x28x128xf32>, tensor<4x32x288xf32>) {
    ^bb0(%i: tensor<5x28x28x128xf32>, %f: tensor<4x32x288xf32>):
      %s = fact.reshape %i : (tensor<5x28x28x128xf32>) -> tensor<5x28x28x4x32xf32>
      %g = fact.permute %s [3, 0, 1, 2, 4] : (tensor<5x28x28x4x32xf32>) -> tensor<4x5x28x28x32xf32>
      %z0 = fact.constant dense<0.0> : tensor<4x5x1x28x32xf32>
      %p0 = fact.concat %z0, %g, %z0 dim 2 : (tensor<4x5x1x28x32xf32>, tensor<4x5x28x28x32xf32>, tensor<4x5x1x28x32xf32>) -> tensor<4x5x30x28x32xf32>
      %z1 = fact.constant dense<0.0> : tensor<4x5x30x1x32xf32>
      %p1 = fact.concat %z1, %p0, %z1 dim 3 : (tensor<4x5x30x1x32xf32>, tensor<4x5x30x28x32xf32>, tensor<4x5x30x1x32xf32>) -> tensor<4x5x30x30x32xf32>
      %v = fact.windows %p1 dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x5x30x30x32xf32>) -> tensor<4x5x28x28x3x3x32xf32>
      %r = fact.reshape %v : (tensor<4x5x28x28x3x3x32xf32>) -> tensor<4x3920x288xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<4x3920x288xf32>, tensor<4x32x288xf32>) -> tensor<4x3920x32xf32>
      %a = fact.relu %m : (tensor<4x3920x32xf32>) -> tensor<4x3920x32xf32>
      %b = fact.reshape %a : (tensor<4x3920x32xf32>) -> tensor<4x5x28x28x32xf32>
      %l = fact.permute %b [1, 2, 3, 0, 4] : (tensor<4x5x28x28x32xf32>) -> tensor<5x28x28x4x32xf32>
      %y = fact.reshape %l : (tensor<5x28x28x4x32xf32>) -> tensor<5x28x28x128xf32>
      fact.yield %y : tensor<5x28x28x128xf32>
    } space(#fact.sm90_gemm_space<tile = [256x32x32, 128x32x32], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<5x28x28x128xf32>
    // One dimension in groups.
    %w25 = fact.get_weight @w25 : tensor<2x72x80xf16>
    %r25 = fact.fused "gemm_epilogue" ins(%x25, %w25 : tensor<6x301x32xf16>, tensor<2x72x80xf16>) {
    ^bb0(%i: tensor<6x301x32xf16>, %f: tensor<2x72x80xf16>):
      %s = fact.reshape %i : (tensor<6x301x32xf16>) -> tensor<6x301x2x16xf16>
      %g = fact.permute %s [2, 0, 1, 3] : (tensor<6x301x2x16xf16>) -> tensor<2x6x301x16xf16>
      %z0 = fact.constant dense<0.0> : tensor<2x6x2x16xf16>
      %p0 = fact.concat %z0, %g, %z0 dim 2 : (tensor<2x6x2x16xf16>, tensor<2x6x301x16xf16>, tensor<2x6x2x16xf16>) -> tensor<2x6x305x16xf16>
      %v = fact.windows %p0 dim 2 kernel [5] strides [1] dilations [1] : (tensor<2x6x305x16xf16>) -> tensor<2x6x301x5x16xf16>
      %r = fact.reshape %v : (tensor<2x6x301x5x16xf16>) -> tensor<2x1806x80xf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<2x1806x80xf16>, tensor<2x72x80xf16>) -> tensor<2x1806x72xf16>
      %a = fact.relu %m : (tensor<2x1806x72xf16>) -> tensor<2x1806x72xf16>
      %b = fact.reshape %a : (tensor<2x1806x72xf16>) -> tensor<2x6x301x72xf16>
      %l = fact.permute %b [1, 2, 0, 3] : (tensor<2x6x301x72xf16>) -> tensor<6x301x2x72xf16>
      %y = fact.reshape %l : (tensor<6x301x2x72xf16>) -> tensor<6x301x144xf16>
      fact.yield %y : tensor<6x301x144xf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64], cluster = [1x2, 1x1], kernel = [pingpong], swizzle = [1]>) : tensor<6x301x144xf16>
    // Joined taps: 7 pixels of 4 channels are one run, and runs overlap.
    %w26 = fact.get_weight @w26 : tensor<64x196xf32>
    %r26 = fact.fused "gemm_epilogue" ins(%x26, %w26 : tensor<5x37x184x1xf32>, tensor<64x196xf32>) {
    ^bb0(%i: tensor<5x37x184x1xf32>, %f: tensor<64x196xf32>):
      %z = fact.constant dense<0.0> : tensor<5x3x184x1xf32>
      %p = fact.concat %z, %i, %z dim 1 : (tensor<5x3x184x1xf32>, tensor<5x37x184x1xf32>, tensor<5x3x184x1xf32>) -> tensor<5x43x184x1xf32>
      %v = fact.windows %p dim 1 kernel [7, 28] strides [2, 8] dilations [1, 1] : (tensor<5x43x184x1xf32>) -> tensor<5x19x20x7x28x1xf32>
      %r = fact.reshape %v : (tensor<5x19x20x7x28x1xf32>) -> tensor<5x19x20x196xf32>
      %m = fact.matmul %r, %f transpose_b tf32 : (tensor<5x19x20x196xf32>, tensor<64x196xf32>) -> tensor<5x19x20x64xf32>
      %y = fact.relu %m : (tensor<5x19x20x64xf32>) -> tensor<5x19x20x64xf32>
      fact.yield %y : tensor<5x19x20x64xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x64x32], cluster = [1x1], kernel = [pingpong], swizzle = [1]>) : tensor<5x19x20x64xf32>
    %w27 = fact.get_weight @w27 : tensor<72x200xbf16>
    %r27 = fact.fused "gemm_epilogue" ins(%x27, %w27 : tensor<3x20x192x1xbf16>, tensor<72x200xbf16>) {
    ^bb0(%i: tensor<3x20x192x1xbf16>, %f: tensor<72x200xbf16>):
      %v = fact.windows %i dim 1 kernel [5, 40] strides [1, 8] dilations [1, 1] : (tensor<3x20x192x1xbf16>) -> tensor<3x16x20x5x40x1xbf16>
      %r = fact.reshape %v : (tensor<3x16x20x5x40x1xbf16>) -> tensor<3x16x20x200xbf16>
      %m = fact.matmul %r, %f transpose_b : (tensor<3x16x20x200xbf16>, tensor<72x200xbf16>) -> tensor<3x16x20x72xbf16>
      fact.yield %m : tensor<3x16x20x72xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x64x64], cluster = [2x1, 1x1], kernel = [pingpong], swizzle = [1]>) : tensor<3x16x20x72xbf16>
    // Few filters: rows of channels that lie first, of channels that lie last, and of memory.
    %t_0 = fact.fused "thin_gemm" ins(%t0, %tw0, %tb0 : tensor<3x2x109x107xf32>, tensor<5x18xf32>, tensor<5xf32>) {
    ^bb0(%a: tensor<3x2x109x107xf32>, %c: tensor<5x18xf32>, %d: tensor<5xf32>):
      %p = fact.permute %a [0, 2, 3, 1] : (tensor<3x2x109x107xf32>) -> tensor<3x109x107x2xf32>
      %rows = fact.constant dense<0.0> : tensor<3x1x107x2xf32>
      %h = fact.concat %rows, %p, %rows dim 1 : (tensor<3x1x107x2xf32>, tensor<3x109x107x2xf32>, tensor<3x1x107x2xf32>) -> tensor<3x111x107x2xf32>
      %columns = fact.constant dense<0.0> : tensor<3x111x1x2xf32>
      %i = fact.concat %columns, %h, %columns dim 2 : (tensor<3x111x1x2xf32>, tensor<3x111x107x2xf32>, tensor<3x111x1x2xf32>) -> tensor<3x111x109x2xf32>
      %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<3x111x109x2xf32>) -> tensor<3x109x107x3x3x2xf32>
      %s = fact.reshape %v : (tensor<3x109x107x3x3x2xf32>) -> tensor<3x109x107x18xf32>
      %1 = fact.matmul %s, %c transpose_b : (tensor<3x109x107x18xf32>, tensor<5x18xf32>) -> tensor<3x109x107x5xf32>
      %2 = fact.add %1, %d : (tensor<3x109x107x5xf32>, tensor<5xf32>) -> tensor<3x109x107x5xf32>
      fact.yield %2 : tensor<3x109x107x5xf32>
    } : tensor<3x109x107x5xf32>
    %t_1 = fact.fused "thin_gemm" ins(%t1, %tw1 : tensor<3x107x109x4xbf16>, tensor<24x36xbf16>) {
    ^bb0(%a: tensor<3x107x109x4xbf16>, %c: tensor<24x36xbf16>):
      %v = fact.windows %a dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<3x107x109x4xbf16>) -> tensor<3x105x107x3x3x4xbf16>
      %s = fact.reshape %v : (tensor<3x105x107x3x3x4xbf16>) -> tensor<3x105x107x36xbf16>
      %1 = fact.matmul %s, %c transpose_b : (tensor<3x105x107x36xbf16>, tensor<24x36xbf16>) -> tensor<3x105x107x24xbf16>
      %2 = fact.relu %1 : (tensor<3x105x107x24xbf16>) -> tensor<3x105x107x24xbf16>
      %3 = fact.permute %2 [0, 3, 1, 2] : (tensor<3x105x107x24xbf16>) -> tensor<3x24x105x107xbf16>
      fact.yield %3 : tensor<3x24x105x107xbf16>
    } : tensor<3x24x105x107xbf16>
    %t_2 = fact.fused "thin_gemm" ins(%t2, %tw2 : tensor<33001x25xbf16>, tensor<25x8xbf16>) {
    ^bb0(%a: tensor<33001x25xbf16>, %c: tensor<25x8xbf16>):
      %1 = fact.matmul %a, %c : (tensor<33001x25xbf16>, tensor<25x8xbf16>) -> tensor<33001x8xbf16>
      fact.yield %1 : tensor<33001x8xbf16>
    } : tensor<33001x8xbf16>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19#0, %r19#1, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %t_0, %t_1, %t_2 : tensor<7x19x37x200xbf16>, tensor<7x9x18x200xbf16>, tensor<7x15x33x200xbf16>, tensor<7x10x36x200xbf16>, tensor<3x19x37x136xf16>, tensor<5x28x28x64xbf16>, tensor<5x28x28x64xbf16>, tensor<5x15x16x72xf16>, tensor<2x7x7x256xbf16>, tensor<4x12x12x136xbf16>, tensor<4x14x14x128xbf16>, tensor<7x293x200xbf16>, tensor<7x150x136xf16>, tensor<2x9x13x17x72xbf16>, tensor<2x9x7x6x136xf16>, tensor<7x19x37x100xf32>, tensor<7x9x18x132xf32>, tensor<7x151x100xf32>, tensor<2x9x13x17x68xf32>, tensor<3x18x20x72xbf16>, tensor<72xbf16>, tensor<5x15x15x64xbf16>, tensor<5x30x30x64xf32>, tensor<11x56x56x64xbf16>, tensor<5x8x9x120xbf16>, tensor<5x28x28x128xf32>, tensor<6x301x144xf16>, tensor<5x19x20x64xf32>, tensor<3x16x20x72xbf16>, tensor<3x109x107x5xf32>, tensor<3x24x105x107xbf16>, tensor<33001x8xbf16>
  }
}
