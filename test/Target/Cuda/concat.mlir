// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// One pass: each element is of the part that its coordinate is in, and only
// that part is read. Vectors reach across the ends of rows of 19.
// CHECK-LABEL: namespace fact::concat
// CHECK: struct Body0 {
// CHECK: const float v0 = nan_maximum(operand1, 0.0f);
// CHECK-NEXT: const bool v1 = coordinate < 16;
// CHECK-NEXT: const float v2 = v1 ? operand0 : v0;
// CHECK: using Part0 = Pointwise<
// CHECK-NEXT: Extents<4, 19>,
// CHECK-NEXT: Operands<Guarded<Strided<0, bf16, Strides<16, 1>>,
// CHECK-NEXT:                  Bound<Strides<0, 1>, 0, 0, 16>>,
// CHECK-NEXT:          Guarded<Strided<1, bf16, Strides<3, 1>, -16>,
// CHECK-NEXT:                  Bound<Strides<0, 1>, 0, 16, 19>>,
// CHECK-NEXT:          Coordinate<Strides<0, 1>, 0>>,
// CHECK-NEXT: Results<Result<Body0, Strided<2, bf16, Strides<19, 1>>>>,
// CHECK-NEXT: PointwiseSchedule<256, 4, 1>>;
// CHECK: using Kernel = Concat<Part0>;
func.func @concat(%a: tensor<4x16xbf16>, %b: tensor<4x3xbf16>) -> tensor<4x19xbf16> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<4x16xbf16>, tensor<4x3xbf16>) {
  ^bb0(%x: tensor<4x16xbf16>, %y: tensor<4x3xbf16>):
    %2 = fact.relu %y : (tensor<4x3xbf16>) -> tensor<4x3xbf16>
    %3 = fact.concat %x, %2 dim 1 : (tensor<4x16xbf16>, tensor<4x3xbf16>) -> tensor<4x19xbf16>
    fact.yield %3 : tensor<4x19xbf16>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<4x19xbf16>
  return %0 : tensor<4x19xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Padding reads nothing.
// CHECK: struct Body0 {
// CHECK: const bool v0 = coordinate < 1;
// CHECK-NEXT: const float v1 = v0 ? 2.0f : operand0;
// CHECK: Operands<Guarded<Strided<0, f32, Strides<7, 1>, -1>,
// CHECK-NEXT:             Bound<Strides<0, 1>, 0, 1, 8>>,
// CHECK-NEXT:     Coordinate<Strides<0, 1>, 0>>,
// CHECK: using Kernel = Concat<Part0>;
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

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Images with channels last, as channels of one image with channels first: in
// tiles, in one pass where they are alike.
// CHECK: using Part0 = TiledPointwise<
// CHECK-NEXT: Extents<2, 32, 3136>,
// CHECK: Operands<Staged<0, f32, Strides<100352, 1, 32>>,
// CHECK-NEXT: Staged<1, f32, Strides<100352, 1, 32>>>,
// CHECK-NEXT: Results<Result<{{.+}}, Strided<2, f32, Strides<200704, 3136, 1>>>,
// CHECK-NEXT: Result<{{.+}}, Strided<2, f32, Strides<200704, 3136, 1>, 100352>>>,
// CHECK: using Kernel = Concat<Part0>;
func.func @alike(%a: tensor<2x56x56x32xf32>, %b: tensor<2x56x56x32xf32>) -> tensor<2x64x56x56xf32> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<2x56x56x32xf32>, tensor<2x56x56x32xf32>) {
  ^bb0(%x: tensor<2x56x56x32xf32>, %y: tensor<2x56x56x32xf32>):
    %1 = fact.concat %x, %y dim 3 : (tensor<2x56x56x32xf32>, tensor<2x56x56x32xf32>) -> tensor<2x56x56x64xf32>
    %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<2x56x56x64xf32>) -> tensor<2x64x56x56xf32>
    fact.yield %2 : tensor<2x64x56x56xf32>
  } schedule(#fact.cuda_tile<rows = 32, columns = 64, threads = 256>) : tensor<2x64x56x56xf32>
  return %0 : tensor<2x64x56x56xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: using Part0 = TiledPointwise<
// CHECK: using Part1 = Pointwise<
// CHECK: using Kernel = Concat<Part0, Part1>;
func.func @unlike(%a: tensor<2x56x56x32xf32>, %b: tensor<2x16x56x56xf32>) -> tensor<2x48x56x56xf32> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<2x56x56x32xf32>, tensor<2x16x56x56xf32>) {
  ^bb0(%x: tensor<2x56x56x32xf32>, %y: tensor<2x16x56x56xf32>):
    %1 = fact.permute %x [0, 3, 1, 2] : (tensor<2x56x56x32xf32>) -> tensor<2x32x56x56xf32>
    %2 = fact.concat %1, %y dim 1 : (tensor<2x32x56x56xf32>, tensor<2x16x56x56xf32>) -> tensor<2x48x56x56xf32>
    fact.yield %2 : tensor<2x48x56x56xf32>
  } schedule(#fact.cuda_tile<rows = 32, columns = 64, threads = 256>) : tensor<2x48x56x56xf32>
  return %0 : tensor<2x48x56x56xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Phases of a transposed convolution, which lie between each other.
// CHECK: using Part0 = TiledPointwise<
// CHECK-NEXT: Extents<2, 32, 256>,
// CHECK: Results<Result<{{.+}}, Strided<2, f32, Strides<16384, 512, 2>>>,
// CHECK-NEXT: Result<{{.+}}, Strided<2, f32, Strides<16384, 512, 2>, 1>>>,
func.func @phases(%a: tensor<2x16x16x32xf32>, %b: tensor<2x16x16x32xf32>) -> tensor<2x32x16x32xf32> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<2x16x16x32xf32>, tensor<2x16x16x32xf32>) {
  ^bb0(%x: tensor<2x16x16x32xf32>, %y: tensor<2x16x16x32xf32>):
    %1 = fact.concat %x, %y dim 3 : (tensor<2x16x16x32xf32>, tensor<2x16x16x32xf32>) -> tensor<2x16x16x64xf32>
    %2 = fact.reshape %1 : (tensor<2x16x16x64xf32>) -> tensor<2x16x32x32xf32>
    %3 = fact.permute %2 [0, 3, 1, 2] : (tensor<2x16x32x32xf32>) -> tensor<2x32x16x32xf32>
    fact.yield %3 : tensor<2x32x16x32xf32>
  } schedule(#fact.cuda_tile<rows = 32, columns = 32, threads = 256>) : tensor<2x32x16x32xf32>
  return %0 : tensor<2x32x16x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Parts that cost much are passes of their own, each of which computes one.
// CHECK: struct Body0 {
// CHECK: using Part0 = Pointwise<
// CHECK-NEXT: Extents<5, 8>,
// CHECK-NEXT: Operands<Strided<0, f32, Strides<8, 1>>>,
// CHECK-NEXT: Results<Result<Body0, Strided<2, f32, Strides<16, 1>>>>,
// CHECK: using Part1 = Pointwise<
// CHECK: Results<Result<Body1, Strided<2, f32, Strides<16, 1>, 8>>>,
// CHECK: using Kernel = Concat<Part0, Part1>;
func.func @costly(%a: tensor<5x8xf32>, %b: tensor<5x8xf32>) -> tensor<5x16xf32> {
  %0 = fact.fused "concat" ins(%a, %b : tensor<5x8xf32>, tensor<5x8xf32>) {
  ^bb0(%x: tensor<5x8xf32>, %y: tensor<5x8xf32>):
    %1 = fact.gelu %x : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %2 = fact.gelu %1 : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %3 = fact.gelu %2 : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %4 = fact.gelu %y : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %5 = fact.gelu %4 : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %6 = fact.gelu %5 : (tensor<5x8xf32>) -> tensor<5x8xf32>
    %7 = fact.concat %3, %6 dim 1 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x16xf32>
    fact.yield %7 : tensor<5x16xf32>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Parts that take longer to compute than to read are passes of their own.
// CHECK: using Part0 = Pointwise<
// CHECK: using Part1 = Pointwise<
// CHECK: using Kernel = Concat<Part0, Part1>;
func.func @costly(%a: tensor<4x16xbf16>) -> tensor<4x32xbf16> {
  %0 = fact.fused "concat" ins(%a : tensor<4x16xbf16>) {
  ^bb0(%x: tensor<4x16xbf16>):
    %s = fact.sin %x : (tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %1 = fact.sin %s : (tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %2 = fact.cos %x : (tensor<4x16xbf16>) -> tensor<4x16xbf16>
    %3 = fact.concat %1, %2 dim 1 : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<4x32xbf16>
    fact.yield %3 : tensor<4x32xbf16>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<4x32xbf16>
  return %0 : tensor<4x32xbf16>
}
}
