// RUN: fact-opt --fact-discover=target=h200 %s | FileCheck %s

// Pads on two dimensions and what follows them are one kernel.
// CHECK-LABEL: func @padded
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK-COUNT-2: fact.concat
// CHECK: fact.relu
// CHECK-NOT: fact.fused
// CHECK: return
func.func @padded(%x: tensor<2x7x8xf32>) -> tensor<2x9x10xf32> {
  %0 = fact.constant dense<0.0> : tensor<2x7x1xf32>
  %1 = fact.concat %0, %x, %0 dim 2 : (tensor<2x7x1xf32>, tensor<2x7x8xf32>, tensor<2x7x1xf32>) -> tensor<2x7x10xf32>
  %2 = fact.constant dense<1.0> : tensor<2x1x10xf32>
  %3 = fact.concat %2, %1, %2 dim 1 : (tensor<2x1x10xf32>, tensor<2x7x10xf32>, tensor<2x1x10xf32>) -> tensor<2x9x10xf32>
  %4 = fact.relu %3 : (tensor<2x9x10xf32>) -> tensor<2x9x10xf32>
  return %4 : tensor<2x9x10xf32>
}

// A concatenation alone has a rule of its own.
// CHECK-LABEL: func @alone
// CHECK: fact.fused "concat" ins(%arg0, %arg1 :
func.func @alone(%x: tensor<5x8xf32>, %y: tensor<5x3xf32>) -> tensor<5x11xf32> {
  %0 = fact.concat %x, %y dim 1 : (tensor<5x8xf32>, tensor<5x3xf32>) -> tensor<5x11xf32>
  return %0 : tensor<5x11xf32>
}

// What is computed for its parts joins them.
// CHECK-LABEL: func @parts
// CHECK: fact.fused "pointwise" ins(%arg1, %arg0 :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.relu
// CHECK-NEXT: fact.concat
func.func @parts(%x: tensor<5x8xf32>, %y: tensor<5x3xf32>) -> tensor<5x11xf32> {
  %0 = fact.relu %y : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %1 = fact.concat %x, %0 dim 1 : (tensor<5x8xf32>, tensor<5x3xf32>) -> tensor<5x11xf32>
  return %1 : tensor<5x11xf32>
}

// All gathers of a sum, and the indices of one of them.
// CHECK-LABEL: func @gathers
// CHECK: fact.fused "pointwise" ins(
// CHECK-COUNT-2: fact.gather
// CHECK: fact.sub
// CHECK-NOT: fact.fused
// CHECK: return
func.func @gathers(%x: tensor<3x20xf32>, %i: tensor<6xi64>, %j: tensor<6xi64>) -> tensor<3x6xf32> {
  %0 = fact.add %i, %j : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %1 = fact.gather %x, %0 dim 1 : (tensor<3x20xf32>, tensor<6xi64>) -> tensor<3x6xf32>
  %2 = fact.gather %x, %j dim 1 : (tensor<3x20xf32>, tensor<6xi64>) -> tensor<3x6xf32>
  %3 = fact.sub %1, %2 : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  return %3 : tensor<3x6xf32>
}
