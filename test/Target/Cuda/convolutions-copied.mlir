// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s
// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1
// RUN: ls %t/kernels | FileCheck %s --check-prefix=KERNELS

// A convolution of three channels, which TMA cannot load as windows: small ones
// of many pixels are copied, and a product of matrices follows.

// CHECK:      fact.fused "pointwise"
// CHECK:        fact.windows
// CHECK-NEXT:   fact.reshape
// CHECK:        fact.yield {{.*}} : tensor<64x128x128x32xbf16>
// CHECK:      fact.fused "gemm_epilogue" ins({{.*}} : tensor<64x128x128x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>)
// CHECK:        fact.matmul
// CHECK-NEXT:   fact.add
// CHECK-NEXT:   fact.relu

// The first pads the weight when it is loaded.
// KERNELS:      gemm_epilogue_3
// KERNELS-NEXT: pointwise_0
// KERNELS-NEXT: pointwise_1
// KERNELS-NEXT: pointwise_2

module {
  fact.weight @w : tensor<64x27xbf16>
  fact.weight @b : tensor<64xbf16>
  func.func @main(%x: tensor<64x3x128x128xbf16>) -> tensor<64x128x128x64xbf16> {
    %w = fact.get_weight @w : tensor<64x27xbf16>
    %b = fact.get_weight @b : tensor<64xbf16>
    %i = fact.permute %x [0, 2, 3, 1] : (tensor<64x3x128x128xbf16>) -> tensor<64x128x128x3xbf16>
    %z0 = fact.constant dense<0.0> : tensor<64x1x128x3xbf16>
    %p0 = fact.concat %z0, %i, %z0 dim 1 : (tensor<64x1x128x3xbf16>, tensor<64x128x128x3xbf16>, tensor<64x1x128x3xbf16>) -> tensor<64x130x128x3xbf16>
    %z1 = fact.constant dense<0.0> : tensor<64x130x1x3xbf16>
    %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<64x130x1x3xbf16>, tensor<64x130x128x3xbf16>, tensor<64x130x1x3xbf16>) -> tensor<64x130x130x3xbf16>
    %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<64x130x130x3xbf16>) -> tensor<64x128x128x3x3x3xbf16>
    %r = fact.reshape %v : (tensor<64x128x128x3x3x3xbf16>) -> tensor<64x128x128x27xbf16>
    %m = fact.matmul %r, %w transpose_b : (tensor<64x128x128x27xbf16>, tensor<64x27xbf16>) -> tensor<64x128x128x64xbf16>
    %a = fact.add %m, %b : (tensor<64x128x128x64xbf16>, tensor<64xbf16>) -> tensor<64x128x128x64xbf16>
    %y = fact.relu %a : (tensor<64x128x128x64xbf16>) -> tensor<64x128x128x64xbf16>
    return %y : tensor<64x128x128x64xbf16>
  }
}
