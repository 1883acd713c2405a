// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-fold-norms))' -split-input-file %s | FileCheck %s --implicit-check-not=fact.rsqrt

// Norms that stay.

// In f32 the subtraction of a mean cancels what the product rounds.
// CHECK-LABEL: func @layer_f32
// CHECK: fact.norm layer
fact.weight @w : tensor<16x8xf32>
func.func @layer_f32(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = fact.get_weight @w : tensor<16x8xf32>
  %0 = fact.norm layer %x eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// In f16 a scaled weight may be infinite.
// CHECK-LABEL: func @rms_f16
// CHECK: fact.norm rms
fact.weight @w : tensor<16x8xf16>
func.func @rms_f16(%x: tensor<4x8xf16>) -> tensor<4x16xf16> {
  %w = fact.get_weight @w : tensor<16x8xf16>
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xf16>, tensor<16x8xf16>) -> tensor<4x16xf16>
  return %1 : tensor<4x16xf16>
}

// -----

// Weights or a scale that are arguments would be scaled on each call.
// CHECK-LABEL: func @arguments
// CHECK: fact.norm rms
// CHECK: fact.norm rms
fact.weight @w : tensor<16x8xbf16>
func.func @arguments(%x: tensor<4x8xbf16>, %a: tensor<16x8xbf16>, %gamma: tensor<8xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>) {
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %a transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  %2 = fact.norm rms %x weight %gamma eps 1.0e-5 : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %3 = fact.matmul %2, %w transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  return %1, %3 : tensor<4x16xbf16>, tensor<4x16xbf16>
}

// -----

// Normalized rows that others read are stored anyway.
// CHECK-LABEL: func @read_twice
// CHECK: fact.norm rms
// CHECK-LABEL: func @right
// CHECK: fact.norm rms
// CHECK-LABEL: func @transposed
// CHECK: fact.norm rms
fact.weight @w : tensor<16x8xbf16>
fact.weight @u : tensor<4x16xbf16>
func.func @read_twice(%x: tensor<4x8xbf16>) -> (tensor<4x16xbf16>, tensor<4x8xbf16>) {
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  return %1, %0 : tensor<4x16xbf16>, tensor<4x8xbf16>
}
func.func @right(%x: tensor<4x8xbf16>) -> tensor<16x4xbf16> {
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %w, %0 transpose_b : (tensor<16x8xbf16>, tensor<4x8xbf16>) -> tensor<16x4xbf16>
  return %1 : tensor<16x4xbf16>
}
func.func @transposed(%x: tensor<4x8xbf16>) -> tensor<8x16xbf16> {
  %u = fact.get_weight @u : tensor<4x16xbf16>
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %u transpose_a : (tensor<4x8xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  return %1 : tensor<8x16xbf16>
}

// -----

// Over several dimensions, the product's rows are parts of the norm's.
// CHECK-LABEL: func @two_dims
// CHECK: fact.norm rms
fact.weight @w : tensor<16x8xbf16>
func.func @two_dims(%x: tensor<2x4x8xbf16>) -> tensor<2x4x16xbf16> {
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %0 = fact.norm rms %x eps 1.0e-5 dims 2 : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<2x4x8xbf16>, tensor<16x8xbf16>) -> tensor<2x4x16xbf16>
  return %1 : tensor<2x4x16xbf16>
}
