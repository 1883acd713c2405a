// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s
// RUN: fact-translate --fact-to-cutlass-reference -split-input-file %s | FileCheck %s --check-prefix=REFERENCE

// A gated MLP over [batch, time, channels]: the batch folds into M.

// CHECK:      // sm90_gemm<
// CHECK:      #include "fact/cutlass/GatedGemm.cuh"
// CHECK:      namespace fact::gated_gemm_0 {
// CHECK:      struct Combine {
// CHECK-NEXT:   FACT_DEVICE float apply(float gate,
// CHECK-NEXT:                          float up) {
// CHECK-NEXT:     const float v0 = gate * 0.5f;
// CHECK-NEXT:     const float v1 = tanh_approx(v0);
// CHECK-NEXT:     const float v2 = fmaf(v1, 0.5f, 0.5f);
// CHECK-NEXT:     const float v3 = gate * v2;
// CHECK-NEXT:     const float v4 = v3 * up;
// CHECK-NEXT:     return v4;
// CHECK:      using Kernel = GatedGemm<
// CHECK-NEXT:     Problem<Size(0), Size(1), Size(2)>,
// CHECK-NEXT:     RowMajor<0, bf16, Size(3), Size(4), Size(5)>,
// CHECK-NEXT:     ColumnMajor<1, bf16, Size(6), Size(7), Size(8)>,
// CHECK-NEXT:     ColumnMajor<2, bf16, Size(9), Size(10), Size(11)>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Combine,
// CHECK-NEXT:     RowMajor<3, bf16, Size(12), Size(13), Size(14)>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative, Swizzle<Size(15)>>>;
// CHECK:      FACT_SIZED_KERNEL(gated_gemm_0, Kernel, 16)
// CHECK:      // sizes of gated_gemm_0: 32768, 9728, 4096, 4096, 0, 0, 4096, 0, 0, 4096, 0, 0, 9728, 0, 0, 4
// REFERENCE:  FACT_REFERENCE(gated_gemm_0_reference
func.func @swiglu(%x: tensor<16x2048x4096xbf16>, %g: tensor<9728x4096xbf16>, %u: tensor<9728x4096xbf16>) -> tensor<16x2048x9728xbf16> {
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<16x2048x4096xbf16>, tensor<9728x4096xbf16>, tensor<9728x4096xbf16>) {
  ^bb0(%a: tensor<16x2048x4096xbf16>, %b: tensor<9728x4096xbf16>, %c: tensor<9728x4096xbf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<16x2048x4096xbf16>, tensor<9728x4096xbf16>) -> tensor<16x2048x9728xbf16>
    %2 = fact.silu %1 : (tensor<16x2048x9728xbf16>) -> tensor<16x2048x9728xbf16>
    %3 = fact.matmul %a, %c transpose_b : (tensor<16x2048x4096xbf16>, tensor<9728x4096xbf16>) -> tensor<16x2048x9728xbf16>
    %4 = fact.mul %2, %3 : (tensor<16x2048x9728xbf16>, tensor<16x2048x9728xbf16>) -> tensor<16x2048x9728xbf16>
    fact.yield %4 : tensor<16x2048x9728xbf16>
  } : tensor<16x2048x9728xbf16>
  return %0 : tensor<16x2048x9728xbf16>
}

// -----

// The product that is activated is the gate, wherever it stands; both weights
// may be slices of one; a given schedule is taken.

// CHECK:      struct Combine {
// CHECK-NEXT:   FACT_DEVICE float apply(float gate,
// CHECK-NEXT:                          float up) {
// CHECK-NEXT:     const float v0 = nan_maximum(gate, 0.0f);
// CHECK-NEXT:     const float v1 = up * v0;
// CHECK-NEXT:     return v1;
// CHECK:      using Kernel = GatedGemm<
// CHECK-NEXT:     Problem<Size(0), Size(1), Size(2)>,
// CHECK-NEXT:     RowMajor<0, f16, Size(3), Size(4), Size(5)>,
// CHECK-NEXT:     ColumnMajor<1, f16, Size(6), Size(7), Size(8)>,
// CHECK-NEXT:     ColumnMajor<1, f16, Size(9), Size(10), Size(11)>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Combine,
// CHECK-NEXT:     RowMajor<2, f16, Size(12), Size(13), Size(14)>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<Size(15)>>>;
// REFERENCE:  FACT_REFERENCE(gated_gemm_0_reference
func.func @reglu(%x: tensor<200x104xf16>, %w: tensor<176x104xf16>) -> tensor<200x88xf16> {
  %0 = fact.fused "gated_gemm" ins(%x, %w : tensor<200x104xf16>, tensor<176x104xf16>) {
  ^bb0(%a: tensor<200x104xf16>, %b: tensor<176x104xf16>):
    %g = fact.slice %b dim 0 start 0 : (tensor<176x104xf16>) -> tensor<88x104xf16>
    %u = fact.slice %b dim 0 start 88 : (tensor<176x104xf16>) -> tensor<88x104xf16>
    %1 = fact.matmul %a, %u transpose_b : (tensor<200x104xf16>, tensor<88x104xf16>) -> tensor<200x88xf16>
    %2 = fact.matmul %a, %g transpose_b : (tensor<200x104xf16>, tensor<88x104xf16>) -> tensor<200x88xf16>
    %3 = fact.relu %2 : (tensor<200x88xf16>) -> tensor<200x88xf16>
    %4 = fact.mul %1, %3 : (tensor<200x88xf16>, tensor<200x88xf16>) -> tensor<200x88xf16>
    fact.yield %4 : tensor<200x88xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<200x88xf16>
  return %0 : tensor<200x88xf16>
}

// -----

// Biases of both products and a residual.

// CHECK:      struct Combine {
// CHECK-NEXT:   FACT_DEVICE float apply(float gate,
// CHECK-NEXT:                          float up,
// CHECK-NEXT:                          float operand3,
// CHECK-NEXT:                          float operand4,
// CHECK-NEXT:                          float operand5) {
// CHECK-NEXT:     const float v0 = gate + operand3;
// CHECK-NEXT:     const float v1 = nan_maximum(v0, 0.0f);
// CHECK-NEXT:     const float v2 = up + operand4;
// CHECK-NEXT:     const float v3 = v1 * v2;
// CHECK-NEXT:     const float v4 = v3 + operand5;
// CHECK:          ColumnMajor<2, f16, Size(9), Size(10), Size(11)>,
// CHECK-NEXT:     Operands<RowVector<3, f16, Size(12), Size(13)>,
// CHECK-NEXT:              RowVector<4, f16, Size(14), Size(15)>,
// CHECK-NEXT:              RowMajor<5, f16, Size(16), Size(17), Size(18)>>,
// CHECK-NEXT:     Combine,
// CHECK-NEXT:     RowMajor<6, f16, Size(19), Size(20), Size(21)>,
// REFERENCE:  FACT_REFERENCE(gated_gemm_0_reference
func.func @biases(%x: tensor<200x104xf16>, %g: tensor<88x104xf16>, %u: tensor<88x104xf16>, %b: tensor<88xf16>, %c: tensor<88xf16>, %r: tensor<200x88xf16>) -> tensor<200x88xf16> {
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u, %b, %c, %r : tensor<200x104xf16>, tensor<88x104xf16>, tensor<88x104xf16>, tensor<88xf16>, tensor<88xf16>, tensor<200x88xf16>) {
  ^bb0(%X: tensor<200x104xf16>, %G: tensor<88x104xf16>, %U: tensor<88x104xf16>, %B: tensor<88xf16>, %C: tensor<88xf16>, %R: tensor<200x88xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<200x104xf16>, tensor<88x104xf16>) -> tensor<200x88xf16>
    %2 = fact.add %1, %B : (tensor<200x88xf16>, tensor<88xf16>) -> tensor<200x88xf16>
    %3 = fact.relu %2 : (tensor<200x88xf16>) -> tensor<200x88xf16>
    %4 = fact.matmul %X, %U transpose_b : (tensor<200x104xf16>, tensor<88x104xf16>) -> tensor<200x88xf16>
    %5 = fact.add %4, %C : (tensor<200x88xf16>, tensor<88xf16>) -> tensor<200x88xf16>
    %6 = fact.mul %3, %5 : (tensor<200x88xf16>, tensor<200x88xf16>) -> tensor<200x88xf16>
    %7 = fact.add %6, %R : (tensor<200x88xf16>, tensor<200x88xf16>) -> tensor<200x88xf16>
    fact.yield %7 : tensor<200x88xf16>
  } : tensor<200x88xf16>
  return %0 : tensor<200x88xf16>
}
