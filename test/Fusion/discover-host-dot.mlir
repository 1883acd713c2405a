// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s --check-prefix=GPU

// A product of one row and one column is a sum, which packs nothing.
// CHECK-LABEL: @dot
// CHECK: fact.fused "rowwise"
// CHECK: fact.mul {{.*}} tensor<3x4000xf32>
// CHECK-NEXT: fact.reduce sum
// CHECK-NOT: fact.matmul
// GPU-LABEL: @dot
// GPU: fact.matmul
func.func @dot(%x: tensor<3x1x4000xf32>, %y: tensor<3x4000x1xf32>) -> tensor<3x1x1xf32> {
  %0 = fact.matmul %x, %y : (tensor<3x1x4000xf32>, tensor<3x4000x1xf32>) -> tensor<3x1x1xf32>
  return %0 : tensor<3x1x1xf32>
}

// So is one of one column, whose matrix is read in place, in either order.
// CHECK-LABEL: @matrix_vector
// CHECK: fact.fused "rowwise"
// CHECK: fact.mul {{.*}} (tensor<300x400xf32>, tensor<1x400xf32>) -> tensor<300x400xf32>
// CHECK-NEXT: fact.reduce sum
// CHECK: fact.relu
// CHECK-NOT: fact.matmul
// GPU-LABEL: @matrix_vector
// GPU: fact.matmul
func.func @matrix_vector(%x: tensor<300x400xf32>, %y: tensor<400x1xf32>) -> tensor<300x1xf32> {
  %0 = fact.matmul %x, %y : (tensor<300x400xf32>, tensor<400x1xf32>) -> tensor<300x1xf32>
  %1 = fact.relu %0 : (tensor<300x1xf32>) -> tensor<300x1xf32>
  return %1 : tensor<300x1xf32>
}

// One row reads a matrix of contiguous rows in place, as a product.
// CHECK-LABEL: @vector_matrix(
// CHECK: fact.fused "gemm_epilogue"
// CHECK: fact.matmul
func.func @vector_matrix(%x: tensor<1x400xf32>, %y: tensor<400x300xf32>) -> tensor<1x300xf32> {
  %0 = fact.matmul %x, %y : (tensor<1x400xf32>, tensor<400x300xf32>) -> tensor<1x300xf32>
  return %0 : tensor<1x300xf32>
}

// One of contiguous columns is a sum.
// CHECK-LABEL: @vector_transposed(
// CHECK: fact.fused "rowwise"
// CHECK: fact.mul {{.*}} (tensor<1x400xf32>, tensor<300x400xf32>) -> tensor<300x400xf32>
// CHECK-NEXT: fact.reduce sum
// CHECK-NOT: fact.matmul
func.func @vector_transposed(%x: tensor<1x400xf32>, %y: tensor<300x400xf32>) -> tensor<1x300xf32> {
  %0 = fact.matmul %x, %y transpose_b : (tensor<1x400xf32>, tensor<300x400xf32>) -> tensor<1x300xf32>
  return %0 : tensor<1x300xf32>
}

// What is computed for the vector is computed once, and not for each row.
// CHECK-LABEL: @computed_vector
// CHECK: fact.fused "pointwise"
// CHECK: fact.tanh
// CHECK: fact.fused "rowwise"
// CHECK-NOT: fact.tanh
// CHECK: fact.reduce sum
func.func @computed_vector(%x: tensor<300x400xf32>, %y: tensor<400x1xf32>) -> tensor<300x1xf32> {
  %0 = fact.tanh %y : (tensor<400x1xf32>) -> tensor<400x1xf32>
  %1 = fact.matmul %x, %0 : (tensor<300x400xf32>, tensor<400x1xf32>) -> tensor<300x1xf32>
  return %1 : tensor<300x1xf32>
}

// Batches of both factors, in bf16, which is summed in f32.
// CHECK-LABEL: @batches
// CHECK: fact.fused "rowwise"
// CHECK: fact.reduce sum {{.*}} (tensor<6x30x40xf32>)
// CHECK-NOT: fact.matmul
func.func @batches(%x: tensor<6x30x40xbf16>, %y: tensor<6x40x1xbf16>) -> tensor<6x30x1xbf16> {
  %0 = fact.matmul %x, %y : (tensor<6x30x40xbf16>, tensor<6x40x1xbf16>) -> tensor<6x30x1xbf16>
  return %0 : tensor<6x30x1xbf16>
}

// One term per sum is no sum.
// CHECK-LABEL: @outer
// CHECK: fact.fused "pointwise"
// CHECK: fact.mul {{.*}} (tensor<300x1xf32>, tensor<1x400xf32>) -> tensor<300x400xf32>
// CHECK-NOT: fact.matmul
func.func @outer(%x: tensor<1x300xf32>, %y: tensor<1x400xf32>) -> tensor<300x400xf32> {
  %0 = fact.matmul %x, %y transpose_a : (tensor<1x300xf32>, tensor<1x400xf32>) -> tensor<300x400xf32>
  return %0 : tensor<300x400xf32>
}

// Vectors of all batches that share a matrix are the rows of one product.
// CHECK-LABEL: @shared
// CHECK: fact.fused "gemm_epilogue"
func.func @shared(%x: tensor<30x1x400xf32>, %y: tensor<400x5xf32>) -> tensor<30x1x5xf32> {
  %0 = fact.matmul %x, %y : (tensor<30x1x400xf32>, tensor<400x5xf32>) -> tensor<30x1x5xf32>
  return %0 : tensor<30x1x5xf32>
}

// Windows times one filter are read in place, by the kernel of convolutions.
// CHECK-LABEL: @one_filter
// CHECK-NOT: fact.reduce
// CHECK: fact.fused "gemm_epilogue" ins(%{{.*}} : tensor<1x34x34x16xf32>, tensor<1x144xf32>)
// CHECK: fact.windows
// CHECK: fact.matmul
// CHECK-NOT: fact.fused
// CHECK: return
func.func @one_filter(%x: tensor<1x34x34x16xf32>, %w: tensor<1x144xf32>) -> tensor<1024x1xf32> {
  %0 = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<1x34x34x16xf32>) -> tensor<1x32x32x3x3x16xf32>
  %1 = fact.reshape %0 : (tensor<1x32x32x3x3x16xf32>) -> tensor<1024x144xf32>
  %2 = fact.matmul %1, %w transpose_b : (tensor<1024x144xf32>, tensor<1x144xf32>) -> tensor<1024x1xf32>
  return %2 : tensor<1024x1xf32>
}
