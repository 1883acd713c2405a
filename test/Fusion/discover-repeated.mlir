// RUN: fact-opt %s -fact-discover=target=h200 -split-input-file | FileCheck %s

// Rows of 768 repeat a scale and a shift of each batch. The product adds its bias once, and not
// the rows for each of their elements; slices of the product are read in place.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.matmul
// CHECK-NEXT:    fact.add
// CHECK-NEXT:    fact.yield
// CHECK:       fact.fused "rowwise"
// CHECK:         fact.norm
func.func @main(%c: tensor<32x768xbf16>, %w: tensor<1536x768xbf16>, %b: tensor<1536xbf16>, %x: tensor<32x1024x768xbf16>) -> tensor<32x1024x768xbf16> {
  %m = fact.matmul %c, %w transpose_b : (tensor<32x768xbf16>, tensor<1536x768xbf16>) -> tensor<32x1536xbf16>
  %a = fact.add %m, %b : (tensor<32x1536xbf16>, tensor<1536xbf16>) -> tensor<32x1536xbf16>
  %r = fact.reshape %a : (tensor<32x1536xbf16>) -> tensor<32x1x1536xbf16>
  %s = fact.slice %r dim 2 start 0 : (tensor<32x1x1536xbf16>) -> tensor<32x1x768xbf16>
  %h = fact.slice %r dim 2 start 768 : (tensor<32x1x1536xbf16>) -> tensor<32x1x768xbf16>
  %n = fact.norm layer %x eps 1.0e-05 : (tensor<32x1024x768xbf16>) -> tensor<32x1024x768xbf16>
  %p = fact.mul %n, %s : (tensor<32x1024x768xbf16>, tensor<32x1x768xbf16>) -> tensor<32x1024x768xbf16>
  %q = fact.add %p, %h : (tensor<32x1024x768xbf16>, tensor<32x1x768xbf16>) -> tensor<32x1024x768xbf16>
  return %q : tensor<32x1024x768xbf16>
}

// -----

// As many rows as the product has: its bias and the residual are of one kernel with it or with
// the rows, and neither is computed twice.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:       fact.fused "rowwise"
// CHECK-NOT:   fact.fused
func.func @main(%c: tensor<4096x768xbf16>, %w: tensor<768x768xbf16>, %b: tensor<768xbf16>) -> tensor<4096x768xbf16> {
  %m = fact.matmul %c, %w transpose_b : (tensor<4096x768xbf16>, tensor<768x768xbf16>) -> tensor<4096x768xbf16>
  %a = fact.add %m, %b : (tensor<4096x768xbf16>, tensor<768xbf16>) -> tensor<4096x768xbf16>
  %n = fact.norm layer %a eps 1.0e-05 : (tensor<4096x768xbf16>) -> tensor<4096x768xbf16>
  return %n : tensor<4096x768xbf16>
}
