// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-hoist-prepare))' %s | FileCheck %s

fact.weight @q : tensor<8x8xf32>
fact.weight @k : tensor<8x8xf32>

// CHECK-LABEL: func @main
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<8x8xf32>) {
  // CHECK: %[[W:.*]] = fact.prepare {
  // CHECK: fact.concat
  // CHECK: fact.yield
  // CHECK-NOT: fact.concat
  // CHECK: fact.matmul %arg0, %[[W]] transpose_b
  %q = fact.get_weight @q : tensor<8x8xf32>
  %k = fact.get_weight @k : tensor<8x8xf32>
  %w = fact.concat %q, %k dim 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  // A view of a weight costs nothing where it is.
  // CHECK: fact.permute
  %1 = fact.permute %q [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<8x8xf32>
}

// Indices that are spread from smaller tensors are computed where they are used,
// and the smaller tensors when weights are loaded.
// CHECK-LABEL: func @indices
func.func @indices(%x: tensor<2x20xf32>) -> tensor<2x4x6xf32> {
  // CHECK: %[[P:.*]] = fact.prepare {
  // CHECK: fact.mul
  // CHECK-NOT: fact.add
  // CHECK: fact.yield
  // CHECK: %[[I:.*]] = fact.add %[[P]], %{{.*}} -> tensor<4x6xi64>
  // CHECK: fact.gather %arg0, %[[I]]
  %rows = fact.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %columns = fact.constant dense<[0, 0, 1, 1, 2, 4]> : tensor<6xi64>
  %five = fact.constant dense<5> : tensor<i64>
  %0 = fact.mul %rows, %five : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi64>
  %1 = fact.add %0, %columns : (tensor<4x1xi64>, tensor<6xi64>) -> tensor<4x6xi64>
  %2 = fact.gather %x, %1 dim 1 : (tensor<2x20xf32>, tensor<4x6xi64>) -> tensor<2x4x6xf32>
  return %2 : tensor<2x4x6xf32>
}

// What runs at load already becomes a part of what more weights decide.
// CHECK-LABEL: func @again
func.func @again(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[W:.*]] = fact.prepare {
  // CHECK: %[[C:.*]] = fact.concat
  // CHECK: %[[N:.*]] = fact.neg %[[C]]
  // CHECK: fact.yield %[[N]]
  // CHECK-NOT: fact.prepare
  // CHECK: fact.matmul %arg0, %[[W]] transpose_b
  %w = fact.prepare {
    %q = fact.get_weight @q : tensor<8x8xf32>
    %k = fact.get_weight @k : tensor<8x8xf32>
    %1 = fact.concat %q, %k dim 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    fact.yield %1 : tensor<16x8xf32>
  } : tensor<16x8xf32>
  %n = fact.neg %w : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = fact.matmul %x, %n transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
