// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-hoist-prepare))' -split-input-file %s | FileCheck %s --implicit-check-not=fact.prepare

// Ops that cannot run when weights are loaded, or need not.

fact.weight @w : tensor<8x8xf32>

// Every op depends on an argument.
// CHECK-LABEL: func @arguments
func.func @arguments(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = fact.get_weight @w : tensor<8x8xf32>
  %0 = fact.mul %w, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = fact.exp %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

fact.weight @w : tensor<8x8xf32>

// Views of a weight cost nothing.
// CHECK-LABEL: func @views
func.func @views(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %w = fact.get_weight @w : tensor<8x8xf32>
  %0 = fact.permute %w [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = fact.slice %0 dim 0 start 4 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = fact.matmul %x, %1 : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

fact.weight @w : tensor<8xf32>

// A weight and a constant that are only read.
// CHECK-LABEL: func @sources
func.func @sources(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %w = fact.get_weight @w : tensor<8xf32>
  %c = fact.constant dense<2.0> : tensor<8xf32>
  %0 = fact.add %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %w, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A declaration has no body.
// CHECK: func.func private @declared
func.func private @declared(tensor<8xf32>) -> tensor<8xf32>
