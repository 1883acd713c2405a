// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" | FileCheck %s

// The place of one element of a sorted row is found without the others; places
// that have another reader are all written.
// CHECK-LABEL: @select
// CHECK: fact.fused "sort"
// CHECK: fact.argsort
// CHECK-NEXT: fact.slice
// CHECK: fact.fused "sort"
// CHECK: fact.argsort
// CHECK-NEXT: fact.yield
func.func @select(%x: tensor<8x300xf32>) -> (tensor<8x1xi64>, tensor<8x9xi64>, tensor<8x1xi64>) {
  %0 = fact.argsort %x dim 1 count 7 : (tensor<8x300xf32>) -> tensor<8x7xi64>
  %1 = fact.slice %0 dim 1 start 6 : (tensor<8x7xi64>) -> tensor<8x1xi64>
  %2 = fact.argsort %x dim 1 descending count 9 : (tensor<8x300xf32>) -> tensor<8x9xi64>
  %3 = fact.slice %2 dim 1 start 8 : (tensor<8x9xi64>) -> tensor<8x1xi64>
  return %1, %2, %3 : tensor<8x1xi64>, tensor<8x9xi64>, tensor<8x1xi64>
}

// CHECK-LABEL: @scans
// CHECK: fact.fused "scan"
// CHECK: fact.scan sum
// CHECK: fact.fused "generic"
// CHECK: fact.scan logsumexp
func.func @scans(%x: tensor<8x300xf32>) -> (tensor<8x300xf32>, tensor<8x300xf32>) {
  %0 = fact.scan sum %x dim 1 : tensor<8x300xf32>
  %1 = fact.scan logsumexp %x dim 1 : tensor<8x300xf32>
  return %0, %1 : tensor<8x300xf32>, tensor<8x300xf32>
}
