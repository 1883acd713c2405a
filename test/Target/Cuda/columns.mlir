// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// An image with its channels first is a batch whose result lies column by
// column. The residual is read in the same order.

// CHECK:      Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: Windows<0, bf16,
// CHECK:      Operands<ColumnMajor<2, bf16, Size({{[0-9]+}}), Size({{[0-9]+}}), Size({{[0-9]+}})>>,
// CHECK-NEXT: Results<Result<Epilogue, ColumnMajor<3, bf16, Size({{[0-9]+}}), Size({{[0-9]+}}), Size({{[0-9]+}})>>>,
// CHECK:      // sizes of gemm_epilogue_0: 896, 100, 192, 3, 64, 3, {{.*}} 896, 89600, 0, 896, 89600, 0, 1
func.func @channels_first(%x: tensor<3x28x32x64xbf16>, %w: tensor<100x192xbf16>, %d: tensor<3x100x28x32xbf16>) -> tensor<3x100x28x32xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %d : tensor<3x28x32x64xbf16>, tensor<100x192xbf16>, tensor<3x100x28x32xbf16>) {
  ^bb0(%i: tensor<3x28x32x64xbf16>, %f: tensor<100x192xbf16>, %e: tensor<3x100x28x32xbf16>):
    %z = fact.constant dense<0.0> : tensor<3x1x32x64xbf16>
    %p = fact.concat %z, %i, %z dim 1 : (tensor<3x1x32x64xbf16>, tensor<3x28x32x64xbf16>, tensor<3x1x32x64xbf16>) -> tensor<3x30x32x64xbf16>
    %v = fact.windows %p dim 1 kernel [3, 1] strides [1, 1] dilations [1, 1] : (tensor<3x30x32x64xbf16>) -> tensor<3x28x32x3x1x64xbf16>
    %a = fact.reshape %v : (tensor<3x28x32x3x1x64xbf16>) -> tensor<3x28x32x192xbf16>
    %m = fact.matmul %a, %f transpose_b : (tensor<3x28x32x192xbf16>, tensor<100x192xbf16>) -> tensor<3x28x32x100xbf16>
    %q = fact.permute %e [0, 2, 3, 1] : (tensor<3x100x28x32xbf16>) -> tensor<3x28x32x100xbf16>
    %y = fact.add %m, %q : (tensor<3x28x32x100xbf16>, tensor<3x28x32x100xbf16>) -> tensor<3x28x32x100xbf16>
    %o = fact.permute %y [0, 3, 1, 2] : (tensor<3x28x32x100xbf16>) -> tensor<3x100x28x32xbf16>
    fact.yield %o : tensor<3x100x28x32xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<3x100x28x32xbf16>
  return %r : tensor<3x100x28x32xbf16>
}

// -----

// A product's batches share their weight; the transposed result keeps them.

// CHECK:      Results<Result<Identity, ColumnMajor<2, f32, Size({{[0-9]+}}), Size({{[0-9]+}}), Size({{[0-9]+}})>>>,
// CHECK:      // sizes of gemm_epilogue_0: 264, 42, 96, 3,
func.func @transposed(%x: tensor<3x264x96xf32>, %w: tensor<42x96xf32>) -> tensor<3x42x264xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<3x264x96xf32>, tensor<42x96xf32>) {
  ^bb0(%i: tensor<3x264x96xf32>, %f: tensor<42x96xf32>):
    %m = fact.matmul %i, %f transpose_b tf32 : (tensor<3x264x96xf32>, tensor<42x96xf32>) -> tensor<3x264x42xf32>
    %y = fact.permute %m [0, 2, 1] : (tensor<3x264x42xf32>) -> tensor<3x42x264xf32>
    fact.yield %y : tensor<3x42x264xf32>
  } schedule(#fact.sm90_gemm<tile = 128x64x32, cluster = 2x1, kernel = pingpong, swizzle = 1>) : tensor<3x42x264xf32>
  return %r : tensor<3x42x264xf32>
}
