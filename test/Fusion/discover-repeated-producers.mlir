// RUN: fact-opt --fact-discover="target=h200" %s | FileCheck %s

// A cheap function of one tensor that a reduction and what follows it read is
// computed in both, and not stored.
// CHECK-LABEL: func @both
// CHECK: %[[MEAN:.*]] = fact.fused "reduction" ins({{.*}}%arg0
// CHECK: fact.clamp
// CHECK: fact.reduce mean
// CHECK: fact.fused "pointwise" ins({{.*}}%arg0
// CHECK: fact.clamp
// CHECK: fact.sub
// CHECK-NOT: fact.fused
func.func @both(%x: tensor<32x442368xbf16>, %w: tensor<32x1xbf16>) -> tensor<32x442368xbf16> {
  %0 = fact.mul %x, %w : (tensor<32x442368xbf16>, tensor<32x1xbf16>) -> tensor<32x442368xbf16>
  %1 = fact.clamp %0 min 0.0 max 1.0 : (tensor<32x442368xbf16>) -> tensor<32x442368xbf16>
  %2 = fact.slice %1 dim 1 start 0 : (tensor<32x442368xbf16>) -> tensor<32x147456xbf16>
  %3 = fact.slice %1 dim 1 start 147456 : (tensor<32x442368xbf16>) -> tensor<32x147456xbf16>
  %4 = fact.mul %2, %3 : (tensor<32x147456xbf16>, tensor<32x147456xbf16>) -> tensor<32x147456xbf16>
  %5 = fact.reduce mean %4 dims [1] keep : (tensor<32x147456xbf16>) -> tensor<32x1xbf16>
  %6 = fact.sub %1, %5 : (tensor<32x442368xbf16>, tensor<32x1xbf16>) -> tensor<32x442368xbf16>
  return %6 : tensor<32x442368xbf16>
}

// What is returned too is stored, and read.
// CHECK-LABEL: func @returned
// CHECK: fact.fused "pointwise" ins({{.*}}%arg0
// CHECK: fact.clamp
// CHECK: fact.fused "reduction"
// CHECK-NOT: fact.clamp
// CHECK: return
func.func @returned(%x: tensor<32x442368xbf16>, %w: tensor<32x1xbf16>) -> (tensor<32x442368xbf16>, tensor<32x442368xbf16>) {
  %0 = fact.mul %x, %w : (tensor<32x442368xbf16>, tensor<32x1xbf16>) -> tensor<32x442368xbf16>
  %1 = fact.clamp %0 min 0.0 max 1.0 : (tensor<32x442368xbf16>) -> tensor<32x442368xbf16>
  %2 = fact.slice %1 dim 1 start 0 : (tensor<32x442368xbf16>) -> tensor<32x147456xbf16>
  %3 = fact.slice %1 dim 1 start 147456 : (tensor<32x442368xbf16>) -> tensor<32x147456xbf16>
  %4 = fact.mul %2, %3 : (tensor<32x147456xbf16>, tensor<32x147456xbf16>) -> tensor<32x147456xbf16>
  %5 = fact.reduce mean %4 dims [1] keep : (tensor<32x147456xbf16>) -> tensor<32x1xbf16>
  %6 = fact.sub %1, %5 : (tensor<32x442368xbf16>, tensor<32x1xbf16>) -> tensor<32x442368xbf16>
  return %1, %6 : tensor<32x442368xbf16>, tensor<32x442368xbf16>
}
