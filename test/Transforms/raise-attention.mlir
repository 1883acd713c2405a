// RUN: fact-opt --fact-raise-attention --canonicalize -split-input-file %s | FileCheck %s

// A mask that is the causal one becomes a flag, and its weight is baked.
// CHECK: fact.weight @mask baked
fact.weight @mask = dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
// CHECK-LABEL: func @causal
func.func @causal(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 causal scale 5.000000e-01
  %half = fact.constant dense<0.5> : tensor<f32>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %infinity = fact.constant dense<0xFF800000> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.mul %0, %half : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %2 = fact.compare eq %m, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xi1>
  %3 = fact.select %2, %infinity, %1 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %4 = fact.softmax %3 dim 3 : tensor<1x3x2x2xf32>
  %5 = fact.matmul %4, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %5 : tensor<1x3x2x8xf32>
}

// -----

// One element differs from the causal mask: it stays an operand.
// CHECK: fact.weight @mask =
fact.weight @mask = dense<[[1.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf32>
// CHECK-LABEL: func @not_causal
func.func @not_causal(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK: %[[MASK:.*]] = fact.select
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[MASK]] scale 1.000000e+00
  %zero = fact.constant dense<0.0> : tensor<f32>
  %infinity = fact.constant dense<0xFF800000> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %2 = fact.compare eq %m, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xi1>
  %3 = fact.select %2, %infinity, %0 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %4 = fact.softmax %3 dim 3 : tensor<1x3x2x2xf32>
  %5 = fact.matmul %4, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %5 : tensor<1x3x2x8xf32>
}

// -----

// CHECK-LABEL: func @grouped
func.func @grouped(%q: tensor<1x4x2x8xf32>, %k: tensor<1x2x2x8xf32>, %v: tensor<1x2x2x8xf32>) -> tensor<1x4x2x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale
  %0 = fact.reshape %k : (tensor<1x2x2x8xf32>) -> tensor<1x2x1x2x8xf32>
  %1 = fact.expand %0 : (tensor<1x2x1x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %2 = fact.reshape %1 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %3 = fact.reshape %v : (tensor<1x2x2x8xf32>) -> tensor<1x2x1x2x8xf32>
  %4 = fact.expand %3 : (tensor<1x2x1x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %5 = fact.reshape %4 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %6 = fact.attention %q, %2, %5 scale 1.0 : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>
  return %6 : tensor<1x4x2x8xf32>
}
