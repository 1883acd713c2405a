// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// Columns of 16-bit elements are read in vectors, and blocks share them.
// CHECK-LABEL: // %0 = fact.fused "reduction"
// CHECK: struct Body0
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<1, 8192, 16384>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum>, float, Body0>>,
// CHECK-NEXT: Operands<Streamed<Strided<0, bf16, Strides<0, 16384, 1>>>>,
// CHECK-NEXT: Results<>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Column0, Strided<1, bf16, Strides<0, 1>>>>,
// CHECK-NEXT: ReductionSchedule<8, 8, 32, 4, false>>;
func.func @columns(%x: tensor<8192x16384xbf16>) -> tensor<16384xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<8192x16384xbf16>) {
  ^bb0(%a: tensor<8192x16384xbf16>):
    %1 = fact.reduce sum %a dims [0] : (tensor<8192x16384xbf16>) -> tensor<16384xbf16>
    fact.yield %1 : tensor<16384xbf16>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 32, splits = 4, operands = read>) : tensor<16384xbf16>
  return %0 : tensor<16384xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A softmax of permuted rows, and what follows in the order of memory: the operand is read once.
// CHECK: struct Body2
// CHECK: expf
// CHECK: 1.0f / reduced1;
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<4, 64, 32>,
// CHECK-NEXT: Stages<Stage<Folded<RunningMaximum>, float, Body0>,
// CHECK-NEXT: Stage<Folded<RunningSum>, float, Body1, 1>>,
// CHECK-NEXT: Operands<Strided<0, f32, Strides<2048, 32, 1>>,
// CHECK-NEXT: Strided<1, f32, Strides<0, 0, 1>>>,
// CHECK-NEXT: Results<Result<Body2, Strided<2, f32, Strides<2048, 32, 1>>>>,
// CHECK: ReductionSchedule<4, 8, 16, 1, true>>;
func.func @softmax(%x: tensor<4x64x32xf32>, %y: tensor<32xf32>) -> tensor<4x64x32xf32> {
  %0 = fact.fused "reduction" ins(%x, %y : tensor<4x64x32xf32>, tensor<32xf32>) {
  ^bb0(%a: tensor<4x64x32xf32>, %b: tensor<32xf32>):
    %1 = fact.permute %a [0, 2, 1] : (tensor<4x64x32xf32>) -> tensor<4x32x64xf32>
    %2 = fact.softmax %1 dim 2 : tensor<4x32x64xf32>
    %3 = fact.permute %2 [0, 2, 1] : (tensor<4x32x64xf32>) -> tensor<4x64x32xf32>
    %4 = fact.mul %3, %b : (tensor<4x64x32xf32>, tensor<32xf32>) -> tensor<4x64x32xf32>
    fact.yield %4 : tensor<4x64x32xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = held>) : tensor<4x64x32xf32>
  return %0 : tensor<4x64x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Rows that lie together: the elements of a vector are combined too.
// CHECK: ReductionShape<1, 16384, 4, true>,
// CHECK-NEXT: Stages<Stage<Place<RunningMaximum>, float, Body0>>,
// CHECK-NEXT: Operands<Strided<0, f32, Strides<0, 4, 1>>>,
// CHECK: Results<Result<Column0, Strided<1, i64, Strides<0, 0>>>>,
// CHECK-NEXT: ReductionSchedule<4, 1, 256, 8, false>>;
func.func @all(%x: tensor<256x256xf32>) -> tensor<i64> {
  %0 = fact.fused "reduction" ins(%x : tensor<256x256xf32>) {
  ^bb0(%a: tensor<256x256xf32>):
    %1 = fact.reduce argmax %a dims [0, 1] : (tensor<256x256xf32>) -> tensor<i64>
    fact.yield %1 : tensor<i64>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 256, splits = 8, operands = read>) : tensor<i64>
  return %0 : tensor<i64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A layer norm over the channels of images, in the order of memory.

// CHECK:      ReductionShape<64, 96, 3136>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum, true>, float, Body0>,
// CHECK-NEXT:        Stage<Folded<RunningSum, true>, float, Body1, 1>>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<301056, 3136, 1>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<0, 1, 0>>>,
// CHECK-NEXT: Results<Result<Body2, Strided<2, bf16, Strides<301056, 3136, 1>>>>,
// CHECK:      ReductionSchedule<8, 8, {{[0-9]+}}, 1, true>>;
func.func @channel_norm(%x: tensor<64x96x56x56xbf16>, %w: tensor<96xbf16>) -> tensor<64x96x56x56xbf16> {
  %0 = fact.fused "reduction" ins(%x, %w : tensor<64x96x56x56xbf16>, tensor<96xbf16>) {
  ^bb0(%a: tensor<64x96x56x56xbf16>, %b: tensor<96xbf16>):
    %1 = fact.permute %a [0, 2, 3, 1] : (tensor<64x96x56x56xbf16>) -> tensor<64x56x56x96xbf16>
    %2 = fact.norm layer %1 weight %b eps 1.0e-5 : (tensor<64x56x56x96xbf16>, tensor<96xbf16>) -> tensor<64x56x56x96xbf16>
    %3 = fact.permute %2 [0, 3, 1, 2] : (tensor<64x56x56x96xbf16>) -> tensor<64x96x56x56xbf16>
    fact.yield %3 : tensor<64x96x56x56xbf16>
  } : tensor<64x96x56x56xbf16>
  return %0 : tensor<64x96x56x56xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The mean and the squares around it, of the same elements: they are read once, and not held.

// CHECK:      ReductionShape<8192, 512, 8, true>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum, true>, float, Body0>,
// CHECK-NEXT:        Stage<SquaresAroundMean<true>, float, Body0>>,
// CHECK:      ReductionSchedule<8, {{[0-9]+, [0-9]+}}, 1, false>>;
func.func @variance(%x: tensor<8192x4096xbf16>) -> tensor<8192xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<8192x4096xbf16>) {
  ^bb0(%a: tensor<8192x4096xbf16>):
    %1 = fact.reduce mean %a dims [1] keep : (tensor<8192x4096xbf16>) -> tensor<8192x1xbf16>
    %2 = fact.sub %a, %1 : (tensor<8192x4096xbf16>, tensor<8192x1xbf16>) -> tensor<8192x4096xbf16>
    %3 = fact.mul %2, %2 : (tensor<8192x4096xbf16>, tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
    %4 = fact.reduce mean %3 dims [1] : (tensor<8192x4096xbf16>) -> tensor<8192xbf16>
    fact.yield %4 : tensor<8192xbf16>
  } : tensor<8192xbf16>
  return %0 : tensor<8192xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A thread that holds whole columns has fewer of them.

// CHECK:      ReductionShape<16, 21, 4096>,
// CHECK:      ReductionSchedule<2, 128, 1, 1, true>>;
func.func @classes(%x: tensor<16x21x64x64xf32>) -> tensor<16x21x64x64xf32> {
  %0 = fact.fused "reduction" ins(%x : tensor<16x21x64x64xf32>) {
  ^bb0(%a: tensor<16x21x64x64xf32>):
    %1 = fact.softmax %a dim 1 : tensor<16x21x64x64xf32>
    fact.yield %1 : tensor<16x21x64x64xf32>
  } schedule(#fact.cuda_reduction<columns = 128, lanes = 1, splits = 1, operands = held>) : tensor<16x21x64x64xf32>
  return %0 : tensor<16x21x64x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// 16-bit columns are held as floats.

// CHECK:      ReductionShape<16, 21, 4096>,
// CHECK:      ReductionSchedule<2, 128, 1, 1, true>>;
func.func @narrow_classes(%x: tensor<16x21x64x64xbf16>) -> tensor<16x21x64x64xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<16x21x64x64xbf16>) {
  ^bb0(%a: tensor<16x21x64x64xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<16x21x64x64xbf16>
    fact.yield %1 : tensor<16x21x64x64xbf16>
  } schedule(#fact.cuda_reduction<columns = 128, lanes = 1, splits = 1, operands = held>) : tensor<16x21x64x64xbf16>
  return %0 : tensor<16x21x64x64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Reductions that do not need each other are one pass, which blocks share; the order of stages is that of passes.
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<1, 262144, 4, true>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum>, float, Body0>,
// CHECK-NEXT: Stage<Folded<RunningMaximum>, float, Body1>,
// CHECK-NEXT: Stage<Place<RunningMinimum>, float, Body2>>,
// CHECK-NEXT: Operands<
// CHECK: ReductionSchedule<4, 1, 512, 16, false>>;
func.func @siblings(%x: tensor<1048576xf32>, %y: tensor<1048576xf32>) -> (tensor<f32>, tensor<f32>, tensor<i64>) {
  %0:3 = fact.fused "reduction" ins(%x, %y : tensor<1048576xf32>, tensor<1048576xf32>) {
  ^bb0(%a: tensor<1048576xf32>, %b: tensor<1048576xf32>):
    %1 = fact.mul %a, %b : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
    %2 = fact.reduce sum %1 dims [0] : (tensor<1048576xf32>) -> tensor<f32>
    %3 = fact.reduce max %a dims [0] : (tensor<1048576xf32>) -> tensor<f32>
    %4 = fact.reduce argmin %b dims [0] : (tensor<1048576xf32>) -> tensor<i64>
    fact.yield %2, %3, %4 : tensor<f32>, tensor<f32>, tensor<i64>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 512, splits = 16, operands = read>) : tensor<f32>, tensor<f32>, tensor<i64>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<f32>, tensor<i64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The second pass needs the mean and nothing else; the sum that comes after it in the region is of the first pass.
// CHECK: Stages<Stage<Folded<RunningSum, true>, float, Body0>,
// CHECK-NEXT: Stage<Folded<RunningSum>, float, Body1>,
// CHECK-NEXT: Stage<Folded<RunningSum, true>, float, Body2, 1>>,
func.func @passes(%x: tensor<64x1024xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0:2 = fact.fused "reduction" ins(%x : tensor<64x1024xf32>) {
  ^bb0(%a: tensor<64x1024xf32>):
    %1 = fact.reduce mean %a dims [1] keep : (tensor<64x1024xf32>) -> tensor<64x1xf32>
    %2 = fact.sub %a, %1 : (tensor<64x1024xf32>, tensor<64x1xf32>) -> tensor<64x1024xf32>
    %3 = fact.mul %2, %2 : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %4 = fact.reduce mean %3 dims [1] : (tensor<64x1024xf32>) -> tensor<64xf32>
    %5 = fact.abs %a : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %6 = fact.reduce sum %5 dims [1] : (tensor<64x1024xf32>) -> tensor<64xf32>
    fact.yield %4, %6 : tensor<64xf32>, tensor<64xf32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 128, splits = 1, operands = held>) : tensor<64xf32>, tensor<64xf32>
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A softmax beside its logarithm: their maximum and their sum are the same.
// CHECK: Stages<Stage<Folded<RunningMaximum>, float, Body0>,
// CHECK-NEXT: Stage<Folded<RunningSum>, float, Body1, 1>,
// CHECK-NEXT: Stage<Folded<RunningSum>, float, Body2, 2>>,
func.func @entropy(%x: tensor<64x1024xbf16>) -> tensor<64xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<64x1024xbf16>) {
  ^bb0(%a: tensor<64x1024xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<64x1024xbf16>
    %2 = fact.reduce max %a dims [1] keep : (tensor<64x1024xbf16>) -> tensor<64x1xbf16>
    %3 = fact.sub %a, %2 : (tensor<64x1024xbf16>, tensor<64x1xbf16>) -> tensor<64x1024xbf16>
    %4 = fact.exp %3 : (tensor<64x1024xbf16>) -> tensor<64x1024xbf16>
    %5 = fact.reduce sum %4 dims [1] keep : (tensor<64x1024xbf16>) -> tensor<64x1xbf16>
    %6 = fact.log %5 : (tensor<64x1xbf16>) -> tensor<64x1xbf16>
    %7 = fact.sub %3, %6 : (tensor<64x1024xbf16>, tensor<64x1xbf16>) -> tensor<64x1024xbf16>
    %8 = fact.mul %1, %7 : (tensor<64x1024xbf16>, tensor<64x1024xbf16>) -> tensor<64x1024xbf16>
    %9 = fact.reduce sum %8 dims [1] : (tensor<64x1024xbf16>) -> tensor<64xbf16>
    fact.yield %9 : tensor<64xbf16>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 128, splits = 1, operands = held>) : tensor<64xbf16>
  return %0 : tensor<64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Few rows that do not fit on the chip: blocks share each of them, in launches for the largest elements with the sums
// and for the results.

// CHECK:      ReductionShape<32, 65536, 8, true>,
// CHECK-NEXT: Stages<Stage<Folded<RunningMaximum>, float, Body0>,
// CHECK-NEXT:        Stage<ExponentialsBelowMaximum, float, Body0>>,
// CHECK:      ReductionSchedule<8, 1, 256, 32, false>>;
func.func @few_long_rows(%x: tensor<32x524288xbf16>) -> tensor<32x524288xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<32x524288xbf16>) {
  ^bb0(%a: tensor<32x524288xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<32x524288xbf16>
    fact.yield %1 : tensor<32x524288xbf16>
  } : tensor<32x524288xbf16>
  return %0 : tensor<32x524288xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Dimensions that have others between them are reduced where they are.

// CHECK:      ReductionShape<1, 128, 8, true, 32, 512>,
// CHECK:      Operands<Streamed<Strided<0, bf16, Strides<0, 524288, 1024, 8, 1>>>>,
// CHECK:      Results<Result<Column0, Strided<1, bf16, Strides<0, 1, 0>>>>,
func.func @around(%x: tensor<32x512x1024xbf16>) -> tensor<512xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<32x512x1024xbf16>) {
  ^bb0(%a: tensor<32x512x1024xbf16>):
    %1 = fact.reduce sum %a dims [0, 2] : (tensor<32x512x1024xbf16>) -> tensor<512xbf16>
    fact.yield %1 : tensor<512xbf16>
  } : tensor<512xbf16>
  return %0 : tensor<512xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Dimensions after and between them are kept.

// CHECK:      ReductionShape<1, 7, 64, false, 3, 40>,
func.func @between(%x: tensor<3x40x7x64xf32>) -> tensor<40x64xf32> {
  %0 = fact.fused "reduction" ins(%x : tensor<3x40x7x64xf32>) {
  ^bb0(%a: tensor<3x40x7x64xf32>):
    %1 = fact.reduce max %a dims [0, 2] : (tensor<3x40x7x64xf32>) -> tensor<40x64xf32>
    fact.yield %1 : tensor<40x64xf32>
  } : tensor<40x64xf32>
  return %0 : tensor<40x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The statistics of a batch, and what follows: its elements are cast where they are read, once for both statistics and
// once for the results.

// CHECK:      ReductionShape<1, 392, 8, true, 64, 256>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum, true>, float, Body0>,
// CHECK-NEXT:        Stage<SquaresAroundMean<true>, float, Body0>>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<0, 802816, 3136, 8, 1>>>,
// CHECK:      ReductionSchedule<8, 1, {{[0-9]+, [0-9]+}}, false>>;
func.func @batch_norm(%x: tensor<64x256x56x56xbf16>) -> tensor<64x256x56x56xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<64x256x56x56xbf16>) {
  ^bb0(%a: tensor<64x256x56x56xbf16>):
    %1 = fact.cast %a : (tensor<64x256x56x56xbf16>) -> tensor<64x256x56x56xf32>
    %2 = fact.reduce mean %1 dims [0, 2, 3] keep : (tensor<64x256x56x56xf32>) -> tensor<1x256x1x1xf32>
    %3 = fact.sub %1, %2 : (tensor<64x256x56x56xf32>, tensor<1x256x1x1xf32>) -> tensor<64x256x56x56xf32>
    %4 = fact.mul %3, %3 : (tensor<64x256x56x56xf32>, tensor<64x256x56x56xf32>) -> tensor<64x256x56x56xf32>
    %5 = fact.reduce mean %4 dims [0, 2, 3] keep : (tensor<64x256x56x56xf32>) -> tensor<1x256x1x1xf32>
    %6 = fact.rsqrt %5 : (tensor<1x256x1x1xf32>) -> tensor<1x256x1x1xf32>
    %7 = fact.mul %3, %6 : (tensor<64x256x56x56xf32>, tensor<1x256x1x1xf32>) -> tensor<64x256x56x56xf32>
    %8 = fact.cast %7 : (tensor<64x256x56x56xf32>) -> tensor<64x256x56x56xbf16>
    fact.yield %8 : tensor<64x256x56x56xbf16>
  } : tensor<64x256x56x56xbf16>
  return %0 : tensor<64x256x56x56xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A group norm of images with the weights of its channels, which have two strides in a row and two among rows.

// CHECK:      ReductionShape<64, 32768, 8, true, 8, 8>,
// CHECK:      Operands<Strided<0, bf16, Strides<16777216, 262144, 2097152, 8, 1>>,
// CHECK-NEXT:          Strided<1, bf16, Strides<0, 1, 8, 0, 0>>>,
func.func @group_norm(%x: tensor<64x64x512x512xbf16>, %w: tensor<64xbf16>) -> tensor<64x64x512x512xbf16> {
  %0 = fact.fused "reduction" ins(%x, %w : tensor<64x64x512x512xbf16>, tensor<64xbf16>) {
  ^bb0(%a: tensor<64x64x512x512xbf16>, %b: tensor<64xbf16>):
    %1 = fact.reshape %a : (tensor<64x64x512x512xbf16>) -> tensor<64x8x2097152xbf16>
    %2 = fact.norm layer %1 eps 1.0e-5 : (tensor<64x8x2097152xbf16>) -> tensor<64x8x2097152xbf16>
    %3 = fact.reshape %2 : (tensor<64x8x2097152xbf16>) -> tensor<64x64x512x512xbf16>
    %4 = fact.reshape %b : (tensor<64xbf16>) -> tensor<64x1x1xbf16>
    %5 = fact.mul %3, %4 : (tensor<64x64x512x512xbf16>, tensor<64x1x1xbf16>) -> tensor<64x64x512x512xbf16>
    fact.yield %5 : tensor<64x64x512x512xbf16>
  } : tensor<64x64x512x512xbf16>
  return %0 : tensor<64x64x512x512xbf16>
}
}
