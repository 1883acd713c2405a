// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: #include "fact/cutlass/ScatterSorted.cuh"
// CHECK: struct SourceValue {
// CHECK-NEXT: FACT_DEVICE float value() { return 0.0f; }
// CHECK: using Kernel = ScatterSorted<
// CHECK-NEXT: Scatter<ScatterShape<1, 1000, 64, 5000>, bf16, RunningSum,
// CHECK-NEXT: Filled<SourceValue>, RowIndices<0, i64>, Stored<1>, 2>,
// CHECK-NEXT: 8, 32, 8>;
func.func @index_add(%i: tensor<5000xi64>, %u: tensor<5000x64xbf16>) -> tensor<1000x64xbf16> {
  %0 = fact.fused "scatter" ins(%i, %u : tensor<5000xi64>, tensor<5000x64xbf16>) {
  ^bb0(%a: tensor<5000xi64>, %b: tensor<5000x64xbf16>):
    %1 = fact.constant dense<0.0> : tensor<1000x64xbf16>
    %2 = fact.scatter sum %1, %a, %b dim 0 : (tensor<1000x64xbf16>, tensor<5000xi64>, tensor<5000x64xbf16>) -> tensor<1000x64xbf16>
    fact.yield %2 : tensor<1000x64xbf16>
  } schedule(#fact.cuda_scatter<method = sort, chunk = 32>) : tensor<1000x64xbf16>
  return %0 : tensor<1000x64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The sum of booleans is their maximum.
// CHECK: using Kernel = ScatterSearch<
// CHECK-NEXT: Scatter<ScatterShape<2, 9, 3, 4>, i1, RunningMaximum,
// CHECK-NEXT: Stored<0>, RowIndices<1, i32>, Stored<2>, 3>,
// CHECK-NEXT: 1>;
func.func @booleans(%x: tensor<2x9x3xi1>, %i: tensor<4xi32>, %u: tensor<2x4x3xi1>) -> tensor<2x9x3xi1> {
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<2x9x3xi1>, tensor<4xi32>, tensor<2x4x3xi1>) {
  ^bb0(%a: tensor<2x9x3xi1>, %b: tensor<4xi32>, %c: tensor<2x4x3xi1>):
    %1 = fact.scatter sum %a, %b, %c dim 1 : (tensor<2x9x3xi1>, tensor<4xi32>, tensor<2x4x3xi1>) -> tensor<2x9x3xi1>
    fact.yield %1 : tensor<2x9x3xi1>
  } schedule(#fact.cuda_scatter<method = search, chunk = 32>) : tensor<2x9x3xi1>
  return %0 : tensor<2x9x3xi1>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Elements at places of their own, in a row that is one element.
// CHECK: using Kernel = ScatterLast<
// CHECK-NEXT: Scatter<ScatterShape<1, 4096, 1, 600>, f32, Last,
func.func @set(%x: tensor<4096xf32>, %i: tensor<20x30xi64>, %u: tensor<20x30xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<4096xf32>, tensor<20x30xi64>, tensor<20x30xf32>) {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<20x30xi64>, %c: tensor<20x30xf32>):
    %1 = fact.scatter set %a, %b, %c dim 0 : (tensor<4096xf32>, tensor<20x30xi64>, tensor<20x30xf32>) -> tensor<4096xf32>
    fact.yield %1 : tensor<4096xf32>
  } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// One row for all that nothing is written to, and every other update.
// CHECK: using Kernel = ScatterLast<
// CHECK-NEXT: Scatter<ScatterShape<1, 64, 24, 16>, bf16, Last,
// CHECK-NEXT: Viewed<0, Extents<64, 24>, Strides<0, 1>>, RowIndices<1, i64>, Viewed<2, Extents<16, 24>, Strides<48, 1>, 24>, 3>,
// CHECK-NEXT: 8>;
func.func @expanded(%x: tensor<1x1x24xbf16>, %i: tensor<16xi64>, %u: tensor<16x2x24xbf16>) -> tensor<64x24xbf16> {
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<1x1x24xbf16>, tensor<16xi64>, tensor<16x2x24xbf16>) {
  ^bb0(%a: tensor<1x1x24xbf16>, %b: tensor<16xi64>, %c: tensor<16x2x24xbf16>):
    %1 = fact.expand %a : (tensor<1x1x24xbf16>) -> tensor<4x16x24xbf16>
    %2 = fact.reshape %1 : (tensor<4x16x24xbf16>) -> tensor<64x24xbf16>
    %3 = fact.slice %c dim 1 start 1 : (tensor<16x2x24xbf16>) -> tensor<16x1x24xbf16>
    %4 = fact.reshape %3 : (tensor<16x1x24xbf16>) -> tensor<16x24xbf16>
    %5 = fact.scatter set %2, %b, %4 dim 0 : (tensor<64x24xbf16>, tensor<16xi64>, tensor<16x24xbf16>) -> tensor<64x24xbf16>
    fact.yield %5 : tensor<64x24xbf16>
  } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<64x24xbf16>
  return %0 : tensor<64x24xbf16>
}
}
