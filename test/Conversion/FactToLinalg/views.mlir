// RUN: fact-opt %s --convert-fact-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func @reshape
func.func @reshape(%x: tensor<3x4xf32>) -> tensor<2x6xf32> {
  // CHECK: tensor.collapse_shape %{{.+}} {{\[}}[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  // CHECK: tensor.expand_shape %{{.+}} {{\[}}[0, 1]] output_shape [2, 6] : tensor<12xf32> into tensor<2x6xf32>
  %0 = fact.reshape %x : (tensor<3x4xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

// CHECK-DAG: #[[$FROM:.+]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-LABEL: func @permute
func.func @permute(%x: tensor<3x4x5xf32>) -> tensor<5x3x4xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[$FROM]], #{{.+}}]
  %0 = fact.permute %x [2, 0, 1] : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>
  return %0 : tensor<5x3x4xf32>
}

// -----

// CHECK-LABEL: func @slice
func.func @slice(%x: tensor<3x8xf32>) -> tensor<3x3xf32> {
  // CHECK: tensor.extract_slice %{{.+}}[0, 2] [3, 3] [1, 2]
  %0 = fact.slice %x dim 1 start 2 step 2 : (tensor<3x8xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func @concat
func.func @concat(%x: tensor<3x2xi32>, %y: tensor<3x4xi32>) -> tensor<3x6xi32> {
  // CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0, 0] [3, 2] [1, 1]
  // CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[0, 2] [3, 4] [1, 1]
  %0 = fact.concat %x, %y dim 1 : (tensor<3x2xi32>, tensor<3x4xi32>) -> tensor<3x6xi32>
  return %0 : tensor<3x6xi32>
}

// -----

// CHECK-DAG: #[[WINDOWS:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d2, d3)>
// CHECK-LABEL: func @windows
// CHECK: linalg.generic {indexing_maps = [#[[WINDOWS]], #{{.+}}]
func.func @windows(%x: tensor<2x9x8xf32>) -> tensor<2x4x3x8xf32> {
  %0 = fact.windows %x dim 1 kernel [3] strides [2] dilations [1] : (tensor<2x9x8xf32>) -> tensor<2x4x3x8xf32>
  return %0 : tensor<2x4x3x8xf32>
}

// -----

// An array of one element repeated would be text of all its repetitions.
// CHECK-LABEL: func @padded
// CHECK-NOT: dense<
// CHECK: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.+}} : tensor<3x1xf32>)
// CHECK: tensor.insert_slice %[[ZEROS]] into
func.func @padded(%x: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %zeros = fact.constant dense<0.0> : tensor<3x1xf32>
  %0 = fact.concat %zeros, %x, %zeros dim 1 : (tensor<3x1xf32>, tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
