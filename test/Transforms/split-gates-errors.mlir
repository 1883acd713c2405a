// RUN: fact-opt --fact-split-gates %s | FileCheck %s

// Near misses of gates: each product stays one product.

// The halves are added.
// CHECK-LABEL: func @sum
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @one_slice
func.func @sum(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = fact.add %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}

// One slice is the gate and the gated value.
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @two_products
func.func @one_slice(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = fact.mul %2, %1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}

// Slices of two products.
// CHECK-COUNT-2: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @three_users
func.func @two_products(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>, %u: tensor<32x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.matmul %x, %u transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %2 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.slice %1 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %4 = fact.silu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = fact.mul %4, %3 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %5 : tensor<4x16xf32>
}

// A third slice of the product has another user.
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @softmax
func.func @three_users(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> (tensor<4x8xf32>, tensor<4x16xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %2 = fact.slice %0 dim 1 start 8 : (tensor<4x32xf32>) -> tensor<4x8xf32>
  %3 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %4 = fact.silu %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = fact.mul %4, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %5, %3 : tensor<4x8xf32>, tensor<4x16xf32>
}

// A softmax in place of a pointwise activation.
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @row_bias
func.func @softmax(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.softmax %1 dim 1 : tensor<4x16xf32>
  %4 = fact.mul %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}

// A bias that varies over rows.
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @product_needed
func.func @row_bias(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>, %b: tensor<4x32xf32>) -> tensor<4x16xf32> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.add %0, %b : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %2 = fact.slice %1 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.slice %1 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %4 = fact.silu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = fact.mul %4, %3 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %5 : tensor<4x16xf32>
}

// The product without its bias is a result too.
// CHECK-COUNT-1: fact.matmul
// CHECK-NOT: fact.matmul
// CHECK-LABEL: func @no_product
func.func @product_needed(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>, %b: tensor<32xf32>) -> (tensor<4x16xf32>, tensor<4x32xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.add %0, %b : (tensor<4x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  %2 = fact.slice %1 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.slice %1 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %4 = fact.silu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = fact.mul %4, %3 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %5, %0 : tensor<4x16xf32>, tensor<4x32xf32>
}

// Slices of something that is no product.
// CHECK-NOT: fact.matmul
// CHECK: return
func.func @no_product(%y: tensor<4x32xf32>) -> tensor<4x16xf32> {
  %0 = fact.slice %y dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %1 = fact.slice %y dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.silu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = fact.mul %2, %1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
