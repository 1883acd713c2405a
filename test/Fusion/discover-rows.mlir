// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" --split-input-file | FileCheck %s

// The logarithm of a softmax reads its rows once.

// CHECK-LABEL: func.func @log_softmax
// CHECK: fact.fused "reduction"
// CHECK: fact.reduce max
// CHECK: fact.reduce sum
// CHECK: cuda_reduction_space
// CHECK-NOT: fact.fused
func.func @log_softmax(%x: tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16> {
  %1 = fact.reduce max %x dims [1] keep : (tensor<8192x4096xbf16>) -> tensor<8192x1xbf16>
  %2 = fact.sub %x, %1 : (tensor<8192x4096xbf16>, tensor<8192x1xbf16>) -> tensor<8192x4096xbf16>
  %3 = fact.exp %2 : (tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
  %4 = fact.reduce sum %3 dims [1] keep : (tensor<8192x4096xbf16>) -> tensor<8192x1xbf16>
  %5 = fact.log %4 : (tensor<8192x1xbf16>) -> tensor<8192x1xbf16>
  %6 = fact.sub %2, %5 : (tensor<8192x4096xbf16>, tensor<8192x1xbf16>) -> tensor<8192x4096xbf16>
  return %6 : tensor<8192x4096xbf16>
}

// -----

// A group norm with its weights, and a layer norm over channels that are not
// the last dimension in memory, are one kernel each.

// CHECK-LABEL: func.func @group_norm
// CHECK: fact.fused "rowwise"
// CHECK: fact.norm
// CHECK: fact.mul
// CHECK: cuda_row_space
// CHECK-NOT: fact.fused
func.func @group_norm(%x: tensor<64x8192xbf16>, %w: tensor<8192xbf16>) -> tensor<64x8192xbf16> {
  %0 = fact.reshape %x : (tensor<64x8192xbf16>) -> tensor<64x256x32xbf16>
  %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<64x256x32xbf16>) -> tensor<64x256x32xbf16>
  %2 = fact.reshape %1 : (tensor<64x256x32xbf16>) -> tensor<64x8192xbf16>
  %3 = fact.mul %2, %w : (tensor<64x8192xbf16>, tensor<8192xbf16>) -> tensor<64x8192xbf16>
  return %3 : tensor<64x8192xbf16>
}

// -----

// CHECK-LABEL: func.func @channel_norm
// CHECK: fact.fused "reduction"
// CHECK: fact.permute
// CHECK: fact.norm
// CHECK: fact.permute
// CHECK: cuda_reduction_space
// CHECK-NOT: fact.fused
func.func @channel_norm(%x: tensor<64x96x56x56xbf16>, %w: tensor<96xbf16>) -> tensor<64x96x56x56xbf16> {
  %0 = fact.permute %x [0, 2, 3, 1] : (tensor<64x96x56x56xbf16>) -> tensor<64x56x56x96xbf16>
  %1 = fact.norm layer %0 weight %w eps 1.0e-5 : (tensor<64x56x56x96xbf16>, tensor<96xbf16>) -> tensor<64x56x56x96xbf16>
  %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<64x56x56x96xbf16>) -> tensor<64x96x56x56xbf16>
  return %2 : tensor<64x96x56x56xbf16>
}

// -----

// Rows of heads that are permuted are read where they lie.

// CHECK-LABEL: func.func @heads
// CHECK: fact.fused "rowwise" ins(%arg0
// CHECK: fact.permute
// CHECK: fact.norm
// CHECK-NOT: fact.fused
func.func @heads(%x: tensor<4x128x8x64xbf16>, %w: tensor<64xbf16>) -> tensor<4x8x128x64xbf16> {
  %0 = fact.permute %x [0, 2, 1, 3] : (tensor<4x128x8x64xbf16>) -> tensor<4x8x128x64xbf16>
  %1 = fact.norm rms %0 weight %w eps 1.0e-6 : (tensor<4x8x128x64xbf16>, tensor<64xbf16>) -> tensor<4x8x128x64xbf16>
  return %1 : tensor<4x8x128x64xbf16>
}

// -----

// A softmax over the channels of images, as --fact-normalize-rows permutes it.

// CHECK-LABEL: func.func @channel_softmax
// CHECK: fact.fused "reduction"
// CHECK: fact.permute
// CHECK: fact.softmax
// CHECK: fact.permute
// CHECK: cuda_reduction_space
// CHECK-NOT: fact.fused
func.func @channel_softmax(%x: tensor<4x64x32x32xbf16>) -> tensor<4x64x32x32xbf16> {
  %0 = fact.permute %x [0, 2, 3, 1] : (tensor<4x64x32x32xbf16>) -> tensor<4x32x32x64xbf16>
  %1 = fact.softmax %0 dim 3 : tensor<4x32x32x64xbf16>
  %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<4x32x32x64xbf16>) -> tensor<4x64x32x32xbf16>
  return %2 : tensor<4x64x32x32xbf16>
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// An instance norm after channels last would store each element into a sector of its own: rows are reduced as they
// are stored, and the convolution writes them so.

// CHECK-LABEL: func.func @instance_norm(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.add
// CHECK:         fact.permute
// CHECK:       fact.fused "rowwise"
// CHECK:         fact.norm
// CHECK:         fact.compare
// CHECK:         fact.select
// CHECK-NOT:   fact.fused
func.func @instance_norm(%x: tensor<32x56x56x64xf32>, %w: tensor<64x576xf32>, %b: tensor<64xf32>) -> tensor<32x64x2916xf32> {
  %v = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<32x56x56x64xf32>) -> tensor<32x54x54x3x3x64xf32>
  %r = fact.reshape %v : (tensor<32x54x54x3x3x64xf32>) -> tensor<32x54x54x576xf32>
  %m = fact.matmul %r, %w transpose_b tf32 : (tensor<32x54x54x576xf32>, tensor<64x576xf32>) -> tensor<32x54x54x64xf32>
  %1 = fact.add %m, %b : (tensor<32x54x54x64xf32>, tensor<64xf32>) -> tensor<32x54x54x64xf32>
  %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<32x54x54x64xf32>) -> tensor<32x64x54x54xf32>
  %3 = fact.reshape %2 : (tensor<32x64x54x54xf32>) -> tensor<32x64x2916xf32>
  %4 = fact.norm layer %3 eps 1.000000e-05 : (tensor<32x64x2916xf32>) -> tensor<32x64x2916xf32>
  // A leaky ReLU: its mask joins the kernel with the select.
  %c = fact.constant dense<0.01> : tensor<f32>
  %5 = fact.mul %4, %c : (tensor<32x64x2916xf32>, tensor<f32>) -> tensor<32x64x2916xf32>
  %z = fact.constant dense<0.0> : tensor<f32>
  %6 = fact.compare gt %4, %z : (tensor<32x64x2916xf32>, tensor<f32>) -> tensor<32x64x2916xi1>
  %7 = fact.select %6, %4, %5 : (tensor<32x64x2916xi1>, tensor<32x64x2916xf32>, tensor<32x64x2916xf32>) -> tensor<32x64x2916xf32>
  return %7 : tensor<32x64x2916xf32>
}
}

// -----

// A mask that batches share is read with the rows; scores are not stored twice.

// CHECK-LABEL: func.func @masked_softmax
// CHECK: fact.fused "rowwise"
// CHECK: fact.select
// CHECK: fact.softmax
// CHECK: cuda_row_space
// CHECK-NOT: fact.fused
func.func @masked_softmax(%x: tensor<4x16x1024x1024xbf16>, %m: tensor<1024x1024xi1>) -> tensor<4x16x1024x1024xbf16> {
  %c = fact.constant dense<-3.0e38> : tensor<bf16>
  %0 = fact.select %m, %c, %x : (tensor<1024x1024xi1>, tensor<bf16>, tensor<4x16x1024x1024xbf16>) -> tensor<4x16x1024x1024xbf16>
  %1 = fact.softmax %0 dim 3 : tensor<4x16x1024x1024xbf16>
  return %1 : tensor<4x16x1024x1024xbf16>
}

// -----

// Scores of windows: the mask is one per window of an image, and the softmax is
// over windows of all images.

// CHECK-LABEL: func.func @windows_of_images
// CHECK: fact.fused "rowwise"
// CHECK: fact.add
// CHECK: fact.softmax
// CHECK: cuda_row_space
// CHECK-NOT: fact.fused
func.func @windows_of_images(%x: tensor<512x3x49x49xbf16>, %m: tensor<64x1x49x49xbf16>) -> tensor<512x3x49x49xbf16> {
  %0 = fact.reshape %x : (tensor<512x3x49x49xbf16>) -> tensor<8x64x3x49x49xbf16>
  %1 = fact.add %0, %m : (tensor<8x64x3x49x49xbf16>, tensor<64x1x49x49xbf16>) -> tensor<8x64x3x49x49xbf16>
  %2 = fact.reshape %1 : (tensor<8x64x3x49x49xbf16>) -> tensor<512x3x49x49xbf16>
  %3 = fact.softmax %2 dim 3 : tensor<512x3x49x49xbf16>
  return %3 : tensor<512x3x49x49xbf16>
}

// -----

// Reductions that share a permute each read through it: nothing is transposed in memory.

// CHECK-LABEL: func.func @min_max_scaled
// CHECK-NOT: fact.fused "pointwise"
// CHECK: fact.fused "reduction"
// CHECK-NOT: fact.fused "pointwise"
// CHECK: return
func.func @min_max_scaled(%x: tensor<32x512x1024xbf16>) -> tensor<32x512x1024xbf16> {
  %0 = fact.permute %x [0, 2, 1] : (tensor<32x512x1024xbf16>) -> tensor<32x1024x512xbf16>
  %1 = fact.reduce min %0 dims [2] : (tensor<32x1024x512xbf16>) -> tensor<32x1024xbf16>
  %2 = fact.reshape %1 : (tensor<32x1024xbf16>) -> tensor<32x1x1024xbf16>
  %3 = fact.sub %x, %2 : (tensor<32x512x1024xbf16>, tensor<32x1x1024xbf16>) -> tensor<32x512x1024xbf16>
  %4 = fact.reduce max %0 dims [2] : (tensor<32x1024x512xbf16>) -> tensor<32x1024xbf16>
  %5 = fact.reshape %4 : (tensor<32x1024xbf16>) -> tensor<32x1x1024xbf16>
  %6 = fact.sub %5, %2 : (tensor<32x1x1024xbf16>, tensor<32x1x1024xbf16>) -> tensor<32x1x1024xbf16>
  %7 = fact.div %3, %6 : (tensor<32x512x1024xbf16>, tensor<32x1x1024xbf16>) -> tensor<32x512x1024xbf16>
  return %7 : tensor<32x512x1024xbf16>
}

// -----

// Dimensions that have another between them are reduced where they are.

// CHECK-LABEL: func.func @around
// CHECK: fact.fused "reduction"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.permute
// CHECK-NEXT: fact.reduce sum
// CHECK-NOT: fact.fused
func.func @around(%x: tensor<32x512x1024xbf16>) -> tensor<512xbf16> {
  %0 = fact.permute %x [1, 0, 2] : (tensor<32x512x1024xbf16>) -> tensor<512x32x1024xbf16>
  %1 = fact.reduce sum %0 dims [1, 2] : (tensor<512x32x1024xbf16>) -> tensor<512xbf16>
  return %1 : tensor<512xbf16>
}
