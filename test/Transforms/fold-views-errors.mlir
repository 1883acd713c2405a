// RUN: fact-opt --fact-fold-views %s | FileCheck %s

// Views that no op can read through stay.

// A permutation of batches is not a transpose.
// CHECK-LABEL: func @batches
// CHECK: %[[K:.*]] = fact.permute %arg1 [1, 0, 2, 3]
// CHECK: fact.matmul %arg0, %[[K]] : 
func.func @batches(%q: tensor<2x3x8x4xf32>, %k: tensor<3x2x4x8xf32>) -> tensor<2x3x8x8xf32> {
  %0 = fact.permute %k [1, 0, 2, 3] : (tensor<3x2x4x8xf32>) -> tensor<2x3x4x8xf32>
  %1 = fact.matmul %q, %0 : (tensor<2x3x8x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8x8xf32>
  return %1 : tensor<2x3x8x8xf32>
}

// The innermost dimension becomes a batch.
// CHECK-LABEL: func @innermost_to_batch
// CHECK: %[[K:.*]] = fact.permute %arg1 [2, 0, 1]
// CHECK: fact.matmul %arg0, %[[K]] : 
func.func @innermost_to_batch(%q: tensor<2x8x4xf32>, %k: tensor<4x8x2xf32>) -> tensor<2x8x8xf32> {
  %0 = fact.permute %k [2, 0, 1] : (tensor<4x8x2xf32>) -> tensor<2x4x8xf32>
  %1 = fact.matmul %q, %0 : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
}

// A permuted product with more than a transpose.
// CHECK-LABEL: func @permuted_result
// CHECK: %[[P:.*]] = fact.matmul %arg0, %arg1
// CHECK: fact.permute %[[P]] [2, 0, 1]
func.func @permuted_result(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>) -> tensor<16x2x4xf32> {
  %0 = fact.matmul %a, %b : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  %1 = fact.permute %0 [2, 0, 1] : (tensor<2x4x16xf32>) -> tensor<16x2x4xf32>
  return %1 : tensor<16x2x4xf32>
}

// Both operands are broadcast along the rows, so one has to stay.
// CHECK-LABEL: func @both_broadcast
// CHECK-COUNT-1: fact.expand
func.func @both_broadcast(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = fact.expand %x : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.expand %y : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = fact.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A reshape that is not a broadcast: the elements of a column.
// CHECK-LABEL: func @column
// CHECK: %[[C:.*]] = fact.reshape %arg1 : (tensor<8xf32>) -> tensor<8x1xf32>
// CHECK: fact.add %arg0, %[[C]]
func.func @column(%x: tensor<8x8xf32>, %v: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = fact.reshape %v : (tensor<8xf32>) -> tensor<8x1xf32>
  %1 = fact.add %x, %0 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
