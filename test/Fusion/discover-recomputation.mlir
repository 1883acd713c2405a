// RUN: fact-opt --fact-discover="target=h200" %s | FileCheck %s

// What is computed from a few elements and read for each of many rows is a
// kernel of its own, if the arithmetic would take longer than another launch.
// CHECK-LABEL: func @table
// CHECK: %[[TABLE:.*]] = fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.softplus
// CHECK: fact.fused "rowwise" ins(
// CHECK-NOT: fact.softplus
// CHECK: fact.reduce
// CHECK-NOT: fact.fused
func.func @table(%a: tensor<256x256xf32>, %x: tensor<1024x256x256xf32>) -> (tensor<1024x256x256xf32>, tensor<1024x256xf32>) {
  %0 = fact.softplus %a : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = fact.neg %0 : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = fact.exp %1 : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %3 = fact.mul %2, %x : (tensor<256x256xf32>, tensor<1024x256x256xf32>) -> tensor<1024x256x256xf32>
  %4 = fact.reduce sum %3 dims [2] : (tensor<1024x256x256xf32>) -> tensor<1024x256xf32>
  return %3, %4 : tensor<1024x256x256xf32>, tensor<1024x256xf32>
}

// The same of a pointwise kernel, which grows the other way.
// CHECK-LABEL: func @pointwise
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.pow
// CHECK: fact.fused "pointwise" ins(
// CHECK-NOT: fact.pow
// CHECK: return
func.func @pointwise(%a: tensor<256x256xf32>, %x: tensor<1024x256x256xf32>) -> tensor<1024x256x256xf32> {
  %0 = fact.softplus %a : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = fact.pow %0, %a : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = fact.mul %1, %x : (tensor<256x256xf32>, tensor<1024x256x256xf32>) -> tensor<1024x256x256xf32>
  return %2 : tensor<1024x256x256xf32>
}

// Arithmetic that memory hides is not worth a launch.
// CHECK-LABEL: func @hidden
// CHECK: fact.fused "rowwise" ins(%arg0, %arg1 :
// CHECK-NOT: fact.fused
func.func @hidden(%a: tensor<256x256xf32>, %x: tensor<1024x256x256xf32>) -> (tensor<1024x256x256xf32>, tensor<1024x256xf32>) {
  %0 = fact.exp %a : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = fact.mul %0, %x : (tensor<256x256xf32>, tensor<1024x256x256xf32>) -> tensor<1024x256x256xf32>
  %2 = fact.reduce sum %1 dims [2] : (tensor<1024x256x256xf32>) -> tensor<1024x256xf32>
  return %1, %2 : tensor<1024x256x256xf32>, tensor<1024x256xf32>
}
