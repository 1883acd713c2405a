// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// Rows of a table by token, and positions that all sequences share: columns have
// two dimensions.
// CHECK: struct Index0
// CHECK: return operand1;
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<16, 64, 8, true, 1, 512>,
// CHECK: Operands<Strided<1, i64, Strides<512, 0, 1, 0, 0>>,
// CHECK-NEXT: Gathered<Strided<0, bf16, Strides<0, 0, 0, 8, 1>>,
// CHECK-NEXT: IndexOf<Index0, 512, 50000, true>>,
// CHECK-NEXT: Strided<2, bf16, Strides<0, 0, 512, 8, 1>>>,
func.func @embedding(%table: tensor<50000x512xbf16>, %ids: tensor<16x512xi64>, %places: tensor<512x512xbf16>) -> tensor<16x512x512xbf16> {
  %0 = fact.fused "reduction" ins(%table, %ids, %places : tensor<50000x512xbf16>, tensor<16x512xi64>, tensor<512x512xbf16>) {
  ^bb0(%a: tensor<50000x512xbf16>, %i: tensor<16x512xi64>, %p: tensor<512x512xbf16>):
    %1 = fact.gather %a, %i dim 0 : (tensor<50000x512xbf16>, tensor<16x512xi64>) -> tensor<16x512x512xbf16>
    %2 = fact.add %1, %p : (tensor<16x512x512xbf16>, tensor<512x512xbf16>) -> tensor<16x512x512xbf16>
    %3 = fact.norm layer %2 eps 1.0e-05 : (tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
    fact.yield %3 : tensor<16x512x512xbf16>
  } schedule(#fact.cuda_reduction<columns = 4, lanes = 32, splits = 1, operands = held>) : tensor<16x512x512xbf16>
  return %0 : tensor<16x512x512xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A value per row in a sum over all rows: what is reduced has two dimensions.
// The wide numbers of classes come from the cache and do not shorten vectors.
// CHECK: using Kernel = StagedReduction<
// CHECK-NEXT: ReductionShape<1, 256, 4, true, 8192, 1>,
// CHECK: Operands<Strided<2, i64, Strides<0, 0, 0, 4, 1>>,
// CHECK-NEXT: Strided<1, i64, Strides<0, 1, 0, 0, 0>>,
// CHECK-NEXT: Gathered<Strided<0, f32, Strides<0, 0, 0, 0, 0>>,
// CHECK-NEXT: IndexOf<Index0, 1, 8388608, true>>,
// CHECK-NEXT: Strided<0, f32, Strides<0, 1024, 0, 4, 1>>>,
func.func @margins(%x: tensor<8192x1024xf32>, %at: tensor<8192x1xi64>, %classes: tensor<1024xi64>) -> tensor<f32> {
  %0 = fact.fused "reduction" ins(%x, %at, %classes : tensor<8192x1024xf32>, tensor<8192x1xi64>, tensor<1024xi64>) {
  ^bb0(%a: tensor<8192x1024xf32>, %i: tensor<8192x1xi64>, %c: tensor<1024xi64>):
    %1 = fact.reshape %a : (tensor<8192x1024xf32>) -> tensor<8388608xf32>
    %2 = fact.gather %1, %i dim 0 : (tensor<8388608xf32>, tensor<8192x1xi64>) -> tensor<8192x1xf32>
    %3 = fact.sub %2, %a : (tensor<8192x1xf32>, tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
    %4 = fact.compare ne %c, %i : (tensor<1024xi64>, tensor<8192x1xi64>) -> tensor<8192x1024xi1>
    %5 = fact.constant dense<0.0> : tensor<f32>
    %6 = fact.select %4, %3, %5 : (tensor<8192x1024xi1>, tensor<8192x1024xf32>, tensor<f32>) -> tensor<8192x1024xf32>
    %7 = fact.reduce sum %6 dims [0, 1] : (tensor<8192x1024xf32>) -> tensor<f32>
    fact.yield %7 : tensor<f32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 128, splits = 8, operands = read>) : tensor<f32>
  return %0 : tensor<f32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// What a reduction finds may be gathered by it, one element per column. A
// constant divides by its reciprocal.
// CHECK: const float v0 = operand0 * 1.428571{{[0-9]*}}f;
// CHECK: struct ColumnIndex0
// CHECK: return reduced0;
// CHECK: Operands<Gathered<Strided<1, f32, Strides<0, 0>>,
// CHECK-NEXT: IndexOf<ColumnIndex0, 1, 64, false>>>,
func.func @best(%x: tensor<8192x64xf32>, %names: tensor<64xf32>) -> tensor<8192xf32> {
  %0 = fact.fused "reduction" ins(%x, %names : tensor<8192x64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<8192x64xf32>, %n: tensor<64xf32>):
    %c = fact.constant dense<0.7> : tensor<f32>
    %s = fact.div %a, %c : (tensor<8192x64xf32>, tensor<f32>) -> tensor<8192x64xf32>
    %1 = fact.reduce argmax %s dims [1] : (tensor<8192x64xf32>) -> tensor<8192xi64>
    %2 = fact.gather %n, %1 dim 0 : (tensor<64xf32>, tensor<8192xi64>) -> tensor<8192xf32>
    fact.yield %2 : tensor<8192xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = read>) : tensor<8192xf32>
  return %0 : tensor<8192xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A count, which no float decides, does not make exponentials exact; a sum in
// f32 does.
// CHECK-LABEL: // %0:2 = fact.fused
// CHECK: fast_exp
func.func @counted(%x: tensor<8192x64xbf16>, %m: tensor<8192xi1>) -> (tensor<8192xbf16>, tensor<8192xi64>) {
  %0:2 = fact.fused "reduction" ins(%x, %m : tensor<8192x64xbf16>, tensor<8192xi1>) {
  ^bb0(%a: tensor<8192x64xbf16>, %b: tensor<8192xi1>):
    %1 = fact.exp %a : (tensor<8192x64xbf16>) -> tensor<8192x64xbf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<8192x64xbf16>) -> tensor<8192xbf16>
    %3 = fact.cast %b : (tensor<8192xi1>) -> tensor<8192xi64>
    fact.yield %2, %3 : tensor<8192xbf16>, tensor<8192xi64>
  } : tensor<8192xbf16>, tensor<8192xi64>
  return %0#0, %0#1 : tensor<8192xbf16>, tensor<8192xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK-LABEL: // %0:2 = fact.fused
// CHECK-NOT: fast_exp
// CHECK: expf(
func.func @wide(%x: tensor<8192x64xbf16>) -> (tensor<8192xbf16>, tensor<8192xf32>) {
  %0:2 = fact.fused "reduction" ins(%x : tensor<8192x64xbf16>) {
  ^bb0(%a: tensor<8192x64xbf16>):
    %1 = fact.exp %a : (tensor<8192x64xbf16>) -> tensor<8192x64xbf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<8192x64xbf16>) -> tensor<8192xbf16>
    %3 = fact.cast %2 : (tensor<8192xbf16>) -> tensor<8192xf32>
    fact.yield %2, %3 : tensor<8192xbf16>, tensor<8192xf32>
  } : tensor<8192xbf16>, tensor<8192xf32>
  return %0#0, %0#1 : tensor<8192xbf16>, tensor<8192xf32>
}
}
