// RUN: fact-opt --fact-prove-masks --canonicalize -split-input-file %s | FileCheck %s

// A mask that is the causal one becomes a flag, and its weight is baked.
// CHECK: fact.weight @mask baked
fact.weight @mask = dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
// CHECK-LABEL: func @causal
func.func @causal(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 causal scale 5.000000e-01
  %zero = fact.constant dense<0.0> : tensor<f32>
  %infinity = fact.constant dense<0xFF800000> : tensor<f32>
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %0 = fact.compare eq %m, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xi1>
  %1 = fact.select %0, %infinity, %zero : (tensor<2x2xi1>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = fact.attention %q, %k, %v mask %1 scale 0.5 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %2 : tensor<1x3x2x8xf32>
}

// -----

// One element differs from the causal mask: it stays an operand.
// CHECK: fact.weight @mask =
fact.weight @mask = dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
// CHECK-LABEL: func @not_causal
func.func @not_causal(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK: %[[MASK:.*]] = fact.select
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[MASK]] scale
  %zero = fact.constant dense<0.0> : tensor<f32>
  %infinity = fact.constant dense<0xFF800000> : tensor<f32>
  %m = fact.get_weight @mask : tensor<2x2xf32>
  %0 = fact.compare eq %m, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xi1>
  %1 = fact.select %0, %infinity, %zero : (tensor<2x2xi1>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = fact.attention %q, %k, %v mask %1 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %2 : tensor<1x3x2x8xf32>
}

// -----

// Causal and a bias: the flag, and the bias as an operand.
// CHECK-LABEL: func @causal_and_bias
func.func @causal_and_bias(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %b: tensor<3x2x2xf32>) -> (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 mask %arg3 causal scale
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 mask %arg3 causal scale
  %lowest = fact.constant dense<-3.40282347E+38> : tensor<f32>
  %visible = fact.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %triangle = fact.constant dense<[[0.0, -3.40282347E+38], [0.0, 0.0]]> : tensor<2x2xf32>
  %0 = fact.select %visible, %b, %lowest : (tensor<2x2xi1>, tensor<3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
  %1 = fact.attention %q, %k, %v mask %0 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<3x2x2xf32>) -> tensor<1x3x2x8xf32>
  %2 = fact.add %triangle, %b : (tensor<2x2xf32>, tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %3 = fact.attention %q, %k, %v mask %2 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<3x2x2xf32>) -> tensor<1x3x2x8xf32>
  return %1, %3 : tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>
}

// -----

// A score of 1e9 would show through -1e9, so (1 - mask) * -1e9 stays; with the
// lowest number it is causal.
// CHECK-LABEL: func @finite
func.func @finite(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) {
  %one = fact.constant dense<1.0> : tensor<f32>
  %large = fact.constant dense<-1.0e9> : tensor<f32>
  %lowest = fact.constant dense<-3.40282347E+38> : tensor<f32>
  %mask = fact.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %0 = fact.sub %one, %mask : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[MASK:.*]] = fact.mul
  %1 = fact.mul %0, %large : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = fact.mul %0, %lowest : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[MASK]] scale
  %3 = fact.attention %q, %k, %v mask %1 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  // CHECK: fact.attention %arg0, %arg1, %arg2 causal scale
  %4 = fact.attention %q, %k, %v mask %2 scale 1.0 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<2x2xf32>) -> tensor<1x3x2x8xf32>
  return %3, %4 : tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>
}

// -----

// Causal for one head, not for the other; and a mask that hides nothing.
// CHECK-LABEL: func @heads
func.func @heads(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x2x8xf32>, %v: tensor<1x2x2x8xf32>) -> (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>) {
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask
  // CHECK: fact.attention %arg0, %arg1, %arg2 scale
  %some = fact.constant dense<[[[0.0, 0xFF800000], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]> : tensor<2x2x2xf32>
  %none = fact.constant dense<0.0> : tensor<2x2xf32>
  %0 = fact.attention %q, %k, %v mask %some scale 1.0 : (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<2x2x2xf32>) -> tensor<1x2x2x8xf32>
  %1 = fact.attention %q, %k, %v mask %none scale 1.0 : (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<2x2xf32>) -> tensor<1x2x2x8xf32>
  return %0, %1 : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>
}

// -----

// The lowest f32 rounds to infinity in bf16, as PyTorch has it.
// CHECK-LABEL: func @rounded
func.func @rounded(%q: tensor<1x3x2x8xbf16>, %k: tensor<1x3x2x8xbf16>, %v: tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 causal scale
  %mask = fact.constant dense<[[0.0, -3.40282347E+38], [0.0, 0.0]]> : tensor<2x2xf32>
  %0 = fact.cast %mask : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  %1 = fact.attention %q, %k, %v mask %0 scale 1.0 : (tensor<1x3x2x8xbf16>, tensor<1x3x2x8xbf16>, tensor<1x3x2x8xbf16>, tensor<2x2xbf16>) -> tensor<1x3x2x8xbf16>
  return %1 : tensor<1x3x2x8xbf16>
}
