// RUN: rm -rf %t && fact-compile %s --target=sm_80 --until=bundle --bundle=%t --candidates=1
// RUN: ls %t/kernels | FileCheck %s --check-prefix=KERNELS
// RUN: cat %t/kernels/gemm_epilogue_0/0.cu | FileCheck %s
// RUN: fact-opt %s -fact-discover=target=sm_90a | FileCheck %s --check-prefix=TMA

// A convolution is one kernel: threads find the channels of a tap in the image, and what is outside of it is 0.

// KERNELS:     gemm_epilogue_0
// KERNELS-NOT: {{.}}

// CHECK: #include "fact/cutlass/Sm80Windows.cuh"
// CHECK:      Problem<960, 40, 144>,
// CHECK-NEXT: WindowRows<0, bf16, 16, 1, 0, 0,
// CHECK-NEXT:            WindowDim<4, 14384, 0, 4, 1, 1, 1>,
// CHECK-NEXT:            WindowDim<31, 464, 1, 16, 3, 2, 1>,
// CHECK-NEXT:            WindowDim<29, 16, 1, 15, 3, 2, 1>>,
// CHECK-NEXT: Factors<ColumnMajor<1, bf16, 144>>,

// TMA: #fact.sm90_gemm_space
fact.weight @w : tensor<40x144xbf16>
func.func @main(%x: tensor<4x31x29x16xbf16>) -> tensor<4x16x15x40xbf16> {
  %w = fact.get_weight @w : tensor<40x144xbf16>
  %z0 = fact.constant dense<0.0> : tensor<4x1x29x16xbf16>
  %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<4x1x29x16xbf16>, tensor<4x31x29x16xbf16>, tensor<4x1x29x16xbf16>) -> tensor<4x33x29x16xbf16>
  %z1 = fact.constant dense<0.0> : tensor<4x33x1x16xbf16>
  %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<4x33x1x16xbf16>, tensor<4x33x29x16xbf16>, tensor<4x33x1x16xbf16>) -> tensor<4x33x31x16xbf16>
  %v = fact.windows %p1 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<4x33x31x16xbf16>) -> tensor<4x16x15x3x3x16xbf16>
  %r = fact.reshape %v : (tensor<4x16x15x3x3x16xbf16>) -> tensor<4x16x15x144xbf16>
  %m = fact.matmul %r, %w transpose_b : (tensor<4x16x15x144xbf16>, tensor<40x144xbf16>) -> tensor<4x16x15x40xbf16>
  %y = fact.relu %m : (tensor<4x16x15x40xbf16>) -> tensor<4x16x15x40xbf16>
  return %y : tensor<4x16x15x40xbf16>
}
