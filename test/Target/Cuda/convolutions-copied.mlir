// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s
// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1
// RUN: ls %t/kernels | FileCheck %s --check-prefix=KERNELS

// A convolution of three channels, which TMA cannot load as windows: these are
// copied, and a product of matrices follows.

// CHECK:      fact.fused "pointwise"
// CHECK:        fact.windows
// CHECK-NEXT:   fact.reshape
// CHECK-NEXT:   fact.yield {{.*}} : tensor<8x32x32x27xbf16>
// CHECK:      fact.fused "gemm_epilogue" ins({{.*}} : tensor<8x32x32x27xbf16>, tensor<64x27xbf16>, tensor<64xbf16>)
// CHECK:        fact.matmul
// CHECK-NEXT:   fact.add
// CHECK-NEXT:   fact.relu

// KERNELS-COUNT-2: concat_
// KERNELS:         gemm_epilogue_3
// KERNELS:         pointwise_2

module {
  fact.weight @w : tensor<64x27xbf16>
  fact.weight @b : tensor<64xbf16>
  func.func @main(%x: tensor<8x3x32x32xbf16>) -> tensor<8x32x32x64xbf16> {
    %w = fact.get_weight @w : tensor<64x27xbf16>
    %b = fact.get_weight @b : tensor<64xbf16>
    %i = fact.permute %x [0, 2, 3, 1] : (tensor<8x3x32x32xbf16>) -> tensor<8x32x32x3xbf16>
    %z0 = fact.constant dense<0.0> : tensor<8x1x32x3xbf16>
    %p0 = fact.concat %z0, %i, %z0 dim 1 : (tensor<8x1x32x3xbf16>, tensor<8x32x32x3xbf16>, tensor<8x1x32x3xbf16>) -> tensor<8x34x32x3xbf16>
    %z1 = fact.constant dense<0.0> : tensor<8x34x1x3xbf16>
    %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<8x34x1x3xbf16>, tensor<8x34x32x3xbf16>, tensor<8x34x1x3xbf16>) -> tensor<8x34x34x3xbf16>
    %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<8x34x34x3xbf16>) -> tensor<8x32x32x3x3x3xbf16>
    %r = fact.reshape %v : (tensor<8x32x32x3x3x3xbf16>) -> tensor<8x32x32x27xbf16>
    %m = fact.matmul %r, %w transpose_b : (tensor<8x32x32x27xbf16>, tensor<64x27xbf16>) -> tensor<8x32x32x64xbf16>
    %a = fact.add %m, %b : (tensor<8x32x32x64xbf16>, tensor<64xbf16>) -> tensor<8x32x32x64xbf16>
    %y = fact.relu %a : (tensor<8x32x32x64xbf16>) -> tensor<8x32x32x64xbf16>
    return %y : tensor<8x32x32x64xbf16>
  }
}
