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
