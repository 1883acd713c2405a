// RUN: fact-opt %s -fact-discover=target=h200 -split-input-file | FileCheck %s
// On the host, products store and read as they are asked to.
// RUN: fact-opt %s -fact-discover=target=host -split-input-file | FileCheck %s --check-prefix=HOST

// The product would store single elements, far from each other; a copy moves tiles.

// CHECK-LABEL: func.func @stored(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.matmul
// CHECK-NOT:     fact.permute
// CHECK:       fact.fused "pointwise"
// CHECK:         fact.permute
// HOST-LABEL:  func.func @stored(
// HOST:        fact.matmul
// HOST-NEXT:   fact.permute
func.func @stored(%a: tensor<28x4207x60xbf16>, %b: tensor<28x60x60xbf16>) -> tensor<60x4207x28xbf16> {
  %m = fact.matmul %a, %b : (tensor<28x4207x60xbf16>, tensor<28x60x60xbf16>) -> tensor<28x4207x60xbf16>
  %p = fact.permute %m [2, 1, 0] : (tensor<28x4207x60xbf16>) -> tensor<60x4207x28xbf16>
  return %p : tensor<60x4207x28xbf16>
}

// -----

// Rows of heads are stored whole wherever they go.

// CHECK-LABEL: func.func @heads(
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.matmul
// CHECK:         fact.permute
// CHECK-NOT:   fact.fused
func.func @heads(%a: tensor<32x512x128xbf16>, %b: tensor<32x128x64xbf16>) -> tensor<2x512x16x64xbf16> {
  %m = fact.matmul %a, %b : (tensor<32x512x128xbf16>, tensor<32x128x64xbf16>) -> tensor<32x512x64xbf16>
  %r = fact.reshape %m : (tensor<32x512x64xbf16>) -> tensor<2x16x512x64xbf16>
  %p = fact.permute %r [0, 2, 1, 3] : (tensor<2x16x512x64xbf16>) -> tensor<2x512x16x64xbf16>
  return %p : tensor<2x512x16x64xbf16>
}

// -----

// A factor whose elements are far from each other is copied first.

// CHECK-LABEL: func.func @read(
// CHECK:       fact.fused "pointwise"
// CHECK:         fact.permute
// CHECK:       fact.fused "gemm_epilogue"
// CHECK-NOT:     fact.permute
// CHECK:         fact.matmul
func.func @read(%a: tensor<28x4207x60xbf16>, %b: tensor<60x28x28xbf16>) -> tensor<60x4207x28xbf16> {
  %p = fact.permute %a [2, 1, 0] : (tensor<28x4207x60xbf16>) -> tensor<60x4207x28xbf16>
  %m = fact.matmul %p, %b : (tensor<60x4207x28xbf16>, tensor<60x28x28xbf16>) -> tensor<60x4207x28xbf16>
  return %m : tensor<60x4207x28xbf16>
}

// -----

// A weight is not copied on each call.

fact.weight @w : tensor<28x4207x60xbf16>
// CHECK-LABEL: func.func @weight(
// CHECK-NOT:   fact.fused "pointwise"
// CHECK:       fact.fused "gemm_epilogue"
// CHECK:         fact.permute
// CHECK:         fact.matmul
func.func @weight(%b: tensor<60x28x28xbf16>) -> tensor<60x4207x28xbf16> {
  %a = fact.get_weight @w : tensor<28x4207x60xbf16>
  %p = fact.permute %a [2, 1, 0] : (tensor<28x4207x60xbf16>) -> tensor<60x4207x28xbf16>
  %m = fact.matmul %p, %b : (tensor<60x4207x28xbf16>, tensor<60x28x28xbf16>) -> tensor<60x4207x28xbf16>
  return %m : tensor<60x4207x28xbf16>
}

// -----

// Groups of channels, of an image that has its channels last: no kernel reads
// such rows at copy speed, and a copy does.

// CHECK-LABEL: func.func @groups_of_channels(
// CHECK:       fact.fused "pointwise"
// CHECK:         fact.permute
// CHECK:       fact.fused "reduction"
// CHECK-NOT:     fact.permute
// CHECK:         fact.norm
// HOST-LABEL:  func.func @groups_of_channels(
func.func @groups_of_channels(%x: tensor<128x126x126x64xbf16>) -> tensor<128x4x254016xbf16> {
  %p = fact.permute %x [0, 3, 1, 2] : (tensor<128x126x126x64xbf16>) -> tensor<128x64x126x126xbf16>
  %r = fact.reshape %p : (tensor<128x64x126x126xbf16>) -> tensor<128x4x254016xbf16>
  %n = fact.norm layer %r eps 1.0e-05 : (tensor<128x4x254016xbf16>) -> tensor<128x4x254016xbf16>
  return %n : tensor<128x4x254016xbf16>
}

// -----

// Means of channels are read as columns.

// CHECK-LABEL: func.func @means_of_channels(
// CHECK:       fact.fused "reduction"
// CHECK:         fact.permute
// CHECK-NOT:   fact.fused
// HOST-LABEL:  func.func @means_of_channels(
func.func @means_of_channels(%x: tensor<128x126x126x64xbf16>) -> tensor<128x64xbf16> {
  %p = fact.permute %x [0, 3, 1, 2] : (tensor<128x126x126x64xbf16>) -> tensor<128x64x126x126xbf16>
  %m = fact.reduce mean %p dims [2, 3] : (tensor<128x64x126x126xbf16>) -> tensor<128x64xbf16>
  return %m : tensor<128x64xbf16>
}
