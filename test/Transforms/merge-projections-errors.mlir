// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-merge-projections))' -split-input-file %s | FileCheck %s --implicit-check-not=fact.concat

// Projections that attention reads but that cannot be one product.

fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>
fact.weight @v : tensor<4x4xf32>

// Of different values.
// CHECK-LABEL: func @cross_attention
func.func @cross_attention(%x: tensor<1x6x4xf32>, %y: tensor<1x6x4xf32>, %z: tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32> {
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %wv = fact.get_weight @v : tensor<4x4xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k0 = fact.matmul %y, %wk transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %v0 = fact.matmul %z, %wv transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %v = fact.reshape %v0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
}

// -----

fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>

// With different transposes; values are not a projection.
// CHECK-LABEL: func @transposes
func.func @transposes(%x: tensor<1x6x4xf32>, %v: tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32> {
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k0 = fact.matmul %x, %wk : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
}

// -----

fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>
fact.weight @b : tensor<4xf32>

// One with a bias, one without.
// CHECK-LABEL: func @one_bias
func.func @one_bias(%x: tensor<1x6x4xf32>, %v: tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32> {
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %b = fact.get_weight @b : tensor<4xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q1 = fact.add %q0, %b : (tensor<1x6x4xf32>, tensor<4xf32>) -> tensor<1x6x4xf32>
  %k0 = fact.matmul %x, %wk transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q1 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
}

// -----

fact.weight @q : tensor<4x4xf32>
fact.weight @k : tensor<4x4xf32>

// Both also have a user that is not attention.
// CHECK-LABEL: func @other_users
func.func @other_users(%x: tensor<1x6x4xf32>, %v: tensor<1x1x6x4xf32>) -> (tensor<1x1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>) {
  %wq = fact.get_weight @q : tensor<4x4xf32>
  %wk = fact.get_weight @k : tensor<4x4xf32>
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k0 = fact.matmul %x, %wk transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %r = fact.relu %q0 : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0, %r, %k0 : tensor<1x1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>
}

// -----

// Right operands that are arguments, not weights.
// CHECK-LABEL: func @no_weights
func.func @no_weights(%x: tensor<1x6x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %v: tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32> {
  %q0 = fact.matmul %x, %wq transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %k0 = fact.matmul %x, %wk transpose_b : (tensor<1x6x4xf32>, tensor<4x4xf32>) -> tensor<1x6x4xf32>
  %q = fact.reshape %q0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %k = fact.reshape %k0 : (tensor<1x6x4xf32>) -> tensor<1x1x6x4xf32>
  %0 = fact.attention %q, %k, %v scale 0.5 : (tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>, tensor<1x1x6x4xf32>) -> tensor<1x1x6x4xf32>
  return %0 : tensor<1x1x6x4xf32>
}
