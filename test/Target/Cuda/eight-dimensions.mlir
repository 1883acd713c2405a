// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s

// The phases of a transposed convolution of volumes, interleaved: eight
// dimensions that do not collapse.

// CHECK: fact.fused "pointwise"
// CHECK-NOT: "generic"

func.func @main(%x: tensor<3x2x2x3x2x5x4x6xf32>) -> tensor<3x2x5x2x4x3x6x2xf32> {
  %0 = fact.permute %x [0, 1, 5, 2, 6, 3, 7, 4] : (tensor<3x2x2x3x2x5x4x6xf32>) -> tensor<3x2x5x2x4x3x6x2xf32>
  return %0 : tensor<3x2x5x2x4x3x6x2xf32>
}
