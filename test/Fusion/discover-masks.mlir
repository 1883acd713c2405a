// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=a100 patterns=%t.none" | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" | FileCheck %s

// Masks and integers are operands of a product's epilogue, and so is what a cast
// of them is computed from.

// CHECK-LABEL: func @choice
// CHECK: fact.fused "gemm_epilogue" ins({{.*}}tensor<512x384xi1>
// CHECK: fact.matmul
// CHECK: fact.select
// CHECK-NOT: fact.fused
// CHECK: return
func.func @choice(%x: tensor<512x256xbf16>, %w: tensor<256x384xbf16>, %m: tensor<512x384xi1>, %y: tensor<512x384xbf16>) -> tensor<512x384xbf16> {
  %0 = fact.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x384xbf16>) -> tensor<512x384xbf16>
  %1 = fact.select %m, %0, %y : (tensor<512x384xi1>, tensor<512x384xbf16>, tensor<512x384xbf16>) -> tensor<512x384xbf16>
  return %1 : tensor<512x384xbf16>
}

// CHECK-LABEL: func @dropout
// CHECK: fact.fused "gemm_epilogue" ins({{.*}}tensor<512x384xi1>
// CHECK-DAG: fact.matmul
// CHECK-DAG: fact.cast
// CHECK: fact.mul
// CHECK-NOT: fact.fused
// CHECK: return
func.func @dropout(%x: tensor<512x256xf32>, %w: tensor<256x384xf32>, %m: tensor<512x384xi1>) -> tensor<512x384xf32> {
  %0 = fact.matmul %x, %w : (tensor<512x256xf32>, tensor<256x384xf32>) -> tensor<512x384xf32>
  %1 = fact.cast %m : (tensor<512x384xi1>) -> tensor<512x384xf32>
  %2 = fact.mul %0, %1 : (tensor<512x384xf32>, tensor<512x384xf32>) -> tensor<512x384xf32>
  return %2 : tensor<512x384xf32>
}

// A cast that makes a matrix smaller, and one that batches share, are computed
// once, ahead.
// CHECK-LABEL: func @ahead
// CHECK-COUNT-2: fact.fused "pointwise"
// CHECK: fact.fused "gemm_epilogue"
// CHECK-NOT: fact.cast
// CHECK: return
func.func @ahead(%x: tensor<4x512x256xbf16>, %w: tensor<4x256x384xbf16>, %i: tensor<4x512x384xi64>, %m: tensor<512x384xi1>) -> tensor<4x512x384xbf16> {
  %0 = fact.matmul %x, %w : (tensor<4x512x256xbf16>, tensor<4x256x384xbf16>) -> tensor<4x512x384xbf16>
  %1 = fact.cast %i : (tensor<4x512x384xi64>) -> tensor<4x512x384xbf16>
  %2 = fact.add %0, %1 : (tensor<4x512x384xbf16>, tensor<4x512x384xbf16>) -> tensor<4x512x384xbf16>
  %3 = fact.cast %m : (tensor<512x384xi1>) -> tensor<512x384xbf16>
  %4 = fact.mul %2, %3 : (tensor<4x512x384xbf16>, tensor<512x384xbf16>) -> tensor<4x512x384xbf16>
  return %4 : tensor<4x512x384xbf16>
}
