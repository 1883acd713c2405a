// RUN: fact-opt --fact-discover="target=host" -split-input-file %s | FileCheck %s

// An output that is an input, and one that is there twice, are copied.
// CHECK-LABEL: func.func @outputs
func.func @outputs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK: %[[EXP:.*]] = fact.fused "pointwise" ins(%arg0
  %0 = fact.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK: %[[INPUT:.*]] = fact.fused "pointwise" ins(%arg0
  // CHECK: %[[AGAIN:.*]] = fact.fused "pointwise"
  // CHECK: return %[[INPUT]], %[[EXP]], %[[AGAIN]]
  return %x, %0, %1 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}

// -----

// A value that several ops read is computed once, and stored only if something
// outside reads it too.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[BOTH:.*]]:2 = fact.fused "gemm_epilogue"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[PRODUCT:.*]] = fact.matmul
  // CHECK-NEXT: %[[EXP:.*]] = fact.exp %[[PRODUCT]]
  // CHECK-NEXT: %[[TANH:.*]] = fact.tanh %[[PRODUCT]]
  // CHECK-NEXT: fact.yield %[[EXP]], %[[TANH]]
  // CHECK-NOT: fact.fused
  %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = fact.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = fact.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Reshapes need no kernel.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: fact.fused "rowwise"
  %0 = fact.softmax %x dim 1 : tensor<4x8xf32>
  %1 = fact.reshape %0 : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %2 = fact.softmax %1 dim 1 : tensor<2x16xf32>
  %3 = fact.reshape %2 : (tensor<2x16xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// What has no elements needs no kernel, as an output neither.
// CHECK-LABEL: func.func @empty
func.func @empty(%x: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<3x0xf32>) {
  // CHECK-NOT: fact.fused
  // CHECK: %[[NOTHING:.*]] = fact.constant dense<>
  // CHECK: return %arg0, %[[NOTHING]]
  %0 = fact.constant dense<> : tensor<3x0xf32>
  return %x, %0 : tensor<0x4xf32>, tensor<3x0xf32>
}
