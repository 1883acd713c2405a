// RUN: fact-opt %s --fact-discover=target=h200 | FileCheck %s
// RUN: fact-opt %s --fact-discover=target=host | FileCheck %s

// Each convolution of a padded image reads the image itself: the padding is not
// written to memory, neither that of one dimension nor that of two.

// CHECK-LABEL: func @shared(
// CHECK-SAME:    %[[X:.*]]: tensor<2x16x16x64xf32>
// CHECK:         fact.fused "gemm_epilogue" ins(%[[X]], %{{.*}} : tensor<2x16x16x64xf32>, tensor<32x128xf32>)
// CHECK:           fact.concat %{{.*}} dim 1
// CHECK-NEXT:      fact.windows %{{.*}} kernel [2, 1]
// CHECK:         fact.fused "gemm_epilogue" ins(%[[X]], %{{.*}} : tensor<2x16x16x64xf32>, tensor<32x128xf32>)
// CHECK:           fact.concat %{{.*}} dim 1
// CHECK-NEXT:      fact.windows %{{.*}} dilations [2, 1]
// CHECK:         fact.fused "gemm_epilogue" ins(%[[X]], %{{.*}} : tensor<2x16x16x64xf32>, tensor<32x256xf32>)
// CHECK:           fact.concat %{{.*}} dim 1
// CHECK:           fact.concat %{{.*}} dim 2
// CHECK-NEXT:      fact.windows %{{.*}} kernel [2, 2]
// CHECK-NOT:     fact.fused
// CHECK:         return
func.func @shared(%x: tensor<2x16x16x64xf32>, %v: tensor<32x128xf32>, %w: tensor<32x256xf32>)
    -> (tensor<2x17x16x32xf32>, tensor<2x16x16x32xf32>, tensor<2x17x17x32xf32>) {
  %row = fact.constant dense<0.0> : tensor<2x1x16x64xf32>
  %rows = fact.concat %row, %x, %row dim 1 : (tensor<2x1x16x64xf32>, tensor<2x16x16x64xf32>, tensor<2x1x16x64xf32>) -> tensor<2x18x16x64xf32>
  %0 = fact.windows %rows dim 1 kernel [2, 1] strides [1, 1] dilations [1, 1] : (tensor<2x18x16x64xf32>) -> tensor<2x17x16x2x1x64xf32>
  %1 = fact.reshape %0 : (tensor<2x17x16x2x1x64xf32>) -> tensor<2x17x16x128xf32>
  %2 = fact.matmul %1, %v transpose_b tf32 : (tensor<2x17x16x128xf32>, tensor<32x128xf32>) -> tensor<2x17x16x32xf32>
  %3 = fact.windows %rows dim 1 kernel [2, 1] strides [1, 1] dilations [2, 1] : (tensor<2x18x16x64xf32>) -> tensor<2x16x16x2x1x64xf32>
  %4 = fact.reshape %3 : (tensor<2x16x16x2x1x64xf32>) -> tensor<2x16x16x128xf32>
  %5 = fact.matmul %4, %v transpose_b tf32 : (tensor<2x16x16x128xf32>, tensor<32x128xf32>) -> tensor<2x16x16x32xf32>
  %column = fact.constant dense<0.0> : tensor<2x18x1x64xf32>
  %both = fact.concat %column, %rows, %column dim 2 : (tensor<2x18x1x64xf32>, tensor<2x18x16x64xf32>, tensor<2x18x1x64xf32>) -> tensor<2x18x18x64xf32>
  %6 = fact.windows %both dim 1 kernel [2, 2] strides [1, 1] dilations [1, 1] : (tensor<2x18x18x64xf32>) -> tensor<2x17x17x2x2x64xf32>
  %7 = fact.reshape %6 : (tensor<2x17x17x2x2x64xf32>) -> tensor<2x17x17x256xf32>
  %8 = fact.matmul %7, %w transpose_b tf32 : (tensor<2x17x17x256xf32>, tensor<32x256xf32>) -> tensor<2x17x17x32xf32>
  return %2, %5, %8 : tensor<2x17x16x32xf32>, tensor<2x16x16x32xf32>, tensor<2x17x17x32xf32>
}

// A padded image that is also a result is written once, and the convolution
// still reads the image.

// CHECK-LABEL: func @result(
// CHECK-SAME:    %[[X:.*]]: tensor<2x16x16x64xf32>
// CHECK:         fact.fused "{{concat|pointwise}}" ins(%[[X]] :
// CHECK:         fact.fused "gemm_epilogue" ins(%[[X]]
// CHECK-NOT:     fact.fused
// CHECK:         return
func.func @result(%x: tensor<2x16x16x64xf32>, %v: tensor<32x128xf32>)
    -> (tensor<2x17x16x32xf32>, tensor<2x18x16x64xf32>) {
  %row = fact.constant dense<0.0> : tensor<2x1x16x64xf32>
  %rows = fact.concat %row, %x, %row dim 1 : (tensor<2x1x16x64xf32>, tensor<2x16x16x64xf32>, tensor<2x1x16x64xf32>) -> tensor<2x18x16x64xf32>
  %0 = fact.windows %rows dim 1 kernel [2, 1] strides [1, 1] dilations [1, 1] : (tensor<2x18x16x64xf32>) -> tensor<2x17x16x2x1x64xf32>
  %1 = fact.reshape %0 : (tensor<2x17x16x2x1x64xf32>) -> tensor<2x17x16x128xf32>
  %2 = fact.matmul %1, %v transpose_b tf32 : (tensor<2x17x16x128xf32>, tensor<32x128xf32>) -> tensor<2x17x16x32xf32>
  return %2, %rows : tensor<2x17x16x32xf32>, tensor<2x18x16x64xf32>
}
