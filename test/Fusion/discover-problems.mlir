// RUN: fact-opt %s --fact-discover="target=h200 patterns=%S/Inputs/problems" | FileCheck %s

// The registry has row sums of a product and a plain product, both of row-major
// matrices with a transposed rhs. Other kinds, directions and layouts are near.

// CHECK-LABEL: func.func @row_sums
// CHECK: strategy(<reuse, "gemm_epilogue/bf16/sm_90a#
func.func @row_sums(%a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>) -> tensor<1024xbf16> {
  %0 = fact.matmul %a, %b transpose_b : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x1024xbf16>
  %1 = fact.reduce sum %0 dims [1] : (tensor<1024x1024xbf16>) -> tensor<1024xbf16>
  return %1 : tensor<1024xbf16>
}

// CHECK-LABEL: func.func @column_sums
// CHECK: strategy(<adapt, "gemm_epilogue/bf16/sm_90a#
func.func @column_sums(%a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>) -> tensor<1024xbf16> {
  %0 = fact.matmul %a, %b transpose_b : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x1024xbf16>
  %1 = fact.reduce sum %0 dims [0] : (tensor<1024x1024xbf16>) -> tensor<1024xbf16>
  return %1 : tensor<1024xbf16>
}

// CHECK-LABEL: func.func @row_maxima
// CHECK: strategy(<adapt, "gemm_epilogue/bf16/sm_90a#
func.func @row_maxima(%a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>) -> tensor<1024xbf16> {
  %0 = fact.matmul %a, %b transpose_b : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x1024xbf16>
  %1 = fact.reduce max %0 dims [1] : (tensor<1024x1024xbf16>) -> tensor<1024xbf16>
  return %1 : tensor<1024xbf16>
}

// CHECK-LABEL: func.func @transposed
// CHECK: strategy(<reuse, "gemm_epilogue/bf16/sm_90a#
func.func @transposed(%a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>) -> tensor<1024x1024xbf16> {
  %0 = fact.matmul %a, %b transpose_b : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x1024xbf16>
  return %0 : tensor<1024x1024xbf16>
}

// CHECK-LABEL: func.func @plain
// CHECK: strategy(<adapt, "gemm_epilogue/bf16/sm_90a#
func.func @plain(%a: tensor<1024x512xbf16>, %b: tensor<512x1024xbf16>) -> tensor<1024x1024xbf16> {
  %0 = fact.matmul %a, %b : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xbf16>
  return %0 : tensor<1024x1024xbf16>
}
