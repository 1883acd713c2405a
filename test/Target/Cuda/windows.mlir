// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// A 3x3 convolution of every second pixel, with a bias and a ReLU. 72 channels
// lie in three boxes of 32, so that K is 9 * 96.

// CHECK:      #include "fact/cutlass/Windows.cuh"
// CHECK:      using Kernel = Gemm<
// CHECK-NEXT:     Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT:     Windows<0, bf16, 32, Size(4), Size(5), Size(6), Size(7),
// CHECK-NEXT:             WindowDim<Size(8), Size(9), Size(10), Size(11), Size(12), Size(13), Size(14)>,
// CHECK-NEXT:             WindowDim<Size(15), Size(16), Size(17), Size(18), Size(19), Size(20), Size(21)>>,
// CHECK-NEXT:     ColumnMajor<1, bf16, Size(22), Size(23), Size(24)>,
// CHECK-NEXT:     Operands<RowVector<2, bf16, Size(25), Size(26)>>,
// CHECK-NEXT:     Results<Result<Epilogue, RowMajor<3, bf16, Size(27), Size(28), Size(29)>>>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<Size(30)>>>;
// CHECK:      // sizes of gemm_epilogue_0: 1330, 200, 864, 1, 72, 7, 50616, 0, 19, 2664, 1, 10, 3, 2, 1, 37, 72, 1, 19, 3, 2, 1, 648, 0, 0, 0, 0, 200, 0, 0, 1
func.func @strided(%x: tensor<7x19x37x72xbf16>, %w: tensor<200x648xbf16>, %b: tensor<200xbf16>) -> tensor<7x10x19x200xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<7x19x37x72xbf16>, tensor<200x648xbf16>, tensor<200xbf16>) {
  ^bb0(%i: tensor<7x19x37x72xbf16>, %f: tensor<200x648xbf16>, %b: tensor<200xbf16>):
    %z0a = fact.constant dense<0.0> : tensor<7x1x37x72xbf16>
    %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<7x1x37x72xbf16>, tensor<7x19x37x72xbf16>, tensor<7x1x37x72xbf16>) -> tensor<7x21x37x72xbf16>
    %z1a = fact.constant dense<0.0> : tensor<7x21x1x72xbf16>
    %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<7x21x1x72xbf16>, tensor<7x21x37x72xbf16>, tensor<7x21x1x72xbf16>) -> tensor<7x21x39x72xbf16>
    %v = fact.windows %p1 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<7x21x39x72xbf16>) -> tensor<7x10x19x3x3x72xbf16>
    %r = fact.reshape %v : (tensor<7x10x19x3x3x72xbf16>) -> tensor<7x10x19x648xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<7x10x19x648xbf16>, tensor<200x648xbf16>) -> tensor<7x10x19x200xbf16>
    %a = fact.add %m, %b : (tensor<7x10x19x200xbf16>, tensor<200xbf16>) -> tensor<7x10x19x200xbf16>
    %y = fact.relu %a : (tensor<7x10x19x200xbf16>) -> tensor<7x10x19x200xbf16>
    fact.yield %y : tensor<7x10x19x200xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<7x10x19x200xbf16>
  return %r : tensor<7x10x19x200xbf16>
}

// -----

// Three dimensions of f32 as TF32, with different strides, dilations and zeros.

// CHECK:      #include "fact/cutlass/Windows.cuh"
// CHECK:      using Kernel = Gemm<
// CHECK-NEXT:     Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT:     Windows<0, f32, 32, Size(4), Size(5), Size(6), Size(7),
// CHECK-COUNT-3:  WindowDim<
// CHECK-NEXT:     ColumnMajor<1, f32,
// CHECK:          GemmSchedule<Tile<128, 64, 32>, Cluster<1, 1>, Cooperative,
// CHECK:      // sizes of gemm_epilogue_0: 756, 136, 1536, 1, 48, 2, 95472, 0, 9, 10608, 2, 9, 2, 1, 3, 13, 816, 0, 7, 3, 2, 1, 17, 48, 5, 6, 4, 3, 2, 1152,
func.func @tf32(%x: tensor<2x9x13x17x48xf32>, %w: tensor<136x1152xf32>) -> tensor<2x9x7x6x136xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x9x13x17x48xf32>, tensor<136x1152xf32>) {
  ^bb0(%i: tensor<2x9x13x17x48xf32>, %f: tensor<136x1152xf32>):
    %z0a = fact.constant dense<0.0> : tensor<2x2x13x17x48xf32>
    %z0b = fact.constant dense<0.0> : tensor<2x1x13x17x48xf32>
    %p0 = fact.concat %z0a, %i, %z0b dim 1 : (tensor<2x2x13x17x48xf32>, tensor<2x9x13x17x48xf32>, tensor<2x1x13x17x48xf32>) -> tensor<2x12x13x17x48xf32>
    %z1b = fact.constant dense<0.0> : tensor<2x12x3x17x48xf32>
    %p1 = fact.concat %p0, %z1b dim 2 : (tensor<2x12x13x17x48xf32>, tensor<2x12x3x17x48xf32>) -> tensor<2x12x16x17x48xf32>
    %z2a = fact.constant dense<0.0> : tensor<2x12x16x5x48xf32>
    %z2b = fact.constant dense<0.0> : tensor<2x12x16x1x48xf32>
    %p2 = fact.concat %z2a, %p1, %z2b dim 3 : (tensor<2x12x16x5x48xf32>, tensor<2x12x16x17x48xf32>, tensor<2x12x16x1x48xf32>) -> tensor<2x12x16x23x48xf32>
    %v = fact.windows %p2 dim 1 kernel [2, 3, 4] strides [1, 2, 3] dilations [3, 1, 2] : (tensor<2x12x16x23x48xf32>) -> tensor<2x9x7x6x2x3x4x48xf32>
    %r = fact.reshape %v : (tensor<2x9x7x6x2x3x4x48xf32>) -> tensor<2x9x7x6x1152xf32>
    %m = fact.matmul %r, %f transpose_b tf32 : (tensor<2x9x7x6x1152xf32>, tensor<136x1152xf32>) -> tensor<2x9x7x6x136xf32>
    fact.yield %m : tensor<2x9x7x6x136xf32>
  } schedule(#fact.sm90_gemm<tile = 128x64x32, cluster = 1x1, kernel = cooperative, swizzle = 1>) : tensor<2x9x7x6x136xf32>
  return %r : tensor<2x9x7x6x136xf32>
}

// -----

// Windows of one dimension without zeros: strides describe them, but not as a
// matrix.

// CHECK:      Windows<0, f16, 64, Size(4), Size(5), Size(6), Size(7),
// CHECK-NEXT:             WindowDim<Size(8), Size(9), Size(10), Size(11), Size(12), Size(13), Size(14)>>,
// CHECK:      // sizes of gemm_epilogue_0: 2051, 200, 576, 1, 64, 7, 19264, 0, 301, 64, 0, 293, 9, 1, 1, 576,
func.func @overlapping(%x: tensor<7x301x64xf16>, %w: tensor<200x576xf16>, %b: tensor<200xf16>) -> tensor<7x293x200xf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<7x301x64xf16>, tensor<200x576xf16>, tensor<200xf16>) {
  ^bb0(%i: tensor<7x301x64xf16>, %f: tensor<200x576xf16>, %b: tensor<200xf16>):
    %v = fact.windows %i dim 1 kernel [9] strides [1] dilations [1] : (tensor<7x301x64xf16>) -> tensor<7x293x9x64xf16>
    %r = fact.reshape %v : (tensor<7x293x9x64xf16>) -> tensor<7x293x576xf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<7x293x576xf16>, tensor<200x576xf16>) -> tensor<7x293x200xf16>
    %a = fact.add %m, %b : (tensor<7x293x200xf16>, tensor<200xf16>) -> tensor<7x293x200xf16>
    %y = fact.relu %a : (tensor<7x293x200xf16>) -> tensor<7x293x200xf16>
    fact.yield %y : tensor<7x293x200xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<7x293x200xf16>
  return %r : tensor<7x293x200xf16>
}

// -----

// A reduction has its sizes in the text.

// CHECK:      Problem<1080, 72, 576, 1>,
// CHECK-NEXT:     Windows<0, bf16, 64, 64, 3, 23040, 0,
// CHECK-NEXT:             WindowDim<18, 1280, 1, 18, 3, 1, 1>,
// CHECK-NEXT:             WindowDim<20, 64, 1, 20, 3, 1, 1>>,
// CHECK:      ColumnEpilogue<
func.func @sums(%x: tensor<3x18x20x64xbf16>, %w: tensor<72x576xbf16>, %b: tensor<72xbf16>) -> (tensor<3x18x20x72xbf16>, tensor<72xbf16>) {
  %r:2 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<3x18x20x64xbf16>, tensor<72x576xbf16>, tensor<72xbf16>) {
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
  } schedule(#fact.sm90_gemm<tile = 64x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<3x18x20x72xbf16>, tensor<72xbf16>
  return %r#0, %r#1 : tensor<3x18x20x72xbf16>, tensor<72xbf16>
}

// -----

// Every second pixel, which the canonical form of a 1x1 convolution slices: each
// row is a window of one tap.

// CHECK:      Windows<0, bf16, 64, Size(4), Size(5), Size(6), Size(7),
// CHECK:      // sizes of gemm_epilogue_0: 784, 128, 64, 1, 64, 4, 50176, 0, 14, 3584, 0, 14, 1, 1, 1, 14, 128, 0, 14, 1, 1, 1, 64,
func.func @slices(%x: tensor<4x28x28x64xbf16>, %w: tensor<128x64xbf16>) -> tensor<4x14x14x128xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<4x28x28x64xbf16>, tensor<128x64xbf16>) {
  ^bb0(%i: tensor<4x28x28x64xbf16>, %f: tensor<128x64xbf16>):
    %0 = fact.slice %i dim 1 start 0 step 2 : (tensor<4x28x28x64xbf16>) -> tensor<4x14x28x64xbf16>
    %1 = fact.slice %0 dim 2 start 0 step 2 : (tensor<4x14x28x64xbf16>) -> tensor<4x14x14x64xbf16>
    %m = fact.matmul %1, %f transpose_b : (tensor<4x14x14x64xbf16>, tensor<128x64xbf16>) -> tensor<4x14x14x128xbf16>
    fact.yield %m : tensor<4x14x14x128xbf16>
  } : tensor<4x14x14x128xbf16>
  return %r : tensor<4x14x14x128xbf16>
}

// -----

// The default space has no tile wider than the filters.

// CHECK:      Windows<0, bf16, 64,
// CHECK:      GemmSchedule<Tile<{{128|256}}, 64, 64>,
func.func @filters(%x: tensor<64x56x56x64xbf16>, %w: tensor<64x576xbf16>, %b: tensor<64xbf16>) -> tensor<64x56x56x64xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<64x56x56x64xbf16>, tensor<64x576xbf16>, tensor<64xbf16>) {
  ^bb0(%i: tensor<64x56x56x64xbf16>, %f: tensor<64x576xbf16>, %b: tensor<64xbf16>):
    %z0a = fact.constant dense<0.0> : tensor<64x1x56x64xbf16>
    %p0 = fact.concat %z0a, %i, %z0a dim 1 : (tensor<64x1x56x64xbf16>, tensor<64x56x56x64xbf16>, tensor<64x1x56x64xbf16>) -> tensor<64x58x56x64xbf16>
    %z1a = fact.constant dense<0.0> : tensor<64x58x1x64xbf16>
    %p1 = fact.concat %z1a, %p0, %z1a dim 2 : (tensor<64x58x1x64xbf16>, tensor<64x58x56x64xbf16>, tensor<64x58x1x64xbf16>) -> tensor<64x58x58x64xbf16>
    %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<64x58x58x64xbf16>) -> tensor<64x56x56x3x3x64xbf16>
    %r = fact.reshape %v : (tensor<64x56x56x3x3x64xbf16>) -> tensor<64x56x56x576xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<64x56x56x576xbf16>, tensor<64x576xbf16>) -> tensor<64x56x56x64xbf16>
    %a = fact.add %m, %b : (tensor<64x56x56x64xbf16>, tensor<64xbf16>) -> tensor<64x56x56x64xbf16>
    %y = fact.relu %a : (tensor<64x56x56x64xbf16>) -> tensor<64x56x56x64xbf16>
    fact.yield %y : tensor<64x56x56x64xbf16>
  } : tensor<64x56x56x64xbf16>
  return %r : tensor<64x56x56x64xbf16>
}

// -----

// Groups of channels are batches: they take the place of images, and the images
// are a dimension of windows.

// CHECK:      Windows<0, bf16, 16, Size(4), Size(5), Size(6), Size(7),
// CHECK-COUNT-3:  WindowDim<
// CHECK-NEXT:     ColumnMajor<1, bf16, Size(29), Size(30), Size(31)>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Results<Result<Identity, RowMajor<2, bf16, Size(32), Size(33), Size(34)>>>,
// CHECK:      // sizes of gemm_epilogue_0: 160, 24, 144, 2, 16, 2, 16, 0, 2, 3200, 0, 2, 1, 1, 1, 10, 320, 1, 10, 3, 1, 1, 10, 32, 0, 8, 3, 1, 1, 144, 3456, 0, 48, 24, 0, 1
func.func @groups(%x: tensor<2x10x10x32xbf16>, %w: tensor<2x24x144xbf16>) -> tensor<2x10x8x48xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x10x10x32xbf16>, tensor<2x24x144xbf16>) {
  ^bb0(%i: tensor<2x10x10x32xbf16>, %f: tensor<2x24x144xbf16>):
    %s = fact.reshape %i : (tensor<2x10x10x32xbf16>) -> tensor<2x10x10x2x16xbf16>
    %p = fact.permute %s [3, 0, 1, 2, 4] : (tensor<2x10x10x2x16xbf16>) -> tensor<2x2x10x10x16xbf16>
    %z = fact.constant dense<0.0> : tensor<2x2x1x10x16xbf16>
    %c = fact.concat %z, %p, %z dim 2 : (tensor<2x2x1x10x16xbf16>, tensor<2x2x10x10x16xbf16>, tensor<2x2x1x10x16xbf16>) -> tensor<2x2x12x10x16xbf16>
    %v = fact.windows %c dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x2x12x10x16xbf16>) -> tensor<2x2x10x8x3x3x16xbf16>
    %r = fact.reshape %v : (tensor<2x2x10x8x3x3x16xbf16>) -> tensor<2x160x144xbf16>
    %m = fact.matmul %r, %f transpose_b : (tensor<2x160x144xbf16>, tensor<2x24x144xbf16>) -> tensor<2x160x24xbf16>
    %a = fact.reshape %m : (tensor<2x160x24xbf16>) -> tensor<2x2x10x8x24xbf16>
    %l = fact.permute %a [1, 2, 3, 0, 4] : (tensor<2x2x10x8x24xbf16>) -> tensor<2x10x8x2x24xbf16>
    %y = fact.reshape %l : (tensor<2x10x8x2x24xbf16>) -> tensor<2x10x8x48xbf16>
    fact.yield %y : tensor<2x10x8x48xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x32x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x10x8x48xbf16>
  return %r : tensor<2x10x8x48xbf16>
}
