// What is computed of concatenations is computed part by part on the host, so
// that a tensor that is written in parts is one kernel.

// RUN: fact-compile %s --target=host --until=discover -o - | FileCheck %s

// CHECK-LABEL: func.func @updated
// CHECK: fact.fused "pointwise"
// CHECK: fact.concat
// CHECK: fact.mul
// CHECK: fact.concat
// CHECK: fact.add
// CHECK: fact.yield
// CHECK-NOT: fact.fused
// CHECK: return
func.func @updated(%x: tensor<8x16xf32>, %c: tensor<8x1xf32>) -> tensor<8x16xf32> {
  %two = fact.constant dense<2.0> : tensor<f32>
  %0 = fact.slice %x dim 1 start 1 : (tensor<8x16xf32>) -> tensor<8x15xf32>
  %1 = fact.concat %c, %0 dim 1 : (tensor<8x1xf32>, tensor<8x15xf32>) -> tensor<8x16xf32>
  %2 = fact.slice %1 dim 0 start 0 : (tensor<8x16xf32>) -> tensor<2x16xf32>
  %3 = fact.mul %2, %two : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %4 = fact.slice %1 dim 0 start 2 : (tensor<8x16xf32>) -> tensor<6x16xf32>
  %5 = fact.concat %3, %4 dim 0 : (tensor<2x16xf32>, tensor<6x16xf32>) -> tensor<8x16xf32>
  %6 = fact.add %5, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}
