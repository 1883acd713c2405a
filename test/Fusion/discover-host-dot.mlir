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

// Rows of all batches that share a column are the rows of one product.
// CHECK-LABEL: @shared
// CHECK: fact.fused "gemm_epilogue"
func.func @shared(%x: tensor<30x1x400xf32>, %y: tensor<400x1xf32>) -> tensor<30x1x1xf32> {
  %0 = fact.matmul %x, %y : (tensor<30x1x400xf32>, tensor<400x1xf32>) -> tensor<30x1x1xf32>
  return %0 : tensor<30x1x1xf32>
}
