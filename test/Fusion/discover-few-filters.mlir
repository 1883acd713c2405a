// RUN: fact-opt --fact-discover="target=h200" --split-input-file %s | FileCheck %s

// The first convolution of a network: few channels, which TMA does not load. Threads read the image as it
// is, and no windows are stored.
// CHECK-LABEL: func @first
// CHECK: fact.fused "thin_gemm" ins(%arg0
// CHECK: fact.permute
// CHECK: fact.windows
// CHECK: fact.matmul
// CHECK: fact.tanh
// CHECK-NOT: fact.fused
// CHECK: return
fact.weight @w : tensor<6x27xf32>
func.func @first(%x: tensor<64x3x128x128xf32>) -> tensor<64x126x126x6xf32> {
  %w = fact.get_weight @w : tensor<6x27xf32>
  %0 = fact.permute %x [0, 2, 3, 1] : (tensor<64x3x128x128xf32>) -> tensor<64x128x128x3xf32>
  %1 = fact.windows %0 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<64x128x128x3xf32>) -> tensor<64x126x126x3x3x3xf32>
  %2 = fact.reshape %1 : (tensor<64x126x126x3x3x3xf32>) -> tensor<64x126x126x27xf32>
  %3 = fact.matmul %2, %w transpose_b tf32 : (tensor<64x126x126x27xf32>, tensor<6x27xf32>) -> tensor<64x126x126x6xf32>
  %4 = fact.tanh %3 : (tensor<64x126x126x6xf32>) -> tensor<64x126x126x6xf32>
  return %4 : tensor<64x126x126x6xf32>
}

// -----

// The last one: its kernel can store three filters with channels first only, and reads windows then.
// CHECK-LABEL: func @last
// CHECK: fact.fused "gemm_epilogue" ins(%arg0
// CHECK: fact.windows
// CHECK: fact.matmul
// CHECK: fact.permute
// CHECK-NOT: fact.fused
// CHECK: return
fact.weight @w : tensor<3x1152xf32>
func.func @last(%x: tensor<16x66x66x128xf32>) -> tensor<16x3x64x64xf32> {
  %w = fact.get_weight @w : tensor<3x1152xf32>
  %0 = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<16x66x66x128xf32>) -> tensor<16x64x64x3x3x128xf32>
  %1 = fact.reshape %0 : (tensor<16x64x64x3x3x128xf32>) -> tensor<16x64x64x1152xf32>
  %2 = fact.matmul %1, %w transpose_b tf32 : (tensor<16x64x64x1152xf32>, tensor<3x1152xf32>) -> tensor<16x64x64x3xf32>
  %3 = fact.permute %2 [0, 3, 1, 2] : (tensor<16x64x64x3xf32>) -> tensor<16x3x64x64xf32>
  return %3 : tensor<16x3x64x64xf32>
}
