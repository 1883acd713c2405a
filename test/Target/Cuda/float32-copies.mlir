// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t
// RUN: FileCheck %s --input-file=%t/kernels/gemm_epilogue_0/0.cu
// RUN: cmp %t/kernels/gemm_epilogue_0/0.cu %t/kernels/gemm_epilogue_1/0.cu
// RUN: FileCheck %s --check-prefix=GATED --input-file=%t/kernels/gated_gemm_2/0.cu

// Factors of f32 that wgmma does not read as they lie are copied: an odd K, and rows that do not
// lie along K. One object serves all sizes of them.

// CHECK:      using Kernel = Float32Gemm<
// CHECK-NEXT: Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: Copied<RowMajor<0, f32, Size(4), Size(5), Size(6)>>,
// CHECK-NEXT: Copied<ColumnMajor<1, f32, Size(7), Size(8), Size(9)>>,
// CHECK:      Promoted<Cooperative>

// GATED:      using Kernel = GatedGemm<
// GATED:      Copied<ColumnMajor<0, f32, Size(3), Size(4), Size(5)>>,
// GATED-NEXT: {{^ *}}ColumnMajor<1, f32,
// GATED-NEXT: {{^ *}}ColumnMajor<2, f32,

#one = #fact.sm90_gemm_space<tile = [128x128x32], cluster = [1x1], kernel = [cooperative], swizzle = [1]>

func.func @main(%x: tensor<300x517xf32>, %w: tensor<328x517xf32>, %y: tensor<3x64x73xf32>, %v: tensor<3x1024x73xf32>, %z: tensor<64x512xf32>, %g: tensor<256x64xf32>, %u: tensor<256x64xf32>) -> (tensor<300x328xf32>, tensor<3x64x1024xf32>, tensor<512x256xf32>) {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<300x517xf32>, tensor<328x517xf32>) {
  ^bb0(%a: tensor<300x517xf32>, %b: tensor<328x517xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<300x517xf32>, tensor<328x517xf32>) -> tensor<300x328xf32>
    %2 = fact.relu %1 : (tensor<300x328xf32>) -> tensor<300x328xf32>
    fact.yield %2 : tensor<300x328xf32>
  } space(#one) : tensor<300x328xf32>
  %3 = fact.fused "gemm_epilogue" ins(%y, %v : tensor<3x64x73xf32>, tensor<3x1024x73xf32>) {
  ^bb0(%a: tensor<3x64x73xf32>, %b: tensor<3x1024x73xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<3x64x73xf32>, tensor<3x1024x73xf32>) -> tensor<3x64x1024xf32>
    %2 = fact.relu %1 : (tensor<3x64x1024xf32>) -> tensor<3x64x1024xf32>
    fact.yield %2 : tensor<3x64x1024xf32>
  } space(#one) : tensor<3x64x1024xf32>
  %4 = fact.fused "gated_gemm" ins(%z, %g, %u : tensor<64x512xf32>, tensor<256x64xf32>, tensor<256x64xf32>) {
  ^bb0(%a: tensor<64x512xf32>, %b: tensor<256x64xf32>, %c: tensor<256x64xf32>):
    %1 = fact.matmul %a, %b transpose_a transpose_b : (tensor<64x512xf32>, tensor<256x64xf32>) -> tensor<512x256xf32>
    %2 = fact.matmul %a, %c transpose_a transpose_b : (tensor<64x512xf32>, tensor<256x64xf32>) -> tensor<512x256xf32>
    %3 = fact.silu %1 : (tensor<512x256xf32>) -> tensor<512x256xf32>
    %5 = fact.mul %3, %2 : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
    fact.yield %5 : tensor<512x256xf32>
  } space(#one) : tensor<512x256xf32>
  return %0, %3, %4 : tensor<300x328xf32>, tensor<3x64x1024xf32>, tensor<512x256xf32>
}
