// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// Columns of 16-bit elements are read in vectors, and blocks share them.
// CHECK-LABEL: // %0 = fact.fused "reduction"
// CHECK: struct Body0
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<1, 8192, 16384>,
// CHECK-NEXT: Stages<Stage<Folded<RunningSum>, float, Body0>>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<0, 16384, 1>>>,
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
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<4, 64, 32>,
// CHECK-NEXT: Stages<Stage<Folded<RunningMaximum>, float, Body0>,
// CHECK-NEXT: Stage<Folded<RunningSum>, float, Body1>>,
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
