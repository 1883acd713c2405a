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

// Running maxima and their places are one pass.
// CHECK-LABEL: @running_maxima
// CHECK: %[[MAXIMA:.*]]:2 = fact.fused "scan"
// CHECK: fact.scan max
// CHECK: fact.compare eq
// CHECK: fact.select
// CHECK: fact.scan max
// CHECK-NOT: fact.fused
// CHECK: return %[[MAXIMA]]#
func.func @running_maxima(%x: tensor<8x300xf32>, %i: tensor<1x300xi64>) -> (tensor<8x300xf32>, tensor<8x300xi64>) {
  %0 = fact.scan max %x dim 1 : tensor<8x300xf32>
  %1 = fact.compare eq %x, %0 : (tensor<8x300xf32>, tensor<8x300xf32>) -> tensor<8x300xi1>
  %2 = fact.constant dense<-1> : tensor<i64>
  %3 = fact.select %1, %i, %2 : (tensor<8x300xi1>, tensor<1x300xi64>, tensor<i64>) -> tensor<8x300xi64>
  %4 = fact.scan max %3 dim 1 : tensor<8x300xi64>
  return %0, %4 : tensor<8x300xf32>, tensor<8x300xi64>
}

// Indices and updates are computed where they are needed.
// CHECK-LABEL: @scatter
// CHECK: fact.fused "scatter"
// CHECK-DAG: fact.add
// CHECK-DAG: fact.expand
// CHECK: fact.scatter set
// CHECK-NOT: fact.fused
func.func @scatter(%x: tensor<2400xf32>, %i: tensor<8x4xi64>, %r: tensor<8x1xi64>) -> tensor<2400xf32> {
  %0 = fact.add %i, %r : (tensor<8x4xi64>, tensor<8x1xi64>) -> tensor<8x4xi64>
  %1 = fact.constant dense<1.0> : tensor<f32>
  %2 = fact.expand %1 : (tensor<f32>) -> tensor<8x4xf32>
  %3 = fact.scatter set %x, %0, %2 dim 0 : (tensor<2400xf32>, tensor<8x4xi64>, tensor<8x4xf32>) -> tensor<2400xf32>
  return %3 : tensor<2400xf32>
}

// Both gathers of a tensor that is reversed twice are one read.
// CHECK-LABEL: @reversed
// CHECK: fact.fused "pointwise"
// CHECK: fact.gather
// CHECK-NEXT: fact.gather
// CHECK-NOT: fact.fused
func.func @reversed(%x: tensor<8x300xf32>, %i: tensor<8xi64>, %j: tensor<300xi64>) -> tensor<8x300xf32> {
  %0 = fact.gather %x, %i dim 0 : (tensor<8x300xf32>, tensor<8xi64>) -> tensor<8x300xf32>
  %1 = fact.gather %0, %j dim 1 : (tensor<8x300xf32>, tensor<300xi64>) -> tensor<8x300xf32>
  return %1 : tensor<8x300xf32>
}
