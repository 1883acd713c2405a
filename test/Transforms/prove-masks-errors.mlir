// RUN: fact-opt --fact-prove-masks --canonicalize -split-input-file %s | FileCheck %s --implicit-check-not=causal --implicit-check-not=baked

// Masks that are almost causal stay operands, and no weight is baked.

// Keys before the query are hidden, not those after it.
// CHECK-LABEL: func @transposed
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @transposed(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.constant dense<[[0.0, 0.0], [0xFF800000, 0.0]]> : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}

// -----

// The query itself is hidden too.
// CHECK-LABEL: func @strict
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @strict(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.constant dense<[[0xFF800000, 0xFF800000], [0.0, 0xFF800000]]> : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}

// -----

// Visible scores are changed.
// CHECK-LABEL: func @bias_below
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @bias_below(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.constant dense<[[0.0, 0xFF800000], [1.0e-3, 0.0]]> : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}

// -----

// The last query sees all keys: with more keys than queries, `causal` would let
// it see the first two only.
// CHECK-LABEL: func @shifted
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @shifted(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x3x8xf32>, %v: tensor<1x3x3x8xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.constant dense<[[0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>, tensor<2x3xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}

// -----

// A weight without a value.
fact.weight @mask : tensor<2x2xf32>
// CHECK-LABEL: func @unknown
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @unknown(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %m scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}

// -----

// Known, but multiplied by an argument.
fact.weight @mask = dense<[[0.0, 0xFF800000], [0.0, 0.0]]> : tensor<2x2xf32>
// CHECK-LABEL: func @scaled_by_argument
// CHECK: fact.attention %arg0, %arg1, %arg2 mask
func.func @scaled_by_argument(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %s: tensor<2x2xf32>) -> tensor<1x3x2x8xf32> {
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %0 = fact.mul %m, %s : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = fact.attention %q, %k, %v mask %0 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %1 : tensor<1x3x2x8xf32>
}
