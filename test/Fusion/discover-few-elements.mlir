// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" | FileCheck %s --check-prefix=HOST

// Reductions of few elements are pointwise ops on slices, in one kernel with what is around them.
// CHECK-LABEL: func @span
// CHECK: fact.fused "pointwise"
// CHECK: fact.slice %{{.*}} dim 1 start 0 : (tensor<2x3x8x8xbf16>) -> tensor<2x1x8x8xbf16>
// CHECK-COUNT-2: fact.maximum
// CHECK-COUNT-2: fact.minimum
// CHECK: fact.sub
// CHECK-NOT: fact.fused
// HOST-LABEL: func @span
// HOST: fact.reduce max
func.func @span(%x: tensor<2x3x8x8xbf16>) -> tensor<2x8x8xbf16> {
  %0 = fact.reduce max %x dims [1] : (tensor<2x3x8x8xbf16>) -> tensor<2x8x8xbf16>
  %1 = fact.reduce min %x dims [1] : (tensor<2x3x8x8xbf16>) -> tensor<2x8x8xbf16>
  %2 = fact.sub %0, %1 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
  return %2 : tensor<2x8x8xbf16>
}

// 16-bit terms are summed in f32. Slices are taken where the dimension was before it became the last.
// CHECK-LABEL: func @mean
// CHECK: fact.fused "pointwise"
// CHECK-NOT: fact.permute
// CHECK-COUNT-2: fact.add {{.*}} tensor<4x1x9xf32>
// CHECK: fact.div {{.*}} tensor<4x1x9xf32>
// CHECK: fact.cast {{.*}} : (tensor<4x1x9xf32>) -> tensor<4x1x9xbf16>
// CHECK-NOT: fact.fused
func.func @mean(%x: tensor<4x3x9xbf16>) -> tensor<4x9xbf16> {
  %0 = fact.permute %x [0, 2, 1] : (tensor<4x3x9xbf16>) -> tensor<4x9x3xbf16>
  %1 = fact.reduce mean %0 dims [2] : (tensor<4x9x3xbf16>) -> tensor<4x9xbf16>
  return %1 : tensor<4x9xbf16>
}

// The others keep their order.
// CHECK-LABEL: func @reordered
// CHECK: fact.add {{.*}} tensor<3x5x1xf32>
// CHECK: fact.permute {{.*}} [1, 0, 2] : (tensor<3x5x1xf32>) -> tensor<5x3x1xf32>
// CHECK: fact.reshape {{.*}} -> tensor<5x3xf32>
func.func @reordered(%x: tensor<3x5x2xf32>) -> tensor<5x3xf32> {
  %0 = fact.mul %x, %x : (tensor<3x5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %1 = fact.permute %0 [1, 0, 2] : (tensor<3x5x2xf32>) -> tensor<5x3x2xf32>
  %2 = fact.reduce sum %1 dims [2] : (tensor<5x3x2xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// Two dimensions: six elements.
// CHECK-LABEL: func @both
// CHECK-COUNT-5: fact.mul
// CHECK-NOT: fact.mul
func.func @both(%x: tensor<2x3x64xf32>) -> tensor<64xf32> {
  %0 = fact.reduce prod %x dims [0, 1] : (tensor<2x3x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Rows in memory, rows whose elements are needed again, results of products, places and more elements
// stay reductions.
// CHECK-LABEL: func @others
// CHECK-DAG: fact.reduce sum {{.*}} (tensor<64x4xf32>)
// CHECK-DAG: fact.reduce max {{.*}} (tensor<3x64xf32>)
// CHECK-DAG: fact.reduce sum {{.*}} (tensor<5x96xf32>)
// CHECK-DAG: fact.reduce argmax
// CHECK-DAG: fact.reduce sum {{.*}} (tensor<9x64xf32>)
func.func @others(%rows: tensor<64x4xf32>, %x: tensor<3x64xf32>, %a: tensor<5x128xf32>, %b: tensor<128x96xf32>, %many: tensor<9x64xf32>)
    -> (tensor<64xf32>, tensor<3x64xf32>, tensor<96xf32>, tensor<64xi64>, tensor<64xf32>) {
  %0 = fact.reduce sum %rows dims [1] : (tensor<64x4xf32>) -> tensor<64xf32>
  %1 = fact.reduce max %x dims [0] keep : (tensor<3x64xf32>) -> tensor<1x64xf32>
  %2 = fact.sub %x, %1 : (tensor<3x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
  %3 = fact.matmul %a, %b : (tensor<5x128xf32>, tensor<128x96xf32>) -> tensor<5x96xf32>
  %4 = fact.relu %3 : (tensor<5x96xf32>) -> tensor<5x96xf32>
  %5 = fact.reduce sum %4 dims [0] : (tensor<5x96xf32>) -> tensor<96xf32>
  %6 = fact.reduce argmax %x dims [0] : (tensor<3x64xf32>) -> tensor<64xi64>
  %7 = fact.reduce sum %many dims [0] : (tensor<9x64xf32>) -> tensor<64xf32>
  return %0, %2, %5, %6, %7 : tensor<64xf32>, tensor<3x64xf32>, tensor<96xf32>, tensor<64xi64>, tensor<64xf32>
}
