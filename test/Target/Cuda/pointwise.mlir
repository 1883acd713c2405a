// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// Neighbouring dimensions that all tensors walk alike become one.

// CHECK:      struct Body {
// CHECK-NEXT:   FACT_DEVICE float apply(float operand0,
// CHECK-NEXT:                          float operand1) {
// CHECK-NEXT:     const float v0 = operand0 * 0.5f;
// CHECK-NEXT:     const float v1 = tanh_approx(v0);
// CHECK-NEXT:     const float v2 = fmaf(v1, 0.5f, 0.5f);
// CHECK-NEXT:     const float v3 = operand0 * v2;
// CHECK-NEXT:     const float v4 = v3 * operand1;
// CHECK:      Extents<65536, 768>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<768, 1>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<0, 1>>>,
// CHECK-NEXT: Results<Result<Body, Strided<2, bf16, Strides<768, 1>>>>,
// CHECK-NEXT: PointwiseSchedule<256, 8, 2>>;
func.func @silu(%x: tensor<128x512x768xbf16>, %s: tensor<768xbf16>) -> tensor<128x512x768xbf16> {
  %0 = fact.fused "pointwise" ins(%x, %s : tensor<128x512x768xbf16>, tensor<768xbf16>) {
  ^bb0(%a: tensor<128x512x768xbf16>, %b: tensor<768xbf16>):
    %1 = fact.silu %a : (tensor<128x512x768xbf16>) -> tensor<128x512x768xbf16>
    %2 = fact.mul %1, %b : (tensor<128x512x768xbf16>, tensor<768xbf16>) -> tensor<128x512x768xbf16>
    fact.yield %2 : tensor<128x512x768xbf16>
  } : tensor<128x512x768xbf16>
  return %0 : tensor<128x512x768xbf16>
}

// -----

// A copy: permute and merge, which no stride of the source can say, becomes
// strides of the result. Dimensions follow the result, so that neighbors are
// stored together.

// CHECK:      Extents<2, 16, 8, 96>,
// CHECK-NEXT: Operands<Strided<0, i64, Strides<12288, 96, 1536, 1>>>,
// CHECK-NEXT: Results<Result<Identity, Strided<1, i64, Strides<12288, 768, 96, 1>>>>,
func.func @copy(%x: tensor<2x8x16x96xi64>) -> tensor<2x16x768xi64> {
  %0 = fact.fused "pointwise" ins(%x : tensor<2x8x16x96xi64>) {
  ^bb0(%a: tensor<2x8x16x96xi64>):
    %1 = fact.permute %a [0, 2, 1, 3] : (tensor<2x8x16x96xi64>) -> tensor<2x16x8x96xi64>
    %2 = fact.reshape %1 : (tensor<2x16x8x96xi64>) -> tensor<2x16x768xi64>
    fact.yield %2 : tensor<2x16x768xi64>
  } : tensor<2x16x768xi64>
  return %0 : tensor<2x16x768xi64>
}

// -----

// Comparisons, selections, casts, exact functions for f32; a slice with a step
// is picked from the elements that it spans.

// CHECK:      struct Body0 {
// CHECK-NEXT:   FACT_DEVICE float apply(bool operand2,
// CHECK-NEXT:                          float operand0,
// CHECK-NEXT:                          int64_t operand1) {
// CHECK:          const float v0 = expf(operand0);
// CHECK:          = round_to_bf16({{v[0-9]+}});
// CHECK:      struct Body1 {
// CHECK-NEXT:   FACT_DEVICE bool apply(
// CHECK:          const bool {{v[0-9]+}} = operand1 < int64_t(3);
// CHECK:      Extents<10, 7>,
// CHECK-NEXT: Operands<Strided<2, i1, Strides<1, 0>>,
// CHECK-NEXT:          Picked<Strided<0, f32, Strides<14, 2>, 1>, 2>,
// CHECK-NEXT:          Strided<1, i64, Strides<7, 1>>>,
// CHECK-NEXT: Results<Result<Body0, Strided<3, f32, Strides<7, 1>>>,
// CHECK-NEXT:         Result<Body1, Strided<4, i1, Strides<7, 1>>>>,
// CHECK-NEXT: PointwiseSchedule<{{[0-9]+}}, 1, 1>>;
func.func @types(%x: tensor<10x14xf32>, %i: tensor<10x7xi64>, %m: tensor<10x1xi1>) -> (tensor<10x7xf32>, tensor<10x7xi1>) {
  %0:2 = fact.fused "pointwise" ins(%x, %i, %m : tensor<10x14xf32>, tensor<10x7xi64>, tensor<10x1xi1>) {
  ^bb0(%a: tensor<10x14xf32>, %b: tensor<10x7xi64>, %c: tensor<10x1xi1>):
    %1 = fact.slice %a dim 1 start 1 step 2 : (tensor<10x14xf32>) -> tensor<10x7xf32>
    %2 = fact.exp %1 : (tensor<10x7xf32>) -> tensor<10x7xf32>
    %3 = fact.cast %b : (tensor<10x7xi64>) -> tensor<10x7xf32>
    %4 = fact.select %c, %2, %3 : (tensor<10x1xi1>, tensor<10x7xf32>, tensor<10x7xf32>) -> tensor<10x7xf32>
    %5 = fact.cast %4 : (tensor<10x7xf32>) -> tensor<10x7xbf16>
    %6 = fact.cast %5 : (tensor<10x7xbf16>) -> tensor<10x7xf32>
    %three = fact.constant dense<3> : tensor<i64>
    %7 = fact.compare lt %b, %three : (tensor<10x7xi64>, tensor<i64>) -> tensor<10x7xi1>
    fact.yield %6, %7 : tensor<10x7xf32>, tensor<10x7xi1>
  } : tensor<10x7xf32>, tensor<10x7xi1>
  return %0#0, %0#1 : tensor<10x7xf32>, tensor<10x7xi1>
}

// -----

// A wider scalar joins the arithmetic of the tensor beside it.

// CHECK:      const float v0 = operand0 * 0.1f;
func.func @scalar(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %0 = fact.fused "pointwise" ins(%x : tensor<64xbf16>) {
  ^bb0(%a: tensor<64xbf16>):
    %c = fact.constant dense<1.0e-01> : tensor<f64>
    %1 = fact.mul %a, %c : (tensor<64xbf16>, tensor<f64>) -> tensor<64xbf16>
    fact.yield %1 : tensor<64xbf16>
  } : tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// -----

// Embeddings: rows of a table by tokens, plus positions.

// CHECK:      struct Body {
// CHECK:          const float v0 = operand0 + operand2;
// CHECK:      struct BodyIndex0 {
// CHECK:          return operand1;
// CHECK:      Extents<2, 7, 16>,
// CHECK-NEXT: Operands<Strided<1, i64, Strides<7, 1, 0>>,
// CHECK-NEXT:          Gathered<Strided<0, bf16, Strides<0, 0, 1>>,
// CHECK-NEXT:              IndexOf<BodyIndex0, 16, 100, true>>,
// CHECK-NEXT:          Strided<2, bf16, Strides<0, 16, 1>, 16>>,
// CHECK-NEXT: Results<Result<Body, Strided<3, bf16, Strides<112, 16, 1>>>>,
func.func @embedding(%t: tensor<100x16xbf16>, %i: tensor<2x7xi64>, %p: tensor<9x16xbf16>) -> tensor<2x7x16xbf16> {
  %0 = fact.fused "pointwise" ins(%t, %i, %p : tensor<100x16xbf16>, tensor<2x7xi64>, tensor<9x16xbf16>) {
  ^bb0(%a: tensor<100x16xbf16>, %b: tensor<2x7xi64>, %c: tensor<9x16xbf16>):
    %1 = fact.gather %a, %b dim 0 : (tensor<100x16xbf16>, tensor<2x7xi64>) -> tensor<2x7x16xbf16>
    %2 = fact.slice %c dim 0 start 1 : (tensor<9x16xbf16>) -> tensor<7x16xbf16>
    %3 = fact.add %1, %2 : (tensor<2x7x16xbf16>, tensor<7x16xbf16>) -> tensor<2x7x16xbf16>
    fact.yield %3 : tensor<2x7x16xbf16>
  } : tensor<2x7x16xbf16>
  return %0 : tensor<2x7x16xbf16>
}

// -----

// Rotary embeddings: one pass over pairs writes both of each; heads are read in
// place and written where the next op wants them.

// CHECK:      struct Body0 {
// CHECK:          const float v0 = operand0 * operand1;
// CHECK-NEXT:     const float v1 = operand0b * operand2;
// CHECK-NEXT:     const float v2 = v0 - v1;
// CHECK:      struct Body1 {
// CHECK:      Extents<2, 4, 8, 8>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<512, 16, 64, 1>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<0, 0, 16, 1>>,
// CHECK-NEXT:          Strided<0, bf16, Strides<512, 16, 64, 1>, 8>,
// CHECK-NEXT:          Strided<2, bf16, Strides<0, 0, 16, 1>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<0, 0, 16, 1>, 8>,
// CHECK-NEXT:          Strided<2, bf16, Strides<0, 0, 16, 1>, 8>>,
// CHECK-NEXT: Results<Result<Body0, Strided<3, bf16, Strides<512, 128, 16, 1>>>,
// CHECK-NEXT:         Result<Body1, Strided<3, bf16, Strides<512, 128, 16, 1>, 8>>>,
func.func @rotary(%x: tensor<2x8x4x16xbf16>, %c: tensor<8x16xbf16>, %s: tensor<8x16xbf16>) -> tensor<2x4x8x16xbf16> {
  %0 = fact.fused "pointwise" ins(%x, %c, %s : tensor<2x8x4x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>) {
  ^bb0(%a: tensor<2x8x4x16xbf16>, %b: tensor<8x16xbf16>, %d: tensor<8x16xbf16>):
    %1 = fact.permute %a [0, 2, 1, 3] : (tensor<2x8x4x16xbf16>) -> tensor<2x4x8x16xbf16>
    %2 = fact.rotary %1, %b, %d : (tensor<2x4x8x16xbf16>, tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<2x4x8x16xbf16>
    fact.yield %2 : tensor<2x4x8x16xbf16>
  } : tensor<2x4x8x16xbf16>
  return %0 : tensor<2x4x8x16xbf16>
}

// -----

// Interleaved pairs are neighbours.

// CHECK:      Extents<40>,
// CHECK-NEXT: Operands<Picked<Strided<0, f32, Strides<2>>, 4>,
// CHECK:      Results<Result<Body0, Strided<3, f32, Strides<2>>>,
// CHECK-NEXT:         Result<Body1, Strided<3, f32, Strides<2>, 1>>>,
func.func @interleaved(%x: tensor<10x8xf32>, %c: tensor<10x8xf32>, %s: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %0 = fact.fused "pointwise" ins(%x, %c, %s : tensor<10x8xf32>, tensor<10x8xf32>, tensor<10x8xf32>) {
  ^bb0(%a: tensor<10x8xf32>, %b: tensor<10x8xf32>, %d: tensor<10x8xf32>):
    %1 = fact.rotary %a, %b, %d interleaved : (tensor<10x8xf32>, tensor<10x8xf32>, tensor<10x8xf32>) -> tensor<10x8xf32>
    fact.yield %1 : tensor<10x8xf32>
  } : tensor<10x8xf32>
  return %0 : tensor<10x8xf32>
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A constant in memory.
// CHECK: FACT_DEVICE float apply() {
// CHECK: Operands<>,
func.func @constant() -> tensor<64xbf16> {
  %0 = fact.fused "pointwise" {
    %1 = fact.constant dense<2.0> : tensor<bf16>
    %2 = fact.expand %1 : (tensor<bf16>) -> tensor<64xbf16>
    fact.yield %2 : tensor<64xbf16>
  } schedule(#fact.cuda_pointwise<threads = 256, vector = 8>) : tensor<64xbf16>
  return %0 : tensor<64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// An operand whose neighbors are not those of the result passes through shared
// memory, in whole lines of both; one that has them is read in place.

// CHECK: #include "fact/cutlass/TiledPointwise.cuh"
// CHECK:      using Kernel = TiledPointwise<
// CHECK-NEXT: Extents<64, 3136, 256>,
// CHECK-NEXT: Extents<1, 64, 128>,
// CHECK-NEXT: Order<1, 2>, Order<2, 1>,
// CHECK-NEXT: Operands<Staged<0, bf16, Strides<802816, 1, 3136>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<802816, 256, 1>>>,
// CHECK-NEXT: Results<Result<Body, Strided<2, bf16, Strides<802816, 256, 1>>>>,
// CHECK-NEXT: TileSchedule<256, 8>>;
func.func @channels_last(%x: tensor<64x256x56x56xbf16>, %y: tensor<64x56x56x256xbf16>) -> tensor<64x56x56x256xbf16> {
  %0 = fact.fused "pointwise" ins(%x, %y : tensor<64x256x56x56xbf16>, tensor<64x56x56x256xbf16>) {
  ^bb0(%a: tensor<64x256x56x56xbf16>, %b: tensor<64x56x56x256xbf16>):
    %1 = fact.permute %a [0, 2, 3, 1] : (tensor<64x256x56x56xbf16>) -> tensor<64x56x56x256xbf16>
    %2 = fact.add %1, %b : (tensor<64x56x56x256xbf16>, tensor<64x56x56x256xbf16>) -> tensor<64x56x56x256xbf16>
    fact.yield %2 : tensor<64x56x56x256xbf16>
  } schedule(#fact.cuda_tile<rows = 64, columns = 128, threads = 256>) : tensor<64x56x56x256xbf16>
  return %0 : tensor<64x56x56x256xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The best predicted schedule of a large transpose is a tile. Parts of a
// dimension are of equal size, in whole vectors; odd rows are stored one by one.

// CHECK:      TiledPointwise<
// CHECK-NEXT: Extents<4095, 8191>,
// CHECK-NEXT: Extents<{{[0-9]+, [0-9]+}}>,
// CHECK-NEXT: Order<0, 1>, Order<1, 0>,
// CHECK-NEXT: Operands<Staged<0, f32, Strides<1, 4095>>>,
// CHECK-NEXT: Results<Result<Identity, Strided<1, f32, Strides<8191, 1>>>>,
// CHECK-NEXT: TileSchedule<256, 1>>;
func.func @odd(%x: tensor<8191x4095xf32>) -> tensor<4095x8191xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<8191x4095xf32>) {
  ^bb0(%a: tensor<8191x4095xf32>):
    %1 = fact.permute %a [1, 0] : (tensor<8191x4095xf32>) -> tensor<4095x8191xf32>
    fact.yield %1 : tensor<4095x8191xf32>
  } : tensor<4095x8191xf32>
  return %0 : tensor<4095x8191xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Three channels: the tile has all of them, and more pixels.

// CHECK:      Extents<8, 50176, 3>,
// CHECK-NEXT: Extents<1, 2656, 3>,
// CHECK-NEXT: Order<1, 2>, Order<2, 1>,
func.func @few(%x: tensor<8x3x224x224xbf16>) -> tensor<8x224x224x3xbf16> {
  %0 = fact.fused "pointwise" ins(%x : tensor<8x3x224x224xbf16>) {
  ^bb0(%a: tensor<8x3x224x224xbf16>):
    %1 = fact.permute %a [0, 2, 3, 1] : (tensor<8x3x224x224xbf16>) -> tensor<8x224x224x3xbf16>
    fact.yield %1 : tensor<8x224x224x3xbf16>
  } schedule(#fact.cuda_tile<rows = 64, columns = 128, threads = 256>) : tensor<8x224x224x3xbf16>
  return %0 : tensor<8x224x224x3xbf16>
}
}

// -----

// Two quotients by one value share its inverse; a third has its own.
// CHECK: = divide_by_shared(operand0, operand2);
// CHECK: = divide_by_shared(operand1, operand2);
// CHECK: {{v[0-9]+}} / {{v[0-9]+}};
func.func @quotients(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%x, %y, %z : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>):
    %1 = fact.div %a, %c : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %2 = fact.div %b, %c : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %3 = fact.div %1, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    fact.yield %3 : tensor<64xf32>
  } schedule(#fact.cuda_pointwise<threads = 128, vector = 4>) : tensor<64xf32>
  return %0 : tensor<64xf32>
}
