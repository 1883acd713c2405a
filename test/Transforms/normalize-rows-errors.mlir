// RUN: fact-opt --fact-normalize-rows %s | FileCheck %s --implicit-check-not=fact.permute --implicit-check-not=fact.reshape

// Softmaxes and reductions of trailing dimensions need no permutation.

// CHECK-LABEL: func @last
// CHECK-NEXT: fact.softmax %arg0 dim 2 : tensor<2x4x8xf32>
// CHECK-NEXT: return
func.func @last(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = fact.softmax %x dim 2 : tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @trailing
// CHECK-NEXT: fact.reduce sum %arg0 dims [1, 2] keep
// CHECK-NEXT: return
func.func @trailing(%x: tensor<2x4x8xf32>) -> tensor<2x1x1xf32> {
  %0 = fact.reduce sum %x dims [1, 2] keep : (tensor<2x4x8xf32>) -> tensor<2x1x1xf32>
  return %0 : tensor<2x1x1xf32>
}

// CHECK-LABEL: func @all
// CHECK-NEXT: fact.reduce max %arg0 dims [0, 1, 2] :
// CHECK-NEXT: return
func.func @all(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  %0 = fact.reduce max %x dims [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A norm already is over trailing dimensions.
// CHECK-LABEL: func @norm
// CHECK-NEXT: fact.norm layer %arg0
// CHECK-NEXT: return
func.func @norm(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = fact.norm layer %x eps 1.0e-5 dims 2 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}
