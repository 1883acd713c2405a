// RUN: fact-opt --fact-raise %s | FileCheck %s

// Views of projections move while the graph is raised; what attention is found by
// stays: here casts of 16-bit queries and keys, whose scores are f32.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: fact.softmax
// CHECK: fact.attention
func.func @main(%x: tensor<2x128x256xbf16>, %wq: tensor<256x256xbf16>, %wk: tensor<256x256xbf16>, %wv: tensor<256x256xbf16>) -> tensor<2x4x128x64xbf16> {
  %q0 = fact.matmul %x, %wq : (tensor<2x128x256xbf16>, tensor<256x256xbf16>) -> tensor<2x128x256xbf16>
  %q1 = fact.reshape %q0 : (tensor<2x128x256xbf16>) -> tensor<2x128x4x64xbf16>
  %q2 = fact.permute %q1 [0, 2, 1, 3] : (tensor<2x128x4x64xbf16>) -> tensor<2x4x128x64xbf16>
  %q = fact.cast %q2 : (tensor<2x4x128x64xbf16>) -> tensor<2x4x128x64xf32>
  %k0 = fact.matmul %x, %wk : (tensor<2x128x256xbf16>, tensor<256x256xbf16>) -> tensor<2x128x256xbf16>
  %k1 = fact.reshape %k0 : (tensor<2x128x256xbf16>) -> tensor<2x128x4x64xbf16>
  %k2 = fact.permute %k1 [0, 2, 1, 3] : (tensor<2x128x4x64xbf16>) -> tensor<2x4x128x64xbf16>
  %k3 = fact.cast %k2 : (tensor<2x4x128x64xbf16>) -> tensor<2x4x128x64xf32>
  %k = fact.permute %k3 [0, 1, 3, 2] : (tensor<2x4x128x64xf32>) -> tensor<2x4x64x128xf32>
  %v0 = fact.matmul %x, %wv : (tensor<2x128x256xbf16>, tensor<256x256xbf16>) -> tensor<2x128x256xbf16>
  %v1 = fact.reshape %v0 : (tensor<2x128x256xbf16>) -> tensor<2x128x4x64xbf16>
  %v = fact.permute %v1 [0, 2, 1, 3] : (tensor<2x128x4x64xbf16>) -> tensor<2x4x128x64xbf16>
  %s = fact.matmul %q, %k : (tensor<2x4x128x64xf32>, tensor<2x4x64x128xf32>) -> tensor<2x4x128x128xf32>
  %c = fact.constant dense<0.125> : tensor<f32>
  %s1 = fact.mul %s, %c : (tensor<2x4x128x128xf32>, tensor<f32>) -> tensor<2x4x128x128xf32>
  %p = fact.softmax %s1 dim 3 : tensor<2x4x128x128xf32>
  %pc = fact.cast %p : (tensor<2x4x128x128xf32>) -> tensor<2x4x128x128xbf16>
  %o = fact.matmul %pc, %v : (tensor<2x4x128x128xbf16>, tensor<2x4x128x64xbf16>) -> tensor<2x4x128x64xbf16>
  return %o : tensor<2x4x128x64xbf16>
}
