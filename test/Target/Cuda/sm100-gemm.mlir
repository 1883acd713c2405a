// GEMMs of Blackwell: 16-bit products that TMA can address; others run through mma.sync.

// RUN: fact-opt --fact-discover="target=b200" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=sm_100" %s | FileCheck %s --check-prefix=SPACE

// SPACE: space(#fact.sm100_gemm_space<tile = [128x256x64, 128x192x64, 128x128x64], cluster = [2x1, 2x2], kernel = [two_sm, one_sm], swizzle = [1, 4]>)
// SPACE: space(#fact.sm80_gemm_space<
// SPACE: space(#fact.sm80_gemm_space<

// CHECK-LABEL: namespace fact::gemm_epilogue_0 {
func.func @layer(%x: tensor<8192x768xbf16>, %w: tensor<3072x768xbf16>, %b: tensor<3072xbf16>, %y: tensor<8192x3072xbf16>) -> (tensor<8192x3072xbf16>, tensor<8192x3072xbf16>) {
  // CHECK: using Kernel = Sm100Gemm<
  // CHECK-NEXT: Problem<8192, 3072, 768>,
  // CHECK-NEXT: RowMajor<0, bf16, 768>,
  // CHECK-NEXT: ColumnMajor<1, bf16, 768>,
  // CHECK-NEXT: Operands<RowVector<2, bf16>,
  // CHECK-NEXT: RowMajor<3, bf16, 3072>>,
  // CHECK-NEXT: Results<Result<Epilogue0, RowMajor<4, bf16, 3072>>,
  // CHECK-NEXT: Result<Epilogue1, RowMajor<5, bf16, 3072>>>,
  // CHECK-NEXT: Sm100Schedule<Tile<128, {{[0-9]+}}, 64>, TwoSm, /*cluster=*/2, {{[12]}}, /*swizzle=*/1>>;
  // CHECK: FACT_KERNEL(gemm_epilogue_0, Kernel)
  %0 = fact.matmul %x, %w transpose_b : (tensor<8192x768xbf16>, tensor<3072x768xbf16>) -> tensor<8192x3072xbf16>
  %1 = fact.add %0, %b : (tensor<8192x3072xbf16>, tensor<3072xbf16>) -> tensor<8192x3072xbf16>
  %2 = fact.relu %1 : (tensor<8192x3072xbf16>) -> tensor<8192x3072xbf16>
  %3 = fact.add %2, %y : (tensor<8192x3072xbf16>, tensor<8192x3072xbf16>) -> tensor<8192x3072xbf16>
  return %2, %3 : tensor<8192x3072xbf16>, tensor<8192x3072xbf16>
}

// CHECK-LABEL: namespace fact::gemm_epilogue_1 {
func.func @strict(%x: tensor<512x768xf32>, %w: tensor<768x1024xf32>) -> tensor<512x1024xf32> {
  // CHECK: using Kernel = Sm80Gemm<
  %0 = fact.matmul %x, %w : (tensor<512x768xf32>, tensor<768x1024xf32>) -> tensor<512x1024xf32>
  %1 = fact.relu %0 : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}

// CHECK-LABEL: namespace fact::gemm_epilogue_2 {
func.func @odd(%x: tensor<512x97xbf16>, %w: tensor<97x1031xbf16>) -> tensor<512x1031xbf16> {
  // CHECK: using Kernel = Sm80Gemm<
  %0 = fact.matmul %x, %w : (tensor<512x97xbf16>, tensor<97x1031xbf16>) -> tensor<512x1031xbf16>
  %1 = fact.relu %0 : (tensor<512x1031xbf16>) -> tensor<512x1031xbf16>
  return %1 : tensor<512x1031xbf16>
}
