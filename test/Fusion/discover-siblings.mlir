// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" --split-input-file | FileCheck %s

// Reductions of one tensor read it once.

// CHECK-LABEL: func.func @sums
// CHECK: fact.fused "reduction"
// CHECK-COUNT-3: fact.reduce
// CHECK-NOT: fact.fused
func.func @sums(%x: tensor<64x1048576xf32>, %y: tensor<64x1048576xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = fact.mul %x, %y : (tensor<64x1048576xf32>, tensor<64x1048576xf32>) -> tensor<64x1048576xf32>
  %1 = fact.reduce sum %0 dims [1] : (tensor<64x1048576xf32>) -> tensor<64xf32>
  %2 = fact.reduce sum %x dims [1] : (tensor<64x1048576xf32>) -> tensor<64xf32>
  %3 = fact.reduce sum %y dims [1] : (tensor<64x1048576xf32>) -> tensor<64xf32>
  return %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// A reduction over other dimensions has a kernel of its own.

// CHECK-LABEL: func.func @both
// CHECK: fact.fused "reduction"
// CHECK: fact.fused "rowwise"
// CHECK-NOT: fact.fused
func.func @both(%x: tensor<4096x4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
  %0 = fact.reduce sum %x dims [0] : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %1 = fact.reduce sum %x dims [1] : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  return %0, %1 : tensor<4096xf32>, tensor<4096xf32>
}

// -----

// Siblings with a path from one to the other through another kernel stay apart.

// CHECK-LABEL: func.func @path
// CHECK: fact.fused "rowwise"
// CHECK: fact.fused "gemm_epilogue"
// CHECK: fact.fused "reduction"
// CHECK-NOT: fact.fused
func.func @path(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512xf32> {
  %0 = fact.reduce max %x dims [1] keep : (tensor<512x512xf32>) -> tensor<512x1xf32>
  %1 = fact.sub %x, %0 : (tensor<512x512xf32>, tensor<512x1xf32>) -> tensor<512x512xf32>
  %2 = fact.matmul %1, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = fact.softmax %2 dim 1 : tensor<512x512xf32>
  %4 = fact.mul %3, %x : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = fact.reduce sum %4 dims [1] : (tensor<512x512xf32>) -> tensor<512xf32>
  return %5 : tensor<512xf32>
}

// -----

// Small steps at the end are one launch.

// CHECK-LABEL: func.func @tail
// CHECK: fact.fused "small"
// CHECK: fact.reduce sum
// CHECK: fact.reduce mean
// CHECK-NOT: fact.fused
func.func @tail(%x: tensor<100x8xf32>) -> tensor<f32> {
  %0 = fact.reduce sum %x dims [1] : (tensor<100x8xf32>) -> tensor<100xf32>
  %1 = fact.log %0 : (tensor<100xf32>) -> tensor<100xf32>
  %2 = fact.reduce mean %1 dims [0] : (tensor<100xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
