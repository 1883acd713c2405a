// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s

// Kernels of products know which part of their operands is 0, and which part of the product is used: elements
// [i, j] with bounds of j - i, where 536870912 is none.

// CHECK-LABEL: func @lower_factor
// CHECK: fact.matmul
// CHECK: fact.bands = array<i64: -536870912, 1, -536870912, 536870912>
func.func @lower_factor(%a: tensor<4x4xbf16>, %b: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %mask = fact.constant dense<[[true, true, false, false], [true, true, true, false],
                               [true, true, true, true], [true, true, true, true]]> : tensor<4x4xi1>
  %zero = fact.constant dense<0.0> : tensor<bf16>
  %0 = fact.select %mask, %a, %zero : (tensor<4x4xi1>, tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xbf16>
  %1 = fact.matmul %0, %b : (tensor<4x4xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}

// A mask that fills zeros in, of a factor that is transposed and scaled.
// CHECK-LABEL: func @filled
// CHECK: fact.matmul
// CHECK: fact.bands = array<i64: -536870912, 536870912, -536870912, 0>
func.func @filled(%a: tensor<8x4xf32>, %b: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %mask = fact.constant dense<[[false, true, true, true], [false, false, true, true],
                               [false, false, false, true], [false, false, false, false]]> : tensor<4x4xi1>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %half = fact.constant dense<0.5> : tensor<f32>
  %0 = fact.select %mask, %zero, %b : (tensor<4x4xi1>, tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = fact.mul %0, %half : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = fact.matmul %a, %1 transpose_b : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// The mask of a product: what it hides is not used, whatever takes its place.
// CHECK-LABEL: func @used
// CHECK: fact.matmul
// CHECK: fact.bands = array<i64: -536870912, 536870912, -536870912, 536870912, -536870912, 0>
func.func @used(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>) -> tensor<2x4x4xf32> {
  %mask = fact.constant dense<[[true, false, false, false], [true, true, false, false],
                               [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %other = fact.constant dense<-1.0> : tensor<f32>
  %0 = fact.matmul %a, %b : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  %1 = fact.select %mask, %0, %other : (tensor<4x4xi1>, tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
  return %1 : tensor<2x4x4xf32>
}

// A buffer with data is baked.
// CHECK: fact.weight @mask baked
// CHECK-LABEL: func @weight
// CHECK: fact.matmul
// CHECK: fact.bands = array<i64: -536870912, 536870912, 0, 536870912>
fact.weight @w : tensor<4x4xf32>
fact.weight @mask = dense<[[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0],
                           [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
// One that has other zeros is none.
// CHECK-NOT: fact.weight @pruned baked
fact.weight @pruned = dense<[[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0],
                             [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
func.func @weight(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = fact.get_weight @w : tensor<4x4xf32>
  %mask = fact.get_weight @mask : tensor<4x4xf32>
  %0 = fact.mul %w, %mask : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = fact.matmul %x, %0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func @pruned_weight
// CHECK-NOT: fact.bands
// CHECK: return
func.func @pruned_weight(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = fact.get_weight @w : tensor<4x4xf32>
  %mask = fact.get_weight @pruned : tensor<4x4xf32>
  %0 = fact.mul %w, %mask : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = fact.matmul %x, %0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// A product that is also used elsewhere is needed whole, and so is one of a factor plus one.
// CHECK-LABEL: func @whole
// CHECK-NOT: fact.bands
// CHECK: return
func.func @whole(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %mask = fact.constant dense<[[true, false, false, false], [true, true, false, false],
                               [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.select %mask, %a, %zero : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %1 = fact.add %0, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = fact.matmul %1, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = fact.select %mask, %2, %zero : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// A buffer of zeros is no mask: it may get other values.
// CHECK-NOT: fact.weight @zeros baked
fact.weight @zeros = dense<0.0> : tensor<4x4xf32>
// CHECK-LABEL: func @zero_weight
// CHECK-NOT: fact.bands
// CHECK: return
func.func @zero_weight(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = fact.get_weight @zeros : tensor<4x4xf32>
  %0 = fact.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
