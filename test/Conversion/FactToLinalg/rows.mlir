// RUN: fact-opt %s --convert-fact-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<3x4x5xf32>) -> tensor<3x1x5xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
  // CHECK: arith.maximumf
  // CHECK: tensor.expand_shape
  %0 = fact.reduce max %x dims [1] keep : (tensor<3x4x5xf32>) -> tensor<3x1x5xf32>
  return %0 : tensor<3x1x5xf32>
}

// -----

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: arith.maximumf
  // CHECK: arith.subf
  // CHECK-NEXT: math.exp
  // CHECK: arith.addf
  // CHECK: arith.divf
  %0 = fact.softmax %x dim 1 : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<3x4xf32>, %w: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: arith.addf
  // CHECK: arith.subf
  // CHECK: arith.mulf
  // CHECK: math.sqrt
  // CHECK: arith.divf
  // CHECK-NEXT: arith.mulf
  %0 = fact.norm layer %x weight %w eps 1.0e-05 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
