// RUN: fact-opt --fact-normalize-rows %s | FileCheck %s

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.permute %arg0 [1, 2, 0]
  // CHECK: fact.softmax %{{.*}} dim 2 : tensor<4x8x2xf32>
  // CHECK: fact.permute %{{.*}} [2, 0, 1]
  %0 = fact.softmax %x dim 0 : tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<2x4x8xf32>) -> tensor<1x4x1xf32> {
  // CHECK: fact.permute %arg0 [1, 0, 2]
  // CHECK: fact.reduce max %{{.*}} dims [1, 2] : (tensor<4x2x8xf32>) -> tensor<4xf32>
  // CHECK: fact.reshape %{{.*}} : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %0 = fact.reduce max %x dims [0, 2] keep : (tensor<2x4x8xf32>) -> tensor<1x4x1xf32>
  return %0 : tensor<1x4x1xf32>
}

// A softmax over one element, wherever it is.
// CHECK-LABEL: func @softmax_of_one
func.func @softmax_of_one(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = fact.sub %arg0, %arg0
  // CHECK-NEXT: %[[ONE:.*]] = fact.exp %[[ZERO]]
  // CHECK-NEXT: return %[[ONE]]
  %0 = fact.softmax %x dim 0 : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
