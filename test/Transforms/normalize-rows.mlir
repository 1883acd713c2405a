// RUN: fact-opt --fact-normalize-rows %s | FileCheck %s
// RUN: fact-opt %s --fact-normalize-rows --canonicalize | FileCheck %s --check-prefix=CANONICAL

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

// A sum of what a softmax of rows gives is one of rows, in f32, and one of
// their numbers. Canonicalization keeps both.
// CHECK-LABEL: func @rows_first
// CANONICAL-LABEL: func @rows_first
func.func @rows_first(%x: tensor<6x8xbf16>) -> tensor<bf16> {
  // CHECK: %[[PRODUCT:.*]] = fact.mul
  // CHECK: %[[WIDE:.*]] = fact.cast %[[PRODUCT]] : (tensor<6x8xbf16>) -> tensor<6x8xf32>
  // CHECK: %[[ROWS:.*]] = fact.reduce sum %[[WIDE]] dims [1] : (tensor<6x8xf32>) -> tensor<6xf32>
  // CHECK: %[[ALL:.*]] = fact.reduce sum %[[ROWS]] dims [0] : (tensor<6xf32>) -> tensor<f32>
  // CHECK: fact.cast %[[ALL]] : (tensor<f32>) -> tensor<bf16>
  // CANONICAL-COUNT-2: fact.reduce
  %0 = fact.softmax %x dim 1 : tensor<6x8xbf16>
  %1 = fact.mul %0, %x : (tensor<6x8xbf16>, tensor<6x8xbf16>) -> tensor<6x8xbf16>
  %2 = fact.reduce sum %1 dims [0, 1] : (tensor<6x8xbf16>) -> tensor<bf16>
  return %2 : tensor<bf16>
}

// The rows of a reduction over the first dimension, which is kept.
// CHECK-LABEL: func @columns_first
// CANONICAL-LABEL: func @columns_first
func.func @columns_first(%x: tensor<6x8xf32>) -> tensor<1x1xf32> {
  // CHECK: %[[SHIFTED:.*]] = fact.sub
  // CHECK: %[[ROWS:.*]] = fact.permute %[[SHIFTED]] [1, 0]
  // CHECK: fact.reduce mean %[[ROWS]] dims [1] : (tensor<8x6xf32>) -> tensor<8xf32>
  // CHECK: fact.reduce mean %{{.*}} dims [0] : (tensor<8xf32>) -> tensor<f32>
  // CHECK: fact.reshape %{{.*}} : (tensor<f32>) -> tensor<1x1xf32>
  // CANONICAL-COUNT-3: fact.reduce
  %0 = fact.reduce max %x dims [0] keep : (tensor<6x8xf32>) -> tensor<1x8xf32>
  %1 = fact.sub %x, %0 : (tensor<6x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  %2 = fact.reduce mean %1 dims [0, 1] keep : (tensor<6x8xf32>) -> tensor<1x1xf32>
  return %2 : tensor<1x1xf32>
}

// Rows that are not all reduced, and places, stay together.
// CHECK-LABEL: func @other_rows
func.func @other_rows(%x: tensor<2x6x8xf32>) -> (tensor<2xf32>, tensor<i64>) {
  // CHECK: fact.reduce sum %{{.*}} dims [1, 2] : (tensor<2x6x8xf32>) -> tensor<2xf32>
  // CHECK: fact.reduce argmax %{{.*}} dims [0, 1, 2] : (tensor<2x6x8xf32>) -> tensor<i64>
  %0 = fact.reduce max %x dims [0] keep : (tensor<2x6x8xf32>) -> tensor<1x6x8xf32>
  %1 = fact.sub %x, %0 : (tensor<2x6x8xf32>, tensor<1x6x8xf32>) -> tensor<2x6x8xf32>
  %2 = fact.reduce sum %1 dims [1, 2] : (tensor<2x6x8xf32>) -> tensor<2xf32>
  %3 = fact.reduce argmax %1 dims [0, 1, 2] : (tensor<2x6x8xf32>) -> tensor<i64>
  return %2, %3 : tensor<2xf32>, tensor<i64>
}
