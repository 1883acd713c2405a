// RUN: fact-opt %s -fact-discover=target=h200 -split-input-file | FileCheck %s
// RUN: fact-opt %s -fact-discover=target=sm_80 -split-input-file | FileCheck %s --check-prefix=COPIED

// TMA reads channels by 16 bytes. Thirty are filled up, and the filters too, when they are loaded.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.prepare
// CHECK:         fact.concat {{.+}} dim 2 : (tensor<48x9x30xf32>, tensor<48x9x2xf32>) -> tensor<48x9x32xf32>
// CHECK:       fact.fused "concat"
// CHECK:         fact.concat {{.+}} dim 3 : (tensor<8x28x28x30xf32>, tensor<8x28x28x2xf32>) -> tensor<8x28x28x32xf32>
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.windows {{.+}} -> tensor<8x28x28x3x3x32xf32>
// CHECK:         fact.matmul {{.+}} (tensor<8x28x28x288xf32>, tensor<48x288xf32>) -> tensor<8x28x28x48xf32>

// COPIED-LABEL: func.func @main(
// COPIED-NOT:   32xf32
fact.weight @w : tensor<48x270xf32>
func.func @main(%x: tensor<8x28x28x30xf32>) -> tensor<8x28x28x48xf32> {
  %w = fact.get_weight @w : tensor<48x270xf32>
  %z0 = fact.constant dense<0.0> : tensor<8x1x28x30xf32>
  %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<8x1x28x30xf32>, tensor<8x28x28x30xf32>, tensor<8x1x28x30xf32>) -> tensor<8x30x28x30xf32>
  %z1 = fact.constant dense<0.0> : tensor<8x30x1x30xf32>
  %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<8x30x1x30xf32>, tensor<8x30x28x30xf32>, tensor<8x30x1x30xf32>) -> tensor<8x30x30x30xf32>
  %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x30x30x30xf32>) -> tensor<8x28x28x3x3x30xf32>
  %r = fact.reshape %v : (tensor<8x28x28x3x3x30xf32>) -> tensor<8x28x28x270xf32>
  %m = fact.matmul %r, %w transpose_b tf32 : (tensor<8x28x28x270xf32>, tensor<48x270xf32>) -> tensor<8x28x28x48xf32>
  return %m : tensor<8x28x28x48xf32>
}

// -----

// Of three channels and large windows, the taps of a row are joined. Zeros above and below the
// image stay what TMA adds.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.prepare
// CHECK:         fact.concat {{.+}} dim 2 : (tensor<64x49x3xf32>, tensor<64x49x1xf32>) -> tensor<64x49x4xf32>
// CHECK:         fact.concat {{.+}} -> tensor<32x64x64x4xf32>
// CHECK:         fact.concat {{.+}} -> tensor<32x64x70x4xf32>
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.concat {{.+}} dim 1 : {{.+}} -> tensor<32x70x280x1xf32>
// CHECK:         fact.windows {{.+}} dim 1 kernel [7, 28] strides [2, 8] dilations [1, 1] : (tensor<32x70x280x1xf32>) -> tensor<32x32x32x7x28x1xf32>
// CHECK:         fact.matmul {{.+}} (tensor<32x32x32x196xf32>, tensor<64x196xf32>) -> tensor<32x32x32x64xf32>
fact.weight @w : tensor<64x147xf32>
func.func @main(%x: tensor<32x64x64x3xf32>) -> tensor<32x32x32x64xf32> {
  %w = fact.get_weight @w : tensor<64x147xf32>
  %z0 = fact.constant dense<0.0> : tensor<32x3x64x3xf32>
  %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<32x3x64x3xf32>, tensor<32x64x64x3xf32>, tensor<32x3x64x3xf32>) -> tensor<32x70x64x3xf32>
  %z1 = fact.constant dense<0.0> : tensor<32x70x3x3xf32>
  %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<32x70x3x3xf32>, tensor<32x70x64x3xf32>, tensor<32x70x3x3xf32>) -> tensor<32x70x70x3xf32>
  %v = fact.windows %p1 dim 1 kernel [7, 7] strides [2, 2] dilations [1, 1] : (tensor<32x70x70x3xf32>) -> tensor<32x32x32x7x7x3xf32>
  %r = fact.reshape %v : (tensor<32x32x32x7x7x3xf32>) -> tensor<32x32x32x147xf32>
  %m = fact.matmul %r, %w transpose_b tf32 : (tensor<32x32x32x147xf32>, tensor<64x147xf32>) -> tensor<32x32x32x64xf32>
  return %m : tensor<32x32x32x64xf32>
}

// -----

// Small windows of three channels are copied, and so are strict products.

// CHECK-LABEL: func.func @main(
// CHECK-NOT:   fact.prepare
// CHECK:       fact.matmul {{.+}} (tensor<8x62x62x27xf32>, tensor<64x27xf32>)
// CHECK:       fact.matmul {{.+}} (tensor<8x26x26x270xf32>, tensor<64x270xf32>)
fact.weight @w : tensor<64x27xf32>
fact.weight @u : tensor<64x270xf32>
func.func @main(%x: tensor<8x64x64x3xf32>, %y: tensor<8x28x28x30xf32>) -> (tensor<8x62x62x64xf32>, tensor<8x26x26x64xf32>) {
  %w = fact.get_weight @w : tensor<64x27xf32>
  %v = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x64x64x3xf32>) -> tensor<8x62x62x3x3x3xf32>
  %r = fact.reshape %v : (tensor<8x62x62x3x3x3xf32>) -> tensor<8x62x62x27xf32>
  %m = fact.matmul %r, %w transpose_b tf32 : (tensor<8x62x62x27xf32>, tensor<64x27xf32>) -> tensor<8x62x62x64xf32>
  %u = fact.get_weight @u : tensor<64x270xf32>
  %t = fact.windows %y dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x28x28x30xf32>) -> tensor<8x26x26x3x3x30xf32>
  %s = fact.reshape %t : (tensor<8x26x26x3x3x30xf32>) -> tensor<8x26x26x270xf32>
  %n = fact.matmul %s, %u transpose_b : (tensor<8x26x26x270xf32>, tensor<64x270xf32>) -> tensor<8x26x26x64xf32>
  return %m, %n : tensor<8x62x62x64xf32>, tensor<8x26x26x64xf32>
}

// -----

// Filters that were already prepared, and groups that are too wide to be joined.

// CHECK-LABEL: func.func @main(
// CHECK:       %[[W:.+]]:2 = fact.prepare
// CHECK:         fact.concat {{.+}} dim 3 : (tensor<2x512x9x508xbf16>, tensor<2x512x9x4xbf16>) -> tensor<2x512x9x512xbf16>
// CHECK:       fact.windows {{.+}} -> tensor<2x64x54x54x3x3x512xbf16>
fact.weight @w : tensor<2x512x4572xbf16>
func.func @main(%x: tensor<2x64x56x56x508xbf16>) -> (tensor<2x186624x512xbf16>, tensor<2x512x4572xbf16>) {
  %f = fact.prepare {
    %0 = fact.get_weight @w : tensor<2x512x4572xbf16>
    %1 = fact.exp %0 : (tensor<2x512x4572xbf16>) -> tensor<2x512x4572xbf16>
    fact.yield %1 : tensor<2x512x4572xbf16>
  } : tensor<2x512x4572xbf16>
  %v = fact.windows %x dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x64x56x56x508xbf16>) -> tensor<2x64x54x54x3x3x508xbf16>
  %r = fact.reshape %v : (tensor<2x64x54x54x3x3x508xbf16>) -> tensor<2x186624x4572xbf16>
  %m = fact.matmul %r, %f transpose_b : (tensor<2x186624x4572xbf16>, tensor<2x512x4572xbf16>) -> tensor<2x186624x512xbf16>
  %n = fact.neg %f : (tensor<2x512x4572xbf16>) -> tensor<2x512x4572xbf16>
  return %m, %n : tensor<2x186624x512xbf16>, tensor<2x512x4572xbf16>
}

// -----

// Neither 52 filters nor the 3025 pixels of an image are multiples of 16 bytes: filters are filled up too, and a pass
// leaves them out as it transposes.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.prepare
// CHECK:         fact.concat {{.+}} dim 2 : (tensor<52x9x36xbf16>, tensor<52x9x4xbf16>) -> tensor<52x9x40xbf16>
// CHECK:         fact.concat {{.+}} dim 0 : (tensor<52x360xbf16>, tensor<4x360xbf16>) -> tensor<56x360xbf16>
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.windows {{.+}} -> tensor<16x55x55x3x3x40xbf16>
// CHECK:         fact.matmul {{.+}} (tensor<16x55x55x360xbf16>, tensor<56x360xbf16>) -> tensor<16x55x55x56xbf16>
// CHECK:       fact.fused "pointwise"
// CHECK:         fact.slice {{.+}} dim 3 start 0 : (tensor<16x55x55x56xbf16>) -> tensor<16x55x55x52xbf16>
// CHECK:         fact.add
// CHECK:         fact.permute
// CHECK-NOT:   fact.fused
fact.weight @w : tensor<52x324xbf16>
fact.weight @b : tensor<52xbf16>
func.func @main(%x: tensor<16x55x55x36xbf16>) -> tensor<16x52x55x55xbf16> {
  %w = fact.get_weight @w : tensor<52x324xbf16>
  %b = fact.get_weight @b : tensor<52xbf16>
  %z0 = fact.constant dense<0.0> : tensor<16x1x55x36xbf16>
  %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<16x1x55x36xbf16>, tensor<16x55x55x36xbf16>, tensor<16x1x55x36xbf16>) -> tensor<16x57x55x36xbf16>
  %z1 = fact.constant dense<0.0> : tensor<16x57x1x36xbf16>
  %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<16x57x1x36xbf16>, tensor<16x57x55x36xbf16>, tensor<16x57x1x36xbf16>) -> tensor<16x57x57x36xbf16>
  %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<16x57x57x36xbf16>) -> tensor<16x55x55x3x3x36xbf16>
  %r = fact.reshape %v : (tensor<16x55x55x3x3x36xbf16>) -> tensor<16x55x55x324xbf16>
  %m = fact.matmul %r, %w transpose_b : (tensor<16x55x55x324xbf16>, tensor<52x324xbf16>) -> tensor<16x55x55x52xbf16>
  %s = fact.add %m, %b : (tensor<16x55x55x52xbf16>, tensor<52xbf16>) -> tensor<16x55x55x52xbf16>
  %t = fact.permute %s [0, 3, 1, 2] : (tensor<16x55x55x52xbf16>) -> tensor<16x52x55x55xbf16>
  return %t : tensor<16x52x55x55xbf16>
}

// -----

// Channels first, the pixels of an image are a multiple: the kernel stores 50 filters.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.matmul {{.+}} (tensor<8x28x28x324xf32>, tensor<50x324xf32>) -> tensor<8x28x28x50xf32>
// CHECK:         fact.permute
// CHECK-NOT:   fact.fused
fact.weight @w : tensor<50x324xf32>
func.func @main(%x: tensor<8x30x30x36xf32>) -> tensor<8x50x28x28xf32> {
  %w = fact.get_weight @w : tensor<50x324xf32>
  %v = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x30x30x36xf32>) -> tensor<8x28x28x3x3x36xf32>
  %r = fact.reshape %v : (tensor<8x28x28x3x3x36xf32>) -> tensor<8x28x28x324xf32>
  %m = fact.matmul %r, %w transpose_b tf32 : (tensor<8x28x28x324xf32>, tensor<50x324xf32>) -> tensor<8x28x28x50xf32>
  %t = fact.permute %m [0, 3, 1, 2] : (tensor<8x28x28x50xf32>) -> tensor<8x50x28x28xf32>
  return %t : tensor<8x50x28x28xf32>
}
