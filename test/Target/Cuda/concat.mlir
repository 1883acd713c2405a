// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// Each input is a pass of its own; what cannot move in vectors of eight takes
// smaller ones.
// CHECK-LABEL: namespace fact::concat
// CHECK: using Part0 = Pointwise<
// CHECK-NEXT: Extents<4, 16>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<16, 1>>>,
// CHECK-NEXT: Results<Result<Identity, Strided<2, bf16, Strides<19, 1>>>>,
// CHECK-NEXT: PointwiseSchedule<256, 8, 1>>;
// CHECK: struct Body1
// CHECK: using Part1 = Pointwise<
// CHECK-NEXT: Extents<4, 3>,
// CHECK-NEXT: Operands<Strided<1, bf16, Strides<1, 4>>>,
// CHECK-NEXT: Results<Result<Body1, Strided<2, bf16, Strides<19, 1>, 16>>>,
// CHECK-NEXT: PointwiseSchedule<256, 1, 1>>;
// CHECK: using Kernel = Concat<Part0, Part1>;
func.func @concat(%a: tensor<4x16xbf16>, %b: tensor<3x4xbf16>) -> tensor<4x19xbf16> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<4x16xbf16>, tensor<3x4xbf16>) {
  ^bb0(%x: tensor<4x16xbf16>, %y: tensor<3x4xbf16>):
    %1 = fact.permute %y [1, 0] : (tensor<3x4xbf16>) -> tensor<4x3xbf16>
    %2 = fact.relu %1 : (tensor<4x3xbf16>) -> tensor<4x3xbf16>
    %3 = fact.concat %x, %2 dim 1 : (tensor<4x16xbf16>, tensor<4x3xbf16>) -> tensor<4x19xbf16>
    fact.yield %3 : tensor<4x19xbf16>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<4x19xbf16>
  return %0 : tensor<4x19xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Padding: a part that reads nothing.
// CHECK: struct Body0 {
// CHECK-NEXT: FACT_DEVICE float apply() {
// CHECK-NEXT: return 2.0f;
// CHECK: using Part0 = Pointwise<
// CHECK-NEXT: Extents<5>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Body0, Strided<1, f32, Strides<8>>>>,
// CHECK: using Part1 = Pointwise<
func.func @padded(%a: tensor<5x7xf32>) -> tensor<5x8xf32> {
  %0 = fact.fused "concat" ins(%a : tensor<5x7xf32>) {
  ^bb0(%x: tensor<5x7xf32>):
    %1 = fact.constant dense<2.0> : tensor<f32>
    %2 = fact.expand %1 : (tensor<f32>) -> tensor<5x1xf32>
    %3 = fact.concat %2, %x dim 1 : (tensor<5x1xf32>, tensor<5x7xf32>) -> tensor<5x8xf32>
    fact.yield %3 : tensor<5x8xf32>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
}
