// Booleans and integers in epilogues: what functors take, and which kernels read them.

// RUN: fact-opt --fact-discover=target=h200 %s | fact-translate --fact-to-cutlass | FileCheck %s

// CHECK-LABEL: namespace fact::gemm_epilogue_0 {
// CHECK: FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT: bool operand2,
// CHECK-NEXT: float operand3) {
// CHECK-NEXT: operand2 ? accumulator : operand3
// CHECK: using Kernel = Gemm<
// CHECK: Operands<RowMajor<2, i1,
// CHECK-NEXT: RowMajor<3, bf16,
func.func @choice(%x: tensor<512x256xbf16>, %w: tensor<256x384xbf16>, %m: tensor<512x384xi1>, %y: tensor<512x384xbf16>) -> tensor<512x384xbf16> {
  %0 = fact.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x384xbf16>) -> tensor<512x384xbf16>
  %1 = fact.select %m, %0, %y : (tensor<512x384xi1>, tensor<512x384xbf16>, tensor<512x384xbf16>) -> tensor<512x384xbf16>
  return %1 : tensor<512x384xbf16>
}

// Integers are compared as they are.
// CHECK-LABEL: namespace fact::gemm_epilogue_1 {
// CHECK: FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT: int64_t operand2,
// CHECK-NEXT: int64_t operand3) {
// CHECK-NEXT: operand2 <= operand3
// CHECK: using Kernel = Gemm<
// CHECK: Operands<ColumnVector<2, i64,
// CHECK-NEXT: RowVector<3, i64,
func.func @positions(%x: tensor<512x256xbf16>, %w: tensor<256x384xbf16>, %i: tensor<512x1xi64>, %j: tensor<384xi64>) -> tensor<512x384xbf16> {
  %f = fact.constant dense<0.0> : tensor<bf16>
  %0 = fact.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x384xbf16>) -> tensor<512x384xbf16>
  %1 = fact.compare le %i, %j : (tensor<512x1xi64>, tensor<384xi64>) -> tensor<512x384xi1>
  %2 = fact.select %1, %0, %f : (tensor<512x384xi1>, tensor<512x384xbf16>, tensor<bf16>) -> tensor<512x384xbf16>
  return %2 : tensor<512x384xbf16>
}

// TMA reads rows of whole 16 bytes, which are 16 elements of a mask: others are
// read by another kernel.
// CHECK-LABEL: namespace fact::gemm_epilogue_2 {
// CHECK: using Kernel = Gemm<
// CHECK: Operands<>,
// CHECK-LABEL: namespace fact::pointwise_3 {
func.func @short_rows(%x: tensor<512x256xbf16>, %w: tensor<256x392xbf16>, %m: tensor<512x392xi1>) -> tensor<512x392xbf16> {
  %f = fact.constant dense<0.0> : tensor<bf16>
  %0 = fact.matmul %x, %w : (tensor<512x256xbf16>, tensor<256x392xbf16>) -> tensor<512x392xbf16>
  %1 = fact.select %m, %0, %f : (tensor<512x392xi1>, tensor<512x392xbf16>, tensor<bf16>) -> tensor<512x392xbf16>
  return %1 : tensor<512x392xbf16>
}
