// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-merge-projections))' -split-input-file %s | FileCheck %s

fact.weight @q : tensor<16x16xf32>
fact.weight @k : tensor<8x16xf32>
fact.weight @v : tensor<8x16xf32>

// Queries, and fewer heads of keys and values.
// CHECK-LABEL: func @grouped
func.func @grouped(%x: tensor<2x6x16xf32>) -> tensor<2x4x6x4xf32> {
  // CHECK-DAG: %[[Q:.*]] = fact.get_weight @q
  // CHECK-DAG: %[[K:.*]] = fact.get_weight @k
  // CHECK-DAG: %[[V:.*]] = fact.get_weight @v
  // CHECK: %[[W:.*]] = fact.concat %[[Q]], %[[K]], %[[V]] dim 0 : {{.*}} -> tensor<32x16xf32>
  // CHECK: %[[ALL:.*]] = fact.matmul %arg0, %[[W]] transpose_b : {{.*}} -> tensor<2x6x32xf32>
  // CHECK-DAG: fact.slice %[[ALL]] dim 2 start 0 : (tensor<2x6x32xf32>) -> tensor<2x6x16xf32>
  // CHECK-DAG: fact.slice %[[ALL]] dim 2 start 16 : (tensor<2x6x32xf32>) -> tensor<2x6x8xf32>
  // CHECK-DAG: fact.slice %[[ALL]] dim 2 start 24 : (tensor<2x6x32xf32>) -> tensor<2x6x8xf32>
  // CHECK-NOT: fact.matmul
  // CHECK: fact.attention
  %wq = fact.get_weight @q : tensor<16x16xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<2x6x16xf32>, tensor<16x16xf32>) -> tensor<2x6x16xf32>
  %q1 = fact.reshape %q0 : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
  %q = fact.permute %q1 [0, 2, 1, 3] : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
  %wk = fact.get_weight @k : tensor<8x16xf32>
  %k0 = fact.matmul %x, %wk transpose_b : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
  %k1 = fact.reshape %k0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k = fact.permute %k1 [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %wv = fact.get_weight @v : tensor<8x16xf32>
  %v0 = fact.matmul %x, %wv transpose_b : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
  %v1 = fact.reshape %v0 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %v = fact.permute %v1 [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<2x4x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> tensor<2x4x6x4xf32>
  return %0 : tensor<2x4x6x4xf32>
}

// -----

fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>
fact.weight @v : tensor<4x4xf32>
fact.weight @qb : tensor<4xf32>
fact.weight @kb : tensor<4xf32>

// Rotary embeddings of queries and keys read slices in place. Keys and queries
// have a bias, values none.
// CHECK-LABEL: func @rotary
func.func @rotary(%x: tensor<1x6x4xf32>, %cos: tensor<6x4xf32>, %sin: tensor<6x4xf32>) -> tensor<1x1x6x4xf32> {
  // CHECK-DAG: %[[W:.*]] = fact.concat {{.*}} dim 1 : {{.*}} -> tensor<4x8xf32>
  // CHECK-DAG: %[[B:.*]] = fact.concat {{.*}} dim 0 : {{.*}} -> tensor<8xf32>
  // CHECK-DAG: %[[PRODUCT:.*]] = fact.matmul %arg0, %[[W]] : {{.*}} -> tensor<1x6x8xf32>
  // CHECK-DAG: %[[ALL:.*]] = fact.add %[[PRODUCT]], %[[B]]
  // CHECK-DAG: fact.slice %[[ALL]] dim 2 start 0
  // CHECK-DAG: fact.slice %[[ALL]] dim 2 start 4
  // CHECK-DAG: fact.matmul %arg0, {{.*}} -> tensor<1x6x4xf32>
  // CHECK: fact.attention
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %wv = fact.get_weight @v : tensor<4x4xf32>
  %bq = fact.get_weight @qb : tensor<4xf32>
  %bk = fact.get_weight @kb : tensor<4xf32>
  %q0 = fact.matmul %x, %wq : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q1 = fact.add %q0, %bq : (tensor<1x6x4xf32>, tensor<4xf32>) -> tensor<1x6x4xf32>
  %q2 = fact.reshape %q1 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %q = fact.rotary %q2, %cos, %sin : (tensor<1x1x6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<1x1x6x4xf32>
  %k0 = fact.matmul %x, %wk : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k1 = fact.add %bk, %k0 : (tensor<4xf32>, tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %k2 = fact.reshape %k1 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.rotary %k2, %cos, %sin : (tensor<1x1x6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<1x1x6x4xf32>
  %v0 = fact.matmul %x, %wv : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %v = fact.reshape %v0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
}

// -----

fact.weight @gate : tensor<8x4xf32>
fact.weight @up : tensor<8x4xf32>
fact.weight @k : tensor<4x4xf32>
fact.weight @v : tensor<4x4xf32>

// A pointwise op is the epilogue of a product of its own, an output would be
// copied, and a slice cannot be reshaped across its rows. Keys that are no
// function of weights are none of ours.
// CHECK-LABEL: func @apart
func.func @apart(%x: tensor<6x4xf32>, %w: tensor<4x4xf32>) -> (tensor<6x8xf32>, tensor<1x1x6x4xf32>, tensor<6x4xf32>) {
  // CHECK-NOT: fact.concat
  %gate = fact.get_weight @gate : tensor<8x4xf32>
  %up = fact.get_weight @up : tensor<8x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %wv = fact.get_weight @v : tensor<4x4xf32>
  %0 = fact.matmul %x, %gate transpose_b : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  %1 = fact.silu %0 : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %2 = fact.matmul %x, %up transpose_b : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  %3 = fact.mul %1, %2 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %q0 = fact.matmul %x, %wk transpose_b : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %q1 = fact.reshape %q0 : (tensor<6x4xf32>) -> tensor<24xf32>
  %q = fact.reshape %q1 : (tensor<24xf32>) -> tensor<1x1x6x4xf32>
  %k0 = fact.matmul %x, %w transpose_b : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %k = fact.reshape %k0 : (tensor<6x4xf32>) -> tensor<1x1x6x4xf32>
  %v0 = fact.matmul %x, %wv transpose_b : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %v = fact.reshape %v0 : (tensor<6x4xf32>) -> tensor<1x1x6x4xf32>
  %4 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %3, %4, %v0 : tensor<6x8xf32>, tensor<1x1x6x4xf32>, tensor<6x4xf32>
}
