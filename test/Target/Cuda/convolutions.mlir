// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s
// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1
// RUN: cat %t/kernels/gemm_epilogue_*/0.cu | FileCheck %s --check-prefix=KERNELS

// Zeros, windows and what follows the product are one kernel. Channels have to
// be contiguous, so the permute of the caller's order is not.

// CHECK:      fact.fused "pointwise"
// CHECK:        fact.permute
// CHECK:      fact.fused "gemm_epilogue"
// CHECK-COUNT-2: fact.concat
// CHECK:        fact.windows
// CHECK-NEXT:   fact.reshape
// CHECK-NEXT:   fact.matmul
// CHECK-NEXT:   fact.add
// CHECK-NEXT:   fact.relu
// CHECK:      fact.fused "gemm_epilogue" ins({{.*}} : tensor<8x32x32x64xbf16>, tensor<128x64xbf16>)
// CHECK:      fact.fused "gemm_epilogue" ins({{.*}} : tensor<8x100x64xbf16>, tensor<64x192xbf16>)
// CHECK-NOT:  fact.fused

// KERNELS-COUNT-3: Windows.cuh

module {
  fact.weight @w : tensor<64x576xbf16>
  fact.weight @b : tensor<64xbf16>
  fact.weight @w1 : tensor<128x64xbf16>
  fact.weight @w2 : tensor<64x192xbf16>
  func.func @main(%x: tensor<8x64x32x32xbf16>, %s: tensor<8x100x64xbf16>) -> (tensor<8x32x32x64xbf16>, tensor<8x16x16x128xbf16>, tensor<8x98x64xbf16>) {
    %w = fact.get_weight @w : tensor<64x576xbf16>
    %w1 = fact.get_weight @w1 : tensor<128x64xbf16>
    %w2 = fact.get_weight @w2 : tensor<64x192xbf16>
    %b = fact.get_weight @b : tensor<64xbf16>
    %i = fact.permute %x [0, 2, 3, 1] : (tensor<8x64x32x32xbf16>) -> tensor<8x32x32x64xbf16>
    %z0 = fact.constant dense<0.0> : tensor<8x1x32x64xbf16>
    %p0 = fact.concat %z0, %i, %z0 dim 1 : (tensor<8x1x32x64xbf16>, tensor<8x32x32x64xbf16>, tensor<8x1x32x64xbf16>) -> tensor<8x34x32x64xbf16>
    %z1 = fact.constant dense<0.0> : tensor<8x34x1x64xbf16>
    %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<8x34x1x64xbf16>, tensor<8x34x32x64xbf16>, tensor<8x34x1x64xbf16>) -> tensor<8x34x34x64xbf16>
    %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x34x34x64xbf16>) -> tensor<8x32x32x3x3x64xbf16>
    %r = fact.reshape %v : (tensor<8x32x32x3x3x64xbf16>) -> tensor<8x32x32x576xbf16>
    %m = fact.matmul %r, %w transpose_b : (tensor<8x32x32x576xbf16>, tensor<64x576xbf16>) -> tensor<8x32x32x64xbf16>
    %a = fact.add %m, %b : (tensor<8x32x32x64xbf16>, tensor<64xbf16>) -> tensor<8x32x32x64xbf16>
    %y = fact.relu %a : (tensor<8x32x32x64xbf16>) -> tensor<8x32x32x64xbf16>
    %v1 = fact.windows %y dim 1 kernel [1, 1] strides [2, 2] dilations [1, 1] : (tensor<8x32x32x64xbf16>) -> tensor<8x16x16x1x1x64xbf16>
    %r1 = fact.reshape %v1 : (tensor<8x16x16x1x1x64xbf16>) -> tensor<8x16x16x64xbf16>
    %m1 = fact.matmul %r1, %w1 transpose_b : (tensor<8x16x16x64xbf16>, tensor<128x64xbf16>) -> tensor<8x16x16x128xbf16>
    %v2 = fact.windows %s dim 1 kernel [3] strides [1] dilations [1] : (tensor<8x100x64xbf16>) -> tensor<8x98x3x64xbf16>
    %r2 = fact.reshape %v2 : (tensor<8x98x3x64xbf16>) -> tensor<8x98x192xbf16>
    %m2 = fact.matmul %r2, %w2 transpose_b : (tensor<8x98x192xbf16>, tensor<64x192xbf16>) -> tensor<8x98x64xbf16>
    return %y, %m1, %m2 : tensor<8x32x32x64xbf16>, tensor<8x16x16x128xbf16>, tensor<8x98x64xbf16>
  }
}
