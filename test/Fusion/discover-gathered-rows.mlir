// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s

// The loss of one class per row: one kernel, and no logarithm of other classes.
// CHECK-LABEL: func @classes
// CHECK: fact.fused "reduction" ins(
// CHECK: fact.gather
// CHECK-NOT: fact.fused
// CHECK: return
func.func @classes(%x: tensor<8192x4096xf32>, %at: tensor<8192x1xi64>) -> tensor<8192x1xf32> {
  %0 = fact.reduce max %x dims [1] keep : (tensor<8192x4096xf32>) -> tensor<8192x1xf32>
  %1 = fact.sub %x, %0 : (tensor<8192x4096xf32>, tensor<8192x1xf32>) -> tensor<8192x4096xf32>
  %2 = fact.exp %1 : (tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %3 = fact.reduce sum %2 dims [1] keep : (tensor<8192x4096xf32>) -> tensor<8192x1xf32>
  %4 = fact.log %3 : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %5 = fact.reshape %x : (tensor<8192x4096xf32>) -> tensor<33554432xf32>
  %6 = fact.gather %5, %at dim 0 : (tensor<33554432xf32>, tensor<8192x1xi64>) -> tensor<8192x1xf32>
  %7 = fact.sub %6, %0 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %8 = fact.sub %7, %4 : (tensor<8192x1xf32>, tensor<8192x1xf32>) -> tensor<8192x1xf32>
  return %8 : tensor<8192x1xf32>
}

// Rows of a table, positions, a norm.
// CHECK-LABEL: func @embedding
// CHECK: fact.fused "reduction" ins(
// CHECK: fact.gather
// CHECK: fact.norm
// CHECK-NOT: fact.fused
// CHECK: return
func.func @embedding(%table: tensor<50000x512xbf16>, %ids: tensor<16x512xi64>, %places: tensor<512x512xbf16>) -> tensor<16x512x512xbf16> {
  %0 = fact.gather %table, %ids dim 0 : (tensor<50000x512xbf16>, tensor<16x512xi64>) -> tensor<16x512x512xbf16>
  %1 = fact.add %0, %places : (tensor<16x512x512xbf16>, tensor<512x512xbf16>) -> tensor<16x512x512xbf16>
  %2 = fact.norm layer %1 eps 1.0e-05 : (tensor<16x512x512xbf16>) -> tensor<16x512x512xbf16>
  return %2 : tensor<16x512x512xbf16>
}
