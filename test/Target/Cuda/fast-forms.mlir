// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// A sigmoid by tanh.approx is wrong by 2^-12, which is any error of its
// logarithm; the logarithm itself is stored, and may be fast.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK-NOT:     tanh_approx
// CHECK:         expf(
// CHECK-NOT:     tanh_approx
// CHECK:         fast_log(
// CHECK:       FACT_KERNEL(
func.func @log_sigmoid(%x: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xbf16>) {
  ^bb0(%a: tensor<4096xbf16>):
    %1 = fact.sigmoid %a : (tensor<4096xbf16>) -> tensor<4096xbf16>
    %2 = fact.log %1 : (tensor<4096xbf16>) -> tensor<4096xbf16>
    fact.yield %2 : tensor<4096xbf16>
  } : tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// Products and sums that are stored take the error.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         tanh_approx(
// CHECK-NOT:     expf(
// CHECK:       FACT_KERNEL(
func.func @gate(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %0 = fact.fused "pointwise" ins(%x, %y : tensor<4096xbf16>, tensor<4096xbf16>) {
  ^bb0(%a: tensor<4096xbf16>, %b: tensor<4096xbf16>):
    %1 = fact.sigmoid %a : (tensor<4096xbf16>) -> tensor<4096xbf16>
    %2 = fact.mul %1, %b : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xbf16>
    %3 = fact.add %2, %a : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xbf16>
    fact.yield %3 : tensor<4096xbf16>
  } : tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// A use that does not take it is enough.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK-NOT:     tanh_approx
// CHECK:       FACT_KERNEL(
func.func @two_uses(%x: tensor<4096xbf16>) -> (tensor<4096xbf16>, tensor<4096xbf16>) {
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4096xbf16>) {
  ^bb0(%a: tensor<4096xbf16>):
    %1 = fact.sigmoid %a : (tensor<4096xbf16>) -> tensor<4096xbf16>
    %2 = fact.reciprocal %1 : (tensor<4096xbf16>) -> tensor<4096xbf16>
    fact.yield %1, %2 : tensor<4096xbf16>, tensor<4096xbf16>
  } : tensor<4096xbf16>, tensor<4096xbf16>
  return %0#0, %0#1 : tensor<4096xbf16>, tensor<4096xbf16>
}

// -----

// A GELU of a product of TF32 is no more exact than its cheap form. A
// cheap SiLU could have another sign near 0.

// CHECK-LABEL: fact::gemm_epilogue_0 {
// CHECK:         fast_erf(
// CHECK-NOT:     erff(
// CHECK-NOT:     tanh_approx(
// CHECK:         expf(
// CHECK:       FACT_SIZED_KERNEL(
func.func @tf32(%x: tensor<256x64xf32>, %w: tensor<128x64xf32>) -> tensor<256x128xf32> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x64xf32>, tensor<128x64xf32>) {
  ^bb0(%a: tensor<256x64xf32>, %b: tensor<128x64xf32>):
    %1 = fact.matmul %a, %b transpose_b tf32 : (tensor<256x64xf32>, tensor<128x64xf32>) -> tensor<256x128xf32>
    %2 = fact.gelu %1 : (tensor<256x128xf32>) -> tensor<256x128xf32>
    %3 = fact.silu %1 : (tensor<256x128xf32>) -> tensor<256x128xf32>
    %4 = fact.add %2, %3 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
    fact.yield %4 : tensor<256x128xf32>
  } : tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}
