// RUN: fact-opt --fact-fold-views %s | FileCheck %s

// CHECK-LABEL: func @transpose
func.func @transpose(%q: tensor<2x8x4xf32>, %k: tensor<2x8x4xf32>) -> tensor<2x8x8xf32> {
  %0 = fact.permute %k [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: fact.matmul %arg0, %arg1 transpose_b
  %1 = fact.matmul %q, %0 : (tensor<2x8x4xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  return %1 : tensor<2x8x8xf32>
}

// A head permutation and a transpose, merged by the canonicalizer, come apart.
// CHECK-LABEL: func @heads
func.func @heads(%q: tensor<2x4x8x16xf32>, %k: tensor<2x8x4x16xf32>) -> tensor<2x4x8x8xf32> {
  // CHECK: fact.permute %arg1 [0, 2, 1, 3]
  %0 = fact.permute %k [0, 2, 3, 1] : (tensor<2x8x4x16xf32>) -> tensor<2x4x16x8xf32>
  // CHECK: fact.matmul %arg0, %{{.*}} transpose_b
  %1 = fact.matmul %q, %0 : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  return %1 : tensor<2x4x8x8xf32>
}

// CHECK-LABEL: func @twice
func.func @twice(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %0 = fact.permute %w [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = fact.permute %0 [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: fact.matmul %arg0, %arg1 transpose_b
  %2 = fact.matmul %x, %1 transpose_b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func @broadcast
func.func @broadcast(%x: tensor<4x8xf32>, %v: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = fact.expand %v : (tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: fact.add %arg0, %arg1 : (tensor<4x8xf32>, tensor<8xf32>)
  %1 = fact.add %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Nobody else spans the rows: the broadcast stays.
// CHECK-LABEL: func @broadcast_needed
func.func @broadcast_needed(%v: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: fact.expand
  %0 = fact.expand %v : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func @casts
func.func @casts(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = fact.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = fact.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  // A narrowing cast loses something, and stays.
  // CHECK: %[[N:.*]] = fact.cast %arg1 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[W:.*]] = fact.cast %[[N]]
  %2 = fact.cast %y : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = fact.cast %2 : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK: return %arg0, %[[W]]
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: func @leading_ones
func.func @leading_ones(%x: tensor<2x4x8xf32>, %v: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %0 = fact.reshape %v : (tensor<8xf32>) -> tensor<1x1x8xf32>
  // CHECK-NEXT: fact.mul %arg0, %arg1 : (tensor<2x4x8xf32>, tensor<8xf32>)
  %1 = fact.mul %x, %0 : (tensor<2x4x8xf32>, tensor<1x1x8xf32>) -> tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func @transposed_result
func.func @transposed_result(%a: tensor<2x4x8xf32>, %b: tensor<2x16x8xf32>) -> tensor<2x16x4xf32> {
  // CHECK-NEXT: fact.matmul %arg1, %arg0 transpose_b : (tensor<2x16x8xf32>, tensor<2x4x8xf32>) -> tensor<2x16x4xf32>
  %0 = fact.matmul %a, %b transpose_b : (tensor<2x4x8xf32>, tensor<2x16x8xf32>) -> tensor<2x4x16xf32>
  %1 = fact.permute %0 [0, 2, 1] : (tensor<2x4x16xf32>) -> tensor<2x16x4xf32>
  return %1 : tensor<2x16x4xf32>
}

// One matrix for all batches stays on its side.
// CHECK-LABEL: func @transposed_shared
func.func @transposed_shared(%a: tensor<2x4x8xf32>, %b: tensor<16x8xf32>) -> tensor<2x16x4xf32> {
  // CHECK: fact.matmul %arg0, %arg1 transpose_b
  // CHECK: fact.permute
  %0 = fact.matmul %a, %b transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %1 = fact.permute %0 [0, 2, 1] : (tensor<2x4x16xf32>) -> tensor<2x16x4xf32>
  return %1 : tensor<2x16x4xf32>
}

// A permute that windows are taken of is stored in any case: the product reads
// what is stored.
// CHECK-LABEL: func.func @stored(
// CHECK: %[[LAST:.+]] = fact.permute %arg0 [0, 2, 3, 1]
// CHECK: fact.windows %[[LAST]]
// CHECK: fact.matmul %[[LAST]], %arg1 transpose_b
func.func @stored(%x: tensor<2x4x6x6xf32>, %w: tensor<8x4xf32>) -> (tensor<2x4x4x3x3x4xf32>, tensor<2x6x6x8xf32>) {
  %0 = fact.permute %x [0, 2, 3, 1] : (tensor<2x4x6x6xf32>) -> tensor<2x6x6x4xf32>
  %1 = fact.windows %0 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x6x6x4xf32>) -> tensor<2x4x4x3x3x4xf32>
  %2 = fact.matmul %0, %w transpose_b : (tensor<2x6x6x4xf32>, tensor<8x4xf32>) -> tensor<2x6x6x8xf32>
  return %1, %2 : tensor<2x4x4x3x3x4xf32>, tensor<2x6x6x8xf32>
}

// A gather of widened elements gathers the narrow ones.
// CHECK-LABEL: func.func @widened(
// CHECK:      %[[PIXELS:.+]] = fact.reshape %arg0 : (tensor<2x3x4x5xbf16>) -> tensor<2x3x20xbf16>
// CHECK-NEXT: %[[GATHERED:.+]] = fact.gather %[[PIXELS]], %arg1 dim 2 : (tensor<2x3x20xbf16>, tensor<8x10xi64>) -> tensor<2x3x8x10xbf16>
// CHECK-NEXT: %[[WIDE:.+]] = fact.cast %[[GATHERED]] : (tensor<2x3x8x10xbf16>) -> tensor<2x3x8x10xf32>
// CHECK-NEXT: return %[[WIDE]]
func.func @widened(%x: tensor<2x3x4x5xbf16>, %i: tensor<8x10xi64>) -> tensor<2x3x8x10xf32> {
  %0 = fact.cast %x : (tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xf32>
  %1 = fact.reshape %0 : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  %2 = fact.gather %1, %i dim 2 : (tensor<2x3x20xf32>, tensor<8x10xi64>) -> tensor<2x3x8x10xf32>
  return %2 : tensor<2x3x8x10xf32>
}

// What is known of the places remains known.
// CHECK-LABEL: func.func @widened_rows(
// CHECK: fact.gather {{.*}} dim 0 {fact.row_size = 5 : i64} : (tensor<20xbf16>, tensor<4xi64>) -> tensor<4xbf16>
func.func @widened_rows(%x: tensor<4x5xbf16>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = fact.cast %x : (tensor<4x5xbf16>) -> tensor<4x5xf32>
  %1 = fact.reshape %0 : (tensor<4x5xf32>) -> tensor<20xf32>
  %2 = fact.gather %1, %i dim 0 {fact.row_size = 5 : i64} : (tensor<20xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// One of narrowed elements gathers those, which are fewer bytes.
// CHECK-LABEL: func.func @narrowed(
// CHECK:      fact.cast
// CHECK-NEXT: fact.gather
func.func @narrowed(%x: tensor<20xf32>, %i: tensor<8xi64>) -> tensor<8xbf16> {
  %0 = fact.cast %x : (tensor<20xf32>) -> tensor<20xbf16>
  %1 = fact.gather %0, %i dim 0 : (tensor<20xbf16>, tensor<8xi64>) -> tensor<8xbf16>
  return %1 : tensor<8xbf16>
}

// Experts: the first product has the bias and the activation as its epilogue,
// and the second reads its factor permuted.
// CHECK-LABEL: func.func @experts(
// CHECK: %[[SPLIT:.+]] = fact.reshape %{{.+}} : (tensor<8x24xf32>) -> tensor<8x3x8xf32>
// CHECK: %[[BIAS:.+]] = fact.permute %{{.+}} [1, 0, 2] : (tensor<3x1x8xf32>) -> tensor<1x3x8xf32>
// CHECK: %[[SUM:.+]] = fact.add %[[SPLIT]], %[[BIAS]]
// CHECK: %[[RELU:.+]] = fact.relu %[[SUM]]
// CHECK: %[[FACTOR:.+]] = fact.permute %[[RELU]] [1, 0, 2]
// CHECK: fact.matmul %[[FACTOR]]
fact.weight @b : tensor<3x1x8xf32>
func.func @experts(%x: tensor<8x4xf32>, %w: tensor<4x24xf32>, %v: tensor<3x8x4xf32>) -> tensor<3x8x4xf32> {
  %b = fact.get_weight @b : tensor<3x1x8xf32>
  %0 = fact.matmul %x, %w : (tensor<8x4xf32>, tensor<4x24xf32>) -> tensor<8x24xf32>
  %1 = fact.reshape %0 : (tensor<8x24xf32>) -> tensor<8x3x8xf32>
  %2 = fact.permute %1 [1, 0, 2] : (tensor<8x3x8xf32>) -> tensor<3x8x8xf32>
  %3 = fact.add %2, %b : (tensor<3x8x8xf32>, tensor<3x1x8xf32>) -> tensor<3x8x8xf32>
  %4 = fact.relu %3 : (tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  %5 = fact.matmul %4, %v : (tensor<3x8x8xf32>, tensor<3x8x4xf32>) -> tensor<3x8x4xf32>
  return %5 : tensor<3x8x4xf32>
}

// What an op reads beside the product, or another reader of it, has the order
// of the permute.
// CHECK-LABEL: func.func @gated(
// CHECK: %[[FIRST:.+]] = fact.permute
// CHECK: %[[GATED:.+]] = fact.mul %[[FIRST]], %arg3
// CHECK: fact.matmul %[[GATED]]
func.func @gated(%x: tensor<8x4xf32>, %w: tensor<4x24xf32>, %v: tensor<3x8x4xf32>, %g: tensor<3x8x8xf32>) -> tensor<3x8x4xf32> {
  %0 = fact.matmul %x, %w : (tensor<8x4xf32>, tensor<4x24xf32>) -> tensor<8x24xf32>
  %1 = fact.reshape %0 : (tensor<8x24xf32>) -> tensor<8x3x8xf32>
  %2 = fact.permute %1 [1, 0, 2] : (tensor<8x3x8xf32>) -> tensor<3x8x8xf32>
  %3 = fact.mul %2, %g : (tensor<3x8x8xf32>, tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  %4 = fact.matmul %3, %v : (tensor<3x8x8xf32>, tensor<3x8x4xf32>) -> tensor<3x8x4xf32>
  return %4 : tensor<3x8x4xf32>
}

// A transpose of a product of as many batches is one of its factors': the second
// product reads rows as they lie.
// CHECK-LABEL: func.func @transposed_between(
// CHECK: %[[FIRST:.+]] = fact.matmul %arg1, %arg0 transpose_a transpose_b
// CHECK: %[[RELU:.+]] = fact.relu %[[FIRST]]
// CHECK: fact.matmul %[[RELU]], %arg2 :
func.func @transposed_between(%x: tensor<3x8x4xf32>, %w: tensor<3x4x16xf32>, %v: tensor<3x8x5xf32>) -> tensor<3x16x5xf32> {
  %0 = fact.matmul %x, %w : (tensor<3x8x4xf32>, tensor<3x4x16xf32>) -> tensor<3x8x16xf32>
  %1 = fact.permute %0 [0, 2, 1] : (tensor<3x8x16xf32>) -> tensor<3x16x8xf32>
  %2 = fact.relu %1 : (tensor<3x16x8xf32>) -> tensor<3x16x8xf32>
  %3 = fact.matmul %2, %v : (tensor<3x16x8xf32>, tensor<3x8x5xf32>) -> tensor<3x16x5xf32>
  return %3 : tensor<3x16x5xf32>
}
