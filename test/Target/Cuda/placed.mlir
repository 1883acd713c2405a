// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s
// RUN: fact-opt %s -split-input-file --fact-annotate-sol=target=h200 | FileCheck %s --check-prefix=SOL

// The product is columns 64 to 191 of rows of 256: elements 256 apart, from 64
// on.
// CHECK-LABEL: // sm90_gemm<
// CHECK: Results<Result<Epilogue, RowMajor<2, bf16, Size(10), Size(11), Size(12)>>>
// CHECK: // sizes of gemm_epilogue_0: 512, 128, 64, 1, 64, 0, 0, 128, 0, 0, 256, 0, 64, 1

// Written are 128 columns of 512 rows; read are both factors.
// SOL-LABEL: func @product
// SOL: schedule({{.*}}) {fact.sol = {bytes = 212992 : i64
func.func @product(%x: tensor<512x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<512x256xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x64xbf16>, tensor<64x128xbf16>) {
  ^bb0(%a: tensor<512x64xbf16>, %b: tensor<64x128xbf16>):
    %m = fact.matmul %a, %b : (tensor<512x64xbf16>, tensor<64x128xbf16>) -> tensor<512x128xbf16>
    %y = fact.relu %m : (tensor<512x128xbf16>) -> tensor<512x128xbf16>
    %p = ub.poison : tensor<512x64xbf16>
    %c = fact.concat %p, %y, %p dim 1 : (tensor<512x64xbf16>, tensor<512x128xbf16>, tensor<512x64xbf16>) -> tensor<512x256xbf16>
    fact.yield %c : tensor<512x256xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<512x256xbf16>
  return %r : tensor<512x256xbf16>
}

// -----

// Rows of 515 in rows of 520: TMA writes what is behind them, which is nobody's.
// CHECK-LABEL: // sm90_gemm<
// CHECK: // sizes of gemm_epilogue_0: 512, 515, 64, 1, 64, 0, 0, 520, 0, 0, 520, 0, 0, 1
// SOL-LABEL: func @padded
func.func @padded(%x: tensor<512x64xbf16>, %w: tensor<64x520xbf16>) -> tensor<512x520xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x64xbf16>, tensor<64x520xbf16>) {
  ^bb0(%a: tensor<512x64xbf16>, %b: tensor<64x520xbf16>):
    %s = fact.slice %b dim 1 start 0 : (tensor<64x520xbf16>) -> tensor<64x515xbf16>
    %m = fact.matmul %a, %s : (tensor<512x64xbf16>, tensor<64x515xbf16>) -> tensor<512x515xbf16>
    %y = fact.relu %m : (tensor<512x515xbf16>) -> tensor<512x515xbf16>
    %p = ub.poison : tensor<512x5xbf16>
    %c = fact.concat %y, %p dim 1 {fact.unused} : (tensor<512x515xbf16>, tensor<512x5xbf16>) -> tensor<512x520xbf16>
    fact.yield %c : tensor<512x520xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<512x520xbf16>
  return %r : tensor<512x520xbf16>
}

// -----

// Channels last into channels first.
// CHECK-LABEL: schedule(#fact.cuda_windows<
// CHECK: Results<Result<Identity, Strided<1, f32, Strides<864, 0, 6, 1, 36>, 144>>>
func.func @pool(%x: tensor<2x8x8x16xf32>) -> tensor<2x24x6x6xf32> {
  %r = fact.fused "windows" ins(%x : tensor<2x8x8x16xf32>) {
  ^bb0(%a: tensor<2x8x8x16xf32>):
    %0 = fact.windows %a dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x8x16xf32>) -> tensor<2x6x6x3x3x16xf32>
    %1 = fact.reduce max %0 dims [3, 4] : (tensor<2x6x6x3x3x16xf32>) -> tensor<2x6x6x16xf32>
    %p = ub.poison : tensor<2x6x6x4xf32>
    %c = fact.concat %p, %1, %p dim 3 : (tensor<2x6x6x4xf32>, tensor<2x6x6x16xf32>, tensor<2x6x6x4xf32>) -> tensor<2x6x6x24xf32>
    %t = fact.permute %c [0, 3, 1, 2] : (tensor<2x6x6x24xf32>) -> tensor<2x24x6x6xf32>
    fact.yield %t : tensor<2x24x6x6xf32>
  } schedule(#fact.cuda_windows<threads = 128, vector = 4, columns = 2, rows = 2>) : tensor<2x24x6x6xf32>
  return %r : tensor<2x24x6x6xf32>
}

// -----

// CHECK-LABEL: schedule(#fact.cuda_pointwise<
// CHECK: Results<Result<{{.*}}, Strided<1, f32, Strides<11, 1>, 8>>>
func.func @copy(%x: tensor<5x3xf32>) -> tensor<5x11xf32> {
  %r = fact.fused "pointwise" ins(%x : tensor<5x3xf32>) {
  ^bb0(%a: tensor<5x3xf32>):
    %p = ub.poison : tensor<5x8xf32>
    %c = fact.concat %p, %a dim 1 : (tensor<5x8xf32>, tensor<5x3xf32>) -> tensor<5x11xf32>
    fact.yield %c : tensor<5x11xf32>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 1>) : tensor<5x11xf32>
  return %r : tensor<5x11xf32>
}

// -----

// The kernel of the last resort, with parts of two wholes.
// CHECK-LABEL: schedule(#fact.cuda_generic
// CHECK: p1[d0 * 11 + d1] =
// CHECK: p1[d0 * 5 + d1 + 40] =
// CHECK: workspace_bytes = 0
func.func @generic(%x: tensor<5x3xf32>) -> (tensor<11x5xf32>, tensor<5x11xf32>) {
  %r:2 = fact.fused "generic" ins(%x : tensor<5x3xf32>) {
  ^bb0(%a: tensor<5x3xf32>):
    %p = ub.poison : tensor<5x8xf32>
    %e = fact.exp %a : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %c = fact.concat %p, %e dim 1 : (tensor<5x8xf32>, tensor<5x3xf32>) -> tensor<5x11xf32>
    %t = fact.permute %c [1, 0] : (tensor<5x11xf32>) -> tensor<11x5xf32>
    %s = fact.sin %a : (tensor<5x3xf32>) -> tensor<5x3xf32>
    %d = fact.concat %s, %p dim 1 : (tensor<5x3xf32>, tensor<5x8xf32>) -> tensor<5x11xf32>
    fact.yield %t, %d : tensor<11x5xf32>, tensor<5x11xf32>
  } : tensor<11x5xf32>, tensor<5x11xf32>
  return %r#0, %r#1 : tensor<11x5xf32>, tensor<5x11xf32>
}
