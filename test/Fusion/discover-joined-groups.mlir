// RUN: fact-opt %s -fact-discover=target=h200 -split-input-file | FileCheck %s
// RUN: fact-opt %s -fact-discover=target=sm_80 -split-input-file | FileCheck %s --check-prefix=APART
// RUN: fact-opt %s -fact-discover=target=h200 -split-input-file | fact-opt -fact-inline-fused -split-input-file | FileCheck %s --check-prefix=WHOLE

// Six groups of eight channels as one product of 48: the views of groups are gone, and the filters have zeros for the
// channels of other groups.

// CHECK-LABEL: func.func @main(
// CHECK:       %[[PREPARED:.+]]:2 = fact.prepare
// CHECK:         fact.constant dense<{{.+}}> : tensor<6x1x1x6x1xbf16>
// CHECK:         fact.mul {{.+}} : (tensor<1x6x8x9x1x8xbf16>, tensor<6x1x1x6x1xbf16>) -> tensor<1x6x8x9x6x8xbf16>
// CHECK:         fact.yield {{.+}} : tensor<6x8x72xbf16>, tensor<48x432xbf16>
// CHECK:       fact.fused "gemm_epilogue" ins(%arg0, %[[PREPARED]]#1 :
// CHECK-NOT:     fact.permute
// CHECK:         fact.windows {{.+}} (tensor<32x58x58x48xbf16>) -> tensor<32x56x56x3x3x48xbf16>
// CHECK:         fact.matmul {{.+}} (tensor<32x56x56x432xbf16>, tensor<48x432xbf16>) -> tensor<32x56x56x48xbf16>
// CHECK-NEXT:    fact.relu
// CHECK-NEXT:    fact.yield
// CHECK-NEXT:  } {{.+}} : tensor<32x56x56x48xbf16>
// CHECK-NEXT:  return

// APART:       fact.matmul {{.+}} (tensor<6x100352x72xbf16>, tensor<6x8x72xbf16>)
fact.weight @w : tensor<6x8x72xbf16>
func.func @main(%x: tensor<32x56x56x48xbf16>) -> tensor<32x56x56x48xbf16> {
  %f = fact.prepare {
    %w = fact.get_weight @w : tensor<6x8x72xbf16>
    fact.yield %w : tensor<6x8x72xbf16>
  } : tensor<6x8x72xbf16>
  %g = fact.reshape %x : (tensor<32x56x56x48xbf16>) -> tensor<32x56x56x6x8xbf16>
  %p = fact.permute %g [3, 0, 1, 2, 4] : (tensor<32x56x56x6x8xbf16>) -> tensor<6x32x56x56x8xbf16>
  %z0 = fact.constant dense<0.0> : tensor<6x32x1x56x8xbf16>
  %p0 = fact.concat %z0, %p, %z0 dim 2 : (tensor<6x32x1x56x8xbf16>, tensor<6x32x56x56x8xbf16>, tensor<6x32x1x56x8xbf16>) -> tensor<6x32x58x56x8xbf16>
  %z1 = fact.constant dense<0.0> : tensor<6x32x58x1x8xbf16>
  %p1 = fact.concat %z1, %p0, %z1 dim 3 : (tensor<6x32x58x1x8xbf16>, tensor<6x32x58x56x8xbf16>, tensor<6x32x58x1x8xbf16>) -> tensor<6x32x58x58x8xbf16>
  %v = fact.windows %p1 dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<6x32x58x58x8xbf16>) -> tensor<6x32x56x56x3x3x8xbf16>
  %r = fact.reshape %v : (tensor<6x32x56x56x3x3x8xbf16>) -> tensor<6x100352x72xbf16>
  %m = fact.matmul %r, %f transpose_b : (tensor<6x100352x72xbf16>, tensor<6x8x72xbf16>) -> tensor<6x100352x8xbf16>
  %s = fact.reshape %m : (tensor<6x100352x8xbf16>) -> tensor<6x32x56x56x8xbf16>
  %q = fact.permute %s [1, 2, 3, 0, 4] : (tensor<6x32x56x56x8xbf16>) -> tensor<32x56x56x6x8xbf16>
  %o = fact.reshape %q : (tensor<32x56x56x6x8xbf16>) -> tensor<32x56x56x48xbf16>
  %y = fact.relu %o : (tensor<32x56x56x48xbf16>) -> tensor<32x56x56x48xbf16>
  return %y : tensor<32x56x56x48xbf16>
}

// -----

// A product of all 512 channels would multiply 32 times as much: four groups make one of 64 channels.

// WHOLE-LABEL: func.func @main(
// WHOLE:       fact.windows {{.+}} (tensor<8x32x30x30x64xbf16>) -> tensor<8x32x28x28x3x3x64xbf16>
// WHOLE:       fact.matmul {{.+}} (tensor<8x25088x576xbf16>, tensor<8x64x576xbf16>) -> tensor<8x25088x64xbf16>
fact.weight @w : tensor<32x16x144xbf16>
func.func @main(%x: tensor<32x30x30x512xbf16>) -> tensor<32x28x28x512xbf16> {
  %w = fact.get_weight @w : tensor<32x16x144xbf16>
  %g = fact.reshape %x : (tensor<32x30x30x512xbf16>) -> tensor<32x30x30x32x16xbf16>
  %p = fact.permute %g [3, 0, 1, 2, 4] : (tensor<32x30x30x32x16xbf16>) -> tensor<32x32x30x30x16xbf16>
  %v = fact.windows %p dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<32x32x30x30x16xbf16>) -> tensor<32x32x28x28x3x3x16xbf16>
  %r = fact.reshape %v : (tensor<32x32x28x28x3x3x16xbf16>) -> tensor<32x25088x144xbf16>
  %m = fact.matmul %r, %w transpose_b : (tensor<32x25088x144xbf16>, tensor<32x16x144xbf16>) -> tensor<32x25088x16xbf16>
  %s = fact.reshape %m : (tensor<32x25088x16xbf16>) -> tensor<32x32x28x28x16xbf16>
  %q = fact.permute %s [1, 2, 3, 0, 4] : (tensor<32x32x28x28x16xbf16>) -> tensor<32x28x28x32x16xbf16>
  %o = fact.reshape %q : (tensor<32x28x28x32x16xbf16>) -> tensor<32x28x28x512xbf16>
  return %o : tensor<32x28x28x512xbf16>
}

// -----

// Strict products of f32 run where each operation counts, and filters that are no weights would be spread by each call.

// CHECK-LABEL: func.func @main(
// CHECK:       fact.matmul {{.+}} (tensor<4x1568x72xf32>, tensor<4x8x72xf32>)
// CHECK:       fact.matmul {{.+}} tf32 : (tensor<4x1568x72xf32>, tensor<4x8x72xf32>)
fact.weight @w : tensor<4x8x72xf32>
func.func @main(%x: tensor<4x2x30x30x8xf32>, %f: tensor<4x8x72xf32>) -> (tensor<4x1568x8xf32>, tensor<4x1568x8xf32>) {
  %w = fact.get_weight @w : tensor<4x8x72xf32>
  %v = fact.windows %x dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x2x30x30x8xf32>) -> tensor<4x2x28x28x3x3x8xf32>
  %r = fact.reshape %v : (tensor<4x2x28x28x3x3x8xf32>) -> tensor<4x1568x72xf32>
  %m = fact.matmul %r, %w transpose_b : (tensor<4x1568x72xf32>, tensor<4x8x72xf32>) -> tensor<4x1568x8xf32>
  %n = fact.matmul %r, %f transpose_b tf32 : (tensor<4x1568x72xf32>, tensor<4x8x72xf32>) -> tensor<4x1568x8xf32>
  return %m, %n : tensor<4x1568x8xf32>, tensor<4x1568x8xf32>
}
