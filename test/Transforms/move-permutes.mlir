// RUN: fact-opt --fact-move-permutes --canonicalize %s | FileCheck %s

// Between two convolutions channels stay last: the epilogue of the first reads
// vectors of channels, and the second reads its result as it is.
// CHECK-LABEL: func.func @between(
// CHECK-SAME: %[[X:.+]]: tensor<2x6x6x4xf32>, %[[SCALE:.+]]: tensor<4x1x1xf32>
// CHECK: %[[VECTOR:.+]] = fact.reshape %[[SCALE]] : (tensor<4x1x1xf32>) -> tensor<1x1x1x4xf32>
// CHECK: %[[MUL:.+]] = fact.mul %[[X]], %[[VECTOR]]
// CHECK: %[[RELU:.+]] = fact.relu %[[MUL]]
// CHECK: fact.windows %[[RELU]] dim 1
// CHECK-NOT: fact.permute
func.func @between(%x: tensor<2x6x6x4xf32>, %scale: tensor<4x1x1xf32>) -> tensor<2x4x4x3x3x4xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.mul %0, %scale : (tensor<2x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %2 = fact.relu %1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = fact.permute %2 [0, 2, 3, 1] : (tensor<2x4x6x6xf32>) -> tensor<2x6x6x4xf32>
  %4 = fact.windows %3 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x6x6x4xf32>) -> tensor<2x4x4x3x3x4xf32>
  return %4 : tensor<2x4x4x3x3x4xf32>
}

// A sum of two branches, and a number.
// CHECK-LABEL: func.func @branches(
// CHECK: %[[SUM:.+]] = fact.add %arg0, %arg1
// CHECK: %[[SCALED:.+]] = fact.mul %[[SUM]], %arg2
// CHECK: fact.permute %[[SCALED]] [0, 3, 1, 2]
func.func @branches(%x: tensor<2x6x6x4xf32>, %y: tensor<2x6x6x4xf32>, %n: tensor<f32>) -> tensor<2x4x6x6xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.permute %y [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %2 = fact.add %0, %1 : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %3 = fact.mul %2, %n : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  return %3 : tensor<2x4x6x6xf32>
}

// An operand in the caller's order would have to be copied: the permute stays.
// CHECK-LABEL: func.func @caller(
// CHECK: %[[PERMUTED:.+]] = fact.permute %arg0 [0, 3, 1, 2]
// CHECK: fact.add %[[PERMUTED]], %arg1
func.func @caller(%x: tensor<2x6x6x4xf32>, %y: tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.add %0, %y : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return %1 : tensor<2x4x6x6xf32>
}

// A pool: zeros, slices, maxima.
// CHECK-LABEL: func.func @pool(
// CHECK: %[[ZEROS:.+]] = fact.constant dense<0.000000e+00> : tensor<2x6x1x4xf32>
// CHECK: %[[WIDE:.+]] = fact.concat %arg0, %[[ZEROS]] dim 2
// CHECK: %[[A:.+]] = fact.slice %arg0 dim 2 start 0 step 2
// CHECK: %[[B:.+]] = fact.slice %[[WIDE]] dim 2 start 1 step 2
// CHECK: %[[MAX:.+]] = fact.maximum %[[A]], %[[B]]
// CHECK: fact.permute %[[MAX]] [0, 3, 1, 2]
func.func @pool(%x: tensor<2x6x5x4xf32>) -> tensor<2x4x6x3xf32> {
  %zeros = fact.constant dense<0.0> : tensor<2x4x6x1xf32>
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x5x4xf32>) -> tensor<2x4x6x5xf32>
  %1 = fact.concat %0, %zeros dim 3 : (tensor<2x4x6x5xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
  %2 = fact.slice %1 dim 3 start 0 step 2 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x3xf32>
  %3 = fact.slice %1 dim 3 start 1 step 2 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x3xf32>
  %4 = fact.maximum %2, %3 : (tensor<2x4x6x3xf32>, tensor<2x4x6x3xf32>) -> tensor<2x4x6x3xf32>
  return %4 : tensor<2x4x6x3xf32>
}

// Softmax over channels is over the last dimension; rows of pixels repeat; a
// mean over pixels has no order left.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[SOFTMAX:.+]] = fact.softmax %arg0 dim 3
// CHECK: fact.permute %[[SOFTMAX]] [0, 3, 1, 2]
// CHECK: %[[GATHER:.+]] = fact.gather %arg0, %arg1 dim 1
// CHECK: fact.permute %[[GATHER]] [0, 3, 1, 2]
// CHECK: %[[MEAN:.+]] = fact.reduce mean %arg0 dims [1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4xf32>
// CHECK: %[[KEPT:.+]] = fact.reduce sum %arg0 dims [3] keep
// CHECK: fact.reshape %[[KEPT]] : (tensor<2x6x6x1xf32>) -> tensor<2x1x6x6xf32>
// CHECK: return %{{.+}}, %{{.+}}, %[[MEAN]], %{{.+}}
func.func @rows(%x: tensor<2x6x6x4xf32>, %i: tensor<12xi64>) -> (tensor<2x4x6x6xf32>, tensor<2x4x12x6xf32>, tensor<2x4xf32>, tensor<2x1x6x6xf32>) {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.softmax %0 dim 1 : tensor<2x4x6x6xf32>
  %2 = fact.gather %0, %i dim 2 : (tensor<2x4x6x6xf32>, tensor<12xi64>) -> tensor<2x4x12x6xf32>
  %3 = fact.reduce mean %0 dims [2, 3] : (tensor<2x4x6x6xf32>) -> tensor<2x4xf32>
  %4 = fact.reduce sum %0 dims [1] keep : (tensor<2x4x6x6xf32>) -> tensor<2x1x6x6xf32>
  return %1, %2, %3, %4 : tensor<2x4x6x6xf32>, tensor<2x4x12x6xf32>, tensor<2x4xf32>, tensor<2x1x6x6xf32>
}

// The index counts in the caller's order.
// CHECK-LABEL: func.func @index(
// CHECK: %[[PERMUTED:.+]] = fact.permute %arg0 [0, 3, 1, 2]
// CHECK: fact.reduce argmax %[[PERMUTED]] dims [1, 2]
// CHECK: fact.reduce argmax %arg0 dims [1, 2]
func.func @index(%x: tensor<2x6x6x4xf32>) -> (tensor<2x6xi64>, tensor<2x4xi64>) {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.reduce argmax %0 dims [1, 2] : (tensor<2x4x6x6xf32>) -> tensor<2x6xi64>
  %2 = fact.reduce argmax %0 dims [2, 3] : (tensor<2x4x6x6xf32>) -> tensor<2x4xi64>
  return %1, %2 : tensor<2x6xi64>, tensor<2x4xi64>
}

// Windows of a signal between zeros, which reach into the zeros: with three
// dimensions the permute is its own inverse, and it moves one way only.
// CHECK-LABEL: func.func @signal(
// CHECK: %[[ZEROS:.+]] = fact.constant dense<0.000000e+00> : tensor<2x1x4xf32>
// CHECK: %[[SIGNAL:.+]] = fact.permute %arg0 [0, 2, 1]
// CHECK: %[[PADDED:.+]] = fact.concat %[[ZEROS]], %[[SIGNAL]] dim 1
// CHECK: fact.windows %[[PADDED]] dim 1
func.func @signal(%x: tensor<2x4x8xf32>) -> tensor<2x7x3x4xf32> {
  %zeros = fact.constant dense<0.0> : tensor<2x4x1xf32>
  %0 = fact.concat %zeros, %x dim 2 : (tensor<2x4x1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x9xf32>
  %1 = fact.permute %0 [0, 2, 1] : (tensor<2x4x9xf32>) -> tensor<2x9x4xf32>
  %2 = fact.windows %1 dim 1 kernel [3] strides [1] dilations [1] : (tensor<2x9x4xf32>) -> tensor<2x7x3x4xf32>
  return %2 : tensor<2x7x3x4xf32>
}
