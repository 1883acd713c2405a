// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s
// RUN: fact-translate --fact-to-cutlass-reference -split-input-file %s | FileCheck %s --check-prefix=REFERENCE

// Queries, keys and values of one input: a bias for the queries, heads in the
// keys' result, an activation of the values with a scale for each row.

// CHECK:      #include "fact/cutlass/GroupedGemm.cuh"
// CHECK:      struct Epilogue0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float product,
// CHECK-NEXT:                          float operand4) {
// CHECK-NEXT:     const float v0 = product + operand4;
// CHECK:      struct Epilogue2 {
// CHECK-NEXT:   FACT_DEVICE float apply(float product,
// CHECK-NEXT:                          float operand5) {
// CHECK:      using Kernel = GroupedGemm<
// CHECK-NEXT:     GroupedProblem<200, 64>,
// CHECK-NEXT:     RowMajor<0, bf16, 64>,
// CHECK-NEXT:     Segments<
// CHECK-NEXT:         Segment<128, ColumnMajor<1, bf16, 64>, Operands<RowVector<4, bf16>>,
// CHECK-NEXT:                 Epilogue0, RowMajor<6, bf16, 128>>,
// CHECK-NEXT:         Segment<32, ColumnMajor<2, bf16, 64>, Operands<>,
// CHECK-NEXT:                 Identity, RowMajor<8, bf16, 32>>,
// CHECK-NEXT:         Segment<40, ColumnMajor<3, bf16, 64>, Operands<ColumnVector<5, f32>>,
// CHECK-NEXT:                 Epilogue2, RowMajor<7, bf16, 40>>>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 64, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>>>;
// CHECK:      FACT_KERNEL(grouped_gemm_0, Kernel)
// REFERENCE-COUNT-3: matmul<value
// REFERENCE:  FACT_REFERENCE(grouped_gemm_0_reference
func.func @qkv(%x: tensor<2x100x64xbf16>, %q: tensor<128x64xbf16>, %k: tensor<32x64xbf16>, %v: tensor<40x64xbf16>, %b: tensor<128xbf16>, %s: tensor<2x100x1xf32>) -> (tensor<2x100x128xbf16>, tensor<2x100x40xbf16>, tensor<2x100x4x8xbf16>) {
  %0:3 = fact.fused "grouped_gemm" ins(%x, %q, %k, %v, %b, %s : tensor<2x100x64xbf16>, tensor<128x64xbf16>, tensor<32x64xbf16>, tensor<40x64xbf16>, tensor<128xbf16>, tensor<2x100x1xf32>) {
  ^bb0(%X: tensor<2x100x64xbf16>, %Q: tensor<128x64xbf16>, %K: tensor<32x64xbf16>, %V: tensor<40x64xbf16>, %B: tensor<128xbf16>, %S: tensor<2x100x1xf32>):
    %1 = fact.matmul %X, %Q transpose_b : (tensor<2x100x64xbf16>, tensor<128x64xbf16>) -> tensor<2x100x128xbf16>
    %2 = fact.add %1, %B : (tensor<2x100x128xbf16>, tensor<128xbf16>) -> tensor<2x100x128xbf16>
    %3 = fact.matmul %X, %K transpose_b : (tensor<2x100x64xbf16>, tensor<32x64xbf16>) -> tensor<2x100x32xbf16>
    %4 = fact.reshape %3 : (tensor<2x100x32xbf16>) -> tensor<2x100x4x8xbf16>
    %5 = fact.matmul %X, %V transpose_b : (tensor<2x100x64xbf16>, tensor<40x64xbf16>) -> tensor<2x100x40xbf16>
    %6 = fact.relu %5 : (tensor<2x100x40xbf16>) -> tensor<2x100x40xbf16>
    %7 = fact.cast %6 : (tensor<2x100x40xbf16>) -> tensor<2x100x40xf32>
    %8 = fact.mul %7, %S : (tensor<2x100x40xf32>, tensor<2x100x1xf32>) -> tensor<2x100x40xf32>
    %9 = fact.cast %8 : (tensor<2x100x40xf32>) -> tensor<2x100x40xbf16>
    fact.yield %2, %9, %4 : tensor<2x100x128xbf16>, tensor<2x100x40xbf16>, tensor<2x100x4x8xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<2x100x128xbf16>, tensor<2x100x40xbf16>, tensor<2x100x4x8xbf16>
  return %0#0, %0#1, %0#2 : tensor<2x100x128xbf16>, tensor<2x100x40xbf16>, tensor<2x100x4x8xbf16>
}
