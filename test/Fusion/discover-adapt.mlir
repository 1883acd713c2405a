// RUN: fact-opt %s --fact-discover="target=h200 patterns=%S/../../patterns" | FileCheck %s

// The nearest entry is of a product that is stored. Its schedules are tried in
// the order that is predicted for this one, which reduces columns.

// CHECK: strategy(<adapt, "gemm_epilogue/
// CHECK-SAME: space(#fact.schedules<#fact.sm90_gemm<tile = 64x
func.func @columns(%x: tensor<65536x3072xbf16>, %w: tensor<768x3072xbf16>, %b: tensor<768xbf16>, %r: tensor<65536x768xbf16>) -> tensor<768xbf16> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<65536x3072xbf16>, tensor<768x3072xbf16>) -> tensor<65536x768xbf16>
  %1 = fact.add %0, %b : (tensor<65536x768xbf16>, tensor<768xbf16>) -> tensor<65536x768xbf16>
  %2 = fact.add %1, %r : (tensor<65536x768xbf16>, tensor<65536x768xbf16>) -> tensor<65536x768xbf16>
  %3 = fact.reduce max %2 dims [0] : (tensor<65536x768xbf16>) -> tensor<768xbf16>
  return %3 : tensor<768xbf16>
}
