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
// CHECK-NEXT:     GroupedProblem<Size(0), Size(1)>,
// CHECK-NEXT:     RowMajor<0, bf16, Size(2), Size(3), Size(4)>,
// CHECK-NEXT:     Segments<
// CHECK-NEXT:         Segment<Size(5), ColumnMajor<1, bf16, Size(6), Size(7), Size(8)>, Operands<RowVector<4, bf16, Size(9), Size(10)>>,
// CHECK-NEXT:                 Epilogue0, RowMajor<6, bf16, Size(11), Size(12), Size(13)>>,
// CHECK-NEXT:         Segment<Size(14), ColumnMajor<2, bf16, Size(15), Size(16), Size(17)>, Operands<>,
// CHECK-NEXT:                 Identity, RowMajor<8, bf16, Size(18), Size(19), Size(20)>>,
// CHECK-NEXT:         Segment<Size(21), ColumnMajor<3, bf16, Size(22), Size(23), Size(24)>, Operands<ColumnVector<5, f32, Size(25), Size(26)>>,
// CHECK-NEXT:                 Epilogue2, RowMajor<7, bf16, Size(27), Size(28), Size(29)>>>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 64, 64>, Cluster<2, 1>, Pingpong, Swizzle<Size(30)>>>;
// CHECK:      FACT_SIZED_KERNEL(grouped_gemm_0, Kernel, 31)
// CHECK:      // sizes of grouped_gemm_0: 200, 64, 64, 0, 0, 128, 64, 0, 0, 0, 0, 128, 0, 0, 32, 64, 0, 0, 32, 0, 0, 40, 64, 0, 0, 0, 0, 40, 0, 0, 1
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
