// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// Zeros on four sides are what a read outside of its bounds gives: no select.
// CHECK:      Extents<6, 9, 10>,
// CHECK-NEXT: Operands<Guarded<Strided<0, f32, Strides<56, 8, 1>, -9>,
// CHECK-NEXT:                  Bound<Strides<0, 1, 0>, 0, 1, 8>,
// CHECK-NEXT:                  Bound<Strides<0, 0, 1>, 0, 1, 9>>>,
func.func @image(%a: tensor<2x3x7x8xf32>) -> tensor<2x3x9x10xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<2x3x7x8xf32>) {
  ^bb0(%x: tensor<2x3x7x8xf32>):
    %1 = fact.constant dense<0.0> : tensor<2x3x7x1xf32>
    %2 = fact.concat %1, %x, %1 dim 3 : (tensor<2x3x7x1xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x1xf32>) -> tensor<2x3x7x10xf32>
    %3 = fact.constant dense<0.0> : tensor<2x3x1x10xf32>
    %4 = fact.concat %3, %2, %3 dim 2 : (tensor<2x3x1x10xf32>, tensor<2x3x7x10xf32>, tensor<2x3x1x10xf32>) -> tensor<2x3x9x10xf32>
    %5 = fact.relu %4 : (tensor<2x3x9x10xf32>) -> tensor<2x3x9x10xf32>
    fact.yield %5 : tensor<2x3x9x10xf32>
  } : tensor<2x3x9x10xf32>
  return %0 : tensor<2x3x9x10xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A slice that lies within one part reads that part, without a bound.
// CHECK:      Extents<80>,
// CHECK-NEXT: Operands<Strided<1, f32, Strides<1>>>,
func.func @slice(%a: tensor<3x20xf32>, %b: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<3x20xf32>, tensor<4x20xf32>) {
  ^bb0(%x: tensor<3x20xf32>, %y: tensor<4x20xf32>):
    %1 = fact.concat %x, %y, %x dim 0 : (tensor<3x20xf32>, tensor<4x20xf32>, tensor<3x20xf32>) -> tensor<10x20xf32>
    %2 = fact.slice %1 dim 0 start 3 : (tensor<10x20xf32>) -> tensor<4x20xf32>
    fact.yield %2 : tensor<4x20xf32>
  } : tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A gather of a gather is one read, by an index for each.
// CHECK:      Extents<3, 13, 12>,
// CHECK-NEXT: Operands<Strided<2, i64, Strides<0, 0, 1>>,
// CHECK-NEXT:          Strided<1, i64, Strides<0, 1, 0>>,
// CHECK-NEXT:          Gathered<Strided<0, f32, Strides<90, 0, 0>>,
// CHECK-NEXT:              IndexOf<BodyIndex0, 10, 9, true>,
// CHECK-NEXT:              IndexOf<BodyIndex1, 1, 10, false>>>,
func.func @reflection(%a: tensor<3x9x10xf32>, %i: tensor<13xi64>, %j: tensor<12xi64>) -> tensor<3x13x12xf32> {
  %0 = fact.fused "pointwise" ins(%a, %i, %j : tensor<3x9x10xf32>, tensor<13xi64>, tensor<12xi64>) {
  ^bb0(%x: tensor<3x9x10xf32>, %y: tensor<13xi64>, %z: tensor<12xi64>):
    %1 = fact.gather %x, %y dim 1 : (tensor<3x9x10xf32>, tensor<13xi64>) -> tensor<3x13x10xf32>
    %2 = fact.gather %1, %z dim 2 : (tensor<3x13x10xf32>, tensor<12xi64>) -> tensor<3x13x12xf32>
    fact.yield %2 : tensor<3x13x12xf32>
  } : tensor<3x13x12xf32>
  return %0 : tensor<3x13x12xf32>
}
}

// -----

// A resized image: where it is read depends on rows and columns, so that a thread has one place of
// several images. Two neighbors at most: a warp then reads neighbors too.

// CHECK:      Pointwise<
// CHECK-NEXT: Extents<2048, 128, 128>,
// CHECK:      Gathered<Strided<{{[0-9]+}}, f32, Strides<4096, 0, 0>>,
// CHECK-NEXT: IndexOf<BodyIndex0, 1, 4096, false>>
// CHECK:      PointwiseSchedule<256, 2, 8, true>>;
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @resize(%x: tensor<32x64x4096xf32>, %i: tensor<128x1xi64>, %j: tensor<128xi64>) -> tensor<32x64x128x128xf32> {
    %0 = fact.fused "pointwise" ins(%x, %i, %j : tensor<32x64x4096xf32>, tensor<128x1xi64>, tensor<128xi64>) {
    ^bb0(%a: tensor<32x64x4096xf32>, %b: tensor<128x1xi64>, %c: tensor<128xi64>):
      %1 = fact.add %b, %c : (tensor<128x1xi64>, tensor<128xi64>) -> tensor<128x128xi64>
      %2 = fact.gather %a, %1 dim 2 : (tensor<32x64x4096xf32>, tensor<128x128xi64>) -> tensor<32x64x128x128xf32>
      fact.yield %2 : tensor<32x64x128x128xf32>
    } schedule(#fact.cuda_pointwise<threads = 256, vector = 2>) : tensor<32x64x128x128xf32>
    return %0 : tensor<32x64x128x128xf32>
  }
}

// -----

// Channels that are last share the place: whole vectors of them are read.

// CHECK:      Pointwise<
// CHECK:      IndexOf<BodyIndex0, 64, 4096, true>>
// CHECK:      PointwiseSchedule<256, 4, 2>>;
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @channels_last(%x: tensor<32x4096x64xf32>, %i: tensor<128x1xi64>, %j: tensor<128xi64>) -> tensor<32x128x128x64xf32> {
    %0 = fact.fused "pointwise" ins(%x, %i, %j : tensor<32x4096x64xf32>, tensor<128x1xi64>, tensor<128xi64>) {
    ^bb0(%a: tensor<32x4096x64xf32>, %b: tensor<128x1xi64>, %c: tensor<128xi64>):
      %1 = fact.add %b, %c : (tensor<128x1xi64>, tensor<128xi64>) -> tensor<128x128xi64>
      %2 = fact.gather %a, %1 dim 1 : (tensor<32x4096x64xf32>, tensor<128x128xi64>) -> tensor<32x128x128x64xf32>
      fact.yield %2 : tensor<32x128x128x64xf32>
    } schedule(#fact.cuda_pointwise<threads = 256, vector = 4>) : tensor<32x128x128x64xf32>
    return %0 : tensor<32x128x128x64xf32>
  }
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A tensor that is rolled along two dimensions is one read, which wraps around.
// CHECK:      Extents<3, 5, 7>,
// CHECK-NEXT: Operands<Shifted<Strided<0, f32, Strides<35, 7, 1>, -29>,
// CHECK-NEXT:                  Shift<Strides<0, 1, 0>, 4, 35>,
// CHECK-NEXT:                  Shift<Strides<0, 0, 1>, 1, 7>>>,
func.func @roll(%a: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<3x5x7xf32>) {
  ^bb0(%x: tensor<3x5x7xf32>):
    %1 = fact.slice %x dim 1 start 1 : (tensor<3x5x7xf32>) -> tensor<3x4x7xf32>
    %2 = fact.slice %x dim 1 start 0 : (tensor<3x5x7xf32>) -> tensor<3x1x7xf32>
    %3 = fact.concat %1, %2 dim 1 : (tensor<3x4x7xf32>, tensor<3x1x7xf32>) -> tensor<3x5x7xf32>
    %4 = fact.slice %3 dim 2 start 6 : (tensor<3x5x7xf32>) -> tensor<3x5x1xf32>
    %5 = fact.slice %3 dim 2 start 0 : (tensor<3x5x7xf32>) -> tensor<3x5x6xf32>
    %6 = fact.concat %4, %5 dim 2 : (tensor<3x5x1xf32>, tensor<3x5x6xf32>) -> tensor<3x5x7xf32>
    fact.yield %6 : tensor<3x5x7xf32>
  } : tensor<3x5x7xf32>
  return %0 : tensor<3x5x7xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// So is a circular padding, here within zeros.
// CHECK:      Extents<3, 11>,
// CHECK-NEXT: Operands<Guarded<Shifted<Strided<0, f32, Strides<7, 1>, -9>,
// CHECK-NEXT:                  Shift<Strides<0, 1>, 2, 7>,
// CHECK-NEXT:                  Shift<Strides<0, 1>, 9, 7>>,
// CHECK-NEXT:                  Bound<Strides<0, 1>, 0, 0, 10>>>,
func.func @circular(%a: tensor<3x7xf32>) -> tensor<3x11xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<3x7xf32>) {
  ^bb0(%x: tensor<3x7xf32>):
    %1 = fact.slice %x dim 1 start 5 : (tensor<3x7xf32>) -> tensor<3x2xf32>
    %2 = fact.slice %x dim 1 start 0 : (tensor<3x7xf32>) -> tensor<3x1xf32>
    %3 = fact.concat %1, %x, %2 dim 1 : (tensor<3x2xf32>, tensor<3x7xf32>, tensor<3x1xf32>) -> tensor<3x10xf32>
    %4 = fact.constant dense<0.0> : tensor<3x1xf32>
    %5 = fact.concat %3, %4 dim 1 : (tensor<3x10xf32>, tensor<3x1xf32>) -> tensor<3x11xf32>
    fact.yield %5 : tensor<3x11xf32>
  } : tensor<3x11xf32>
  return %0 : tensor<3x11xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// So is a cast tensor, which is converted after it is read.
// CHECK:      Extents<3, 7>,
// CHECK-NEXT: Operands<Shifted<Strided<0, bf16, Strides<7, 1>, -1>,
// CHECK-NEXT:                  Shift<Strides<0, 1>, 1, 7>>>,
func.func @converted(%a: tensor<3x7xbf16>) -> tensor<3x7xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<3x7xbf16>) {
  ^bb0(%x: tensor<3x7xbf16>):
    %1 = fact.cast %x : (tensor<3x7xbf16>) -> tensor<3x7xf32>
    %2 = fact.slice %1 dim 1 start 6 : (tensor<3x7xf32>) -> tensor<3x1xf32>
    %3 = fact.slice %1 dim 1 start 0 : (tensor<3x7xf32>) -> tensor<3x6xf32>
    %4 = fact.concat %2, %3 dim 1 : (tensor<3x1xf32>, tensor<3x6xf32>) -> tensor<3x7xf32>
    fact.yield %4 : tensor<3x7xf32>
  } : tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Rows that move as a whole are read in vectors; where several operands are
// not, a thread has few neighbors.
// CHECK: Operands<Shifted<Strided<0, bf16, Strides<64, 1>, -192>,
// CHECK-NEXT:             Shift<Strides<1, 0>, 3, 512>>>,
// CHECK: PointwiseSchedule<256, 8, 1>>;
// CHECK: Operands<Shifted<Strided<0, bf16, Strides<64, 1>, -1>,
// CHECK: PointwiseSchedule<256, 2, 1>>;
func.func @vectors(%a: tensor<8x64xbf16>) -> (tensor<8x64xbf16>, tensor<8x64xbf16>) {
  %0 = fact.fused "pointwise" ins(%a : tensor<8x64xbf16>) {
  ^bb0(%x: tensor<8x64xbf16>):
    %1 = fact.slice %x dim 0 start 5 : (tensor<8x64xbf16>) -> tensor<3x64xbf16>
    %2 = fact.slice %x dim 0 start 0 : (tensor<8x64xbf16>) -> tensor<5x64xbf16>
    %3 = fact.concat %1, %2 dim 0 : (tensor<3x64xbf16>, tensor<5x64xbf16>) -> tensor<8x64xbf16>
    fact.yield %3 : tensor<8x64xbf16>
  } : tensor<8x64xbf16>
  %4 = fact.fused "pointwise" ins(%a : tensor<8x64xbf16>) {
  ^bb0(%x: tensor<8x64xbf16>):
    %1 = fact.slice %x dim 1 start 63 : (tensor<8x64xbf16>) -> tensor<8x1xbf16>
    %2 = fact.slice %x dim 1 start 0 : (tensor<8x64xbf16>) -> tensor<8x63xbf16>
    %3 = fact.concat %1, %2 dim 1 : (tensor<8x1xbf16>, tensor<8x63xbf16>) -> tensor<8x64xbf16>
    %5 = fact.slice %x dim 1 start 1 : (tensor<8x64xbf16>) -> tensor<8x63xbf16>
    %6 = fact.slice %x dim 1 start 0 : (tensor<8x64xbf16>) -> tensor<8x1xbf16>
    %7 = fact.concat %5, %6 dim 1 : (tensor<8x63xbf16>, tensor<8x1xbf16>) -> tensor<8x64xbf16>
    %8 = fact.add %3, %7 : (tensor<8x64xbf16>, tensor<8x64xbf16>) -> tensor<8x64xbf16>
    fact.yield %8 : tensor<8x64xbf16>
  } : tensor<8x64xbf16>
  return %0, %4 : tensor<8x64xbf16>, tensor<8x64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Parts of different tensors are selected.
// CHECK: Guarded<Strided<0, f32
// CHECK: Guarded<Strided<1, f32
// CHECK: Coordinate<
func.func @two(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) -> tensor<3x14xf32> {
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<3x7xf32>, tensor<3x7xf32>) {
  ^bb0(%x: tensor<3x7xf32>, %y: tensor<3x7xf32>):
    %1 = fact.concat %x, %y dim 1 : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x14xf32>
    fact.yield %1 : tensor<3x14xf32>
  } : tensor<3x14xf32>
  return %0 : tensor<3x14xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Parts that cost too much to compute for each element are results of their
// own, which lie in one tensor.
// CHECK:      Extents<48>,
// CHECK-NEXT: Operands<Strided<0, f32, Strides<1>>,
// CHECK-NEXT:          Strided<1, f32, Strides<1>>>,
// CHECK-NEXT: Results<Result<Body0, Strided<2, f32, Strides<1>>>,
// CHECK-NEXT:         Result<Body1, Strided<2, f32, Strides<1>, 48>>>,
func.func @parts(%a: tensor<3x16xf32>, %b: tensor<3x16xf32>) -> tensor<6x16xf32> {
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<3x16xf32>, tensor<3x16xf32>) {
  ^bb0(%x: tensor<3x16xf32>, %y: tensor<3x16xf32>):
    %1 = fact.pow %x, %y : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
    %2 = fact.pow %y, %x : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
    %3 = fact.concat %1, %2 dim 0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<6x16xf32>
    fact.yield %3 : tensor<6x16xf32>
  } : tensor<6x16xf32>
  return %0 : tensor<6x16xf32>
}
}
