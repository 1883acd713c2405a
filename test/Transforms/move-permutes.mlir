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

// An operand in the caller's order is read in the other's.
// CHECK-LABEL: func.func @caller(
// CHECK: %[[LAST:.+]] = fact.permute %arg1 [0, 2, 3, 1]
// CHECK: %[[SUM:.+]] = fact.add %arg0, %[[LAST]]
// CHECK: fact.permute %[[SUM]] [0, 3, 1, 2]
func.func @caller(%x: tensor<2x6x6x4xf32>, %y: tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.add %0, %y : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  return %1 : tensor<2x4x6x6xf32>
}

// Of signals, either order brings channels first: the permute stays.
// CHECK-LABEL: func.func @signals(
// CHECK: %[[PERMUTED:.+]] = fact.permute %arg0 [0, 2, 1]
// CHECK: fact.add %[[PERMUTED]], %arg1
func.func @signals(%x: tensor<2x6x4xf32>, %y: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %0 = fact.permute %x [0, 2, 1] : (tensor<2x6x4xf32>) -> tensor<2x4x6xf32>
  %1 = fact.add %0, %y : (tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %1 : tensor<2x4x6xf32>
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

// Most of a concatenation is permuted: the rest is transposed by itself.
// CHECK-LABEL: func.func @most(
// CHECK: %[[REST:.+]] = fact.permute %arg2 [0, 2, 3, 1]
// CHECK: %[[ALL:.+]] = fact.concat %arg0, %[[REST]], %arg1 dim 3
// CHECK: %[[RELU:.+]] = fact.relu %[[ALL]]
// CHECK: fact.permute %[[RELU]] [0, 3, 1, 2]
func.func @most(%x: tensor<2x6x6x4xf32>, %y: tensor<2x6x6x3xf32>, %z: tensor<2x5x6x6xf32>) -> tensor<2x12x6x6xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.permute %y [0, 3, 1, 2] : (tensor<2x6x6x3xf32>) -> tensor<2x3x6x6xf32>
  %2 = fact.concat %0, %z, %1 dim 1 : (tensor<2x4x6x6xf32>, tensor<2x5x6x6xf32>, tensor<2x3x6x6xf32>) -> tensor<2x12x6x6xf32>
  %3 = fact.relu %2 : (tensor<2x12x6x6xf32>) -> tensor<2x12x6x6xf32>
  return %3 : tensor<2x12x6x6xf32>
}

// CHECK-LABEL: func.func @least(
// CHECK: %[[PERMUTED:.+]] = fact.permute %arg0 [0, 3, 1, 2]
// CHECK: fact.concat %[[PERMUTED]], %arg1 dim 1
func.func @least(%x: tensor<2x6x6x4xf32>, %z: tensor<2x5x6x6xf32>) -> tensor<2x9x6x6xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %1 = fact.concat %0, %z dim 1 : (tensor<2x4x6x6xf32>, tensor<2x5x6x6xf32>) -> tensor<2x9x6x6xf32>
  return %1 : tensor<2x9x6x6xf32>
}

// The phases of a transposed convolution, and those of a pixel shuffle, which
// counts them within channels.
// CHECK-LABEL: func.func @shuffle(
// CHECK: %[[SPLIT:.+]] = fact.reshape %arg0 : (tensor<2x6x5x12xf32>) -> tensor<2x6x5x2x2x3xf32>
// CHECK: %[[PHASES:.+]] = fact.permute %[[SPLIT]] [0, 1, 3, 2, 4, 5]
// CHECK: %[[JOINED:.+]] = fact.reshape %[[PHASES]] : (tensor<2x6x2x5x2x3xf32>) -> tensor<2x12x10x3xf32>
// CHECK: %[[RELU:.+]] = fact.relu %[[JOINED]]
// CHECK: fact.permute %[[RELU]] [0, 3, 1, 2]
// CHECK: %[[OTHER:.+]] = fact.permute %{{.+}} [0, 1, 4, 2, 5, 3]
// CHECK: %[[PIXELS:.+]] = fact.reshape %[[OTHER]] : (tensor<2x6x2x5x2x3xf32>) -> tensor<2x12x10x3xf32>
// CHECK: fact.permute %[[PIXELS]] [0, 3, 1, 2]
func.func @shuffle(%x: tensor<2x6x5x12xf32>) -> (tensor<2x3x12x10xf32>, tensor<2x3x12x10xf32>) {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x5x12xf32>) -> tensor<2x12x6x5xf32>
  %1 = fact.reshape %0 : (tensor<2x12x6x5xf32>) -> tensor<2x2x2x3x6x5xf32>
  %2 = fact.permute %1 [0, 3, 4, 1, 5, 2] : (tensor<2x2x2x3x6x5xf32>) -> tensor<2x3x6x2x5x2xf32>
  %3 = fact.reshape %2 : (tensor<2x3x6x2x5x2xf32>) -> tensor<2x3x12x10xf32>
  %4 = fact.relu %3 : (tensor<2x3x12x10xf32>) -> tensor<2x3x12x10xf32>
  %5 = fact.reshape %0 : (tensor<2x12x6x5xf32>) -> tensor<2x3x2x2x6x5xf32>
  %6 = fact.permute %5 [0, 1, 4, 2, 5, 3] : (tensor<2x3x2x2x6x5xf32>) -> tensor<2x3x6x2x5x2xf32>
  %7 = fact.reshape %6 : (tensor<2x3x6x2x5x2xf32>) -> tensor<2x3x12x10xf32>
  return %4, %7 : tensor<2x3x12x10xf32>, tensor<2x3x12x10xf32>
}

// Phases in one of two dimensions.
// CHECK-LABEL: func.func @columns(
// CHECK: %[[JOINED:.+]] = fact.reshape %arg0 : (tensor<2x6x5x6xf32>) -> tensor<2x6x10x3xf32>
// CHECK: fact.permute %[[JOINED]] [0, 3, 1, 2]
func.func @columns(%x: tensor<2x6x5x6xf32>) -> tensor<2x3x6x10xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x5x6xf32>) -> tensor<2x6x6x5xf32>
  %1 = fact.reshape %0 : (tensor<2x6x6x5xf32>) -> tensor<2x2x3x6x5xf32>
  %2 = fact.permute %1 [0, 2, 3, 4, 1] : (tensor<2x2x3x6x5xf32>) -> tensor<2x3x6x5x2xf32>
  %3 = fact.reshape %2 : (tensor<2x3x6x5x2xf32>) -> tensor<2x3x6x10xf32>
  return %3 : tensor<2x3x6x10xf32>
}

// Heads of attention are joined as they are.
// CHECK-LABEL: func.func @heads(
// CHECK: fact.permute %arg0 [0, 2, 1, 3]
// CHECK-NEXT: fact.reshape
// CHECK-NEXT: return
func.func @heads(%x: tensor<2x4x6x8xf32>) -> tensor<2x6x32xf32> {
  %0 = fact.permute %x [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  %1 = fact.reshape %0 : (tensor<2x6x4x8xf32>) -> tensor<2x6x32xf32>
  return %1 : tensor<2x6x32xf32>
}

// A resized image: pixels by their numbers.
// CHECK-LABEL: func.func @resize(
// CHECK: %[[PIXELS:.+]] = fact.reshape %arg0 : (tensor<2x6x5x4xf32>) -> tensor<2x30x4xf32>
// CHECK: %[[RESIZED:.+]] = fact.gather %[[PIXELS]], %arg1 dim 1 : (tensor<2x30x4xf32>, tensor<12x10xi64>) -> tensor<2x12x10x4xf32>
// CHECK: fact.permute %[[RESIZED]] [0, 3, 1, 2]
func.func @resize(%x: tensor<2x6x5x4xf32>, %i: tensor<12x10xi64>) -> tensor<2x4x12x10xf32> {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x6x5x4xf32>) -> tensor<2x4x6x5xf32>
  %1 = fact.reshape %0 : (tensor<2x4x6x5xf32>) -> tensor<2x4x30xf32>
  %2 = fact.gather %1, %i dim 2 : (tensor<2x4x30xf32>, tensor<12x10xi64>) -> tensor<2x4x12x10xf32>
  return %2 : tensor<2x4x12x10xf32>
}
