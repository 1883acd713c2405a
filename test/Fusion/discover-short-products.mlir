// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" | FileCheck %s --check-prefix=HOST

// Products of few terms are sums of scaled rows, in one kernel with what follows.
// CHECK-LABEL: func @two
// CHECK: fact.fused "pointwise"
// CHECK-DAG: %[[A0:.*]] = fact.slice %{{.*}} dim 1 start 0
// CHECK-DAG: %[[B0:.*]] = fact.slice %{{.*}} dim 0 start 0
// CHECK-DAG: %[[FIRST:.*]] = fact.mul %[[A0]], %[[B0]] : (tensor<64x1xf32>, tensor<1x96xf32>) -> tensor<64x96xf32>
// CHECK-DAG: %[[A1:.*]] = fact.slice %{{.*}} dim 1 start 1
// CHECK-DAG: %[[B1:.*]] = fact.slice %{{.*}} dim 0 start 1
// CHECK-DAG: %[[SECOND:.*]] = fact.mul %[[A1]], %[[B1]]
// CHECK: %[[SUM:.*]] = fact.add %[[FIRST]], %[[SECOND]]
// CHECK: fact.relu %[[SUM]]
// CHECK-NOT: fact.fused
// HOST-LABEL: func @two
// HOST: fact.matmul
func.func @two(%a: tensor<64x2xf32>, %b: tensor<2x96xf32>) -> tensor<64x96xf32> {
  %0 = fact.matmul %a, %b : (tensor<64x2xf32>, tensor<2x96xf32>) -> tensor<64x96xf32>
  %1 = fact.relu %0 : (tensor<64x96xf32>) -> tensor<64x96xf32>
  return %1 : tensor<64x96xf32>
}

// 16-bit terms are summed in f32; batches of one factor, which is transposed.
// CHECK-LABEL: func @batches
// CHECK: fact.fused "pointwise"
// CHECK: fact.mul {{.*}} : (tensor<5x9x1xf32>, tensor<1x16xf32>) -> tensor<5x9x16xf32>
// CHECK: fact.add {{.*}} tensor<5x9x16xf32>
// CHECK: fact.cast {{.*}} : (tensor<5x9x16xf32>) -> tensor<5x9x16xbf16>
// CHECK-NOT: fact.fused
func.func @batches(%a: tensor<5x2x9xbf16>, %b: tensor<2x16xbf16>) -> tensor<5x9x16xbf16> {
  %0 = fact.matmul %a, %b transpose_a : (tensor<5x2x9xbf16>, tensor<2x16xbf16>) -> tensor<5x9x16xbf16>
  return %0 : tensor<5x9x16xbf16>
}

// Few rows, more terms, columns to scale, and windows have kernels of their own.
// CHECK-LABEL: func @others
// CHECK-NOT: fact.mul
// CHECK-COUNT-4: fact.matmul
// CHECK-NOT: fact.mul
// CHECK: return
func.func @others(%a: tensor<8x2xf32>, %b: tensor<2x96xf32>, %c: tensor<64x9xf32>, %d: tensor<9x64xf32>,
                  %x: tensor<1x12x12x1xf32>, %w: tensor<4x16xf32>, %e: tensor<64x2xf32>) -> (tensor<8x96xf32>, tensor<64x64xf32>, tensor<121x16xf32>, tensor<64x64xf32>) {
  %0 = fact.matmul %a, %b : (tensor<8x2xf32>, tensor<2x96xf32>) -> tensor<8x96xf32>
  %1 = fact.matmul %c, %d : (tensor<64x9xf32>, tensor<9x64xf32>) -> tensor<64x64xf32>
  %2 = fact.windows %x dim 1 kernel [2, 2] strides [1, 1] dilations [1, 1] : (tensor<1x12x12x1xf32>) -> tensor<1x11x11x2x2x1xf32>
  %3 = fact.reshape %2 : (tensor<1x11x11x2x2x1xf32>) -> tensor<121x4xf32>
  %4 = fact.matmul %3, %w : (tensor<121x4xf32>, tensor<4x16xf32>) -> tensor<121x16xf32>
  %5 = fact.matmul %e, %e transpose_b : (tensor<64x2xf32>, tensor<64x2xf32>) -> tensor<64x64xf32>
  return %0, %1, %4, %5 : tensor<8x96xf32>, tensor<64x64xf32>, tensor<121x16xf32>, tensor<64x64xf32>
}

fact.weight @weight : tensor<96x3xbf16>
fact.weight @columns : tensor<96x4xf32>

// The weight of a linear layer is transposed when it is loaded, and so are
// columns of one: then they have rows to scale.
// CHECK-LABEL: func @linear
// CHECK: %[[ROWS:.*]]:2 = fact.prepare {
// CHECK-DAG: fact.permute {{.*}} [1, 0] : (tensor<96x3xbf16>) -> tensor<3x96xbf16>
// CHECK-DAG: fact.permute {{.*}} [1, 0] : (tensor<{{.*}}xf32>) -> tensor<{{.*}}xf32>
// CHECK: fact.yield
// CHECK-NOT: fact.matmul
// CHECK: fact.fused "pointwise" ins({{.*}}%[[ROWS]]#0
// CHECK: fact.slice {{.*}} dim 0 start 2 : (tensor<3x96xbf16>) -> tensor<1x96xbf16>
// CHECK-NOT: fact.matmul
// CHECK: fact.fused "pointwise" ins({{.*}}%[[ROWS]]#1
// CHECK-NOT: fact.matmul
// CHECK: return
// HOST-LABEL: func @linear
// HOST-NOT: fact.prepare
// HOST-COUNT-2: fact.matmul
func.func @linear(%x: tensor<64x3xbf16>, %y: tensor<64x2xf32>) -> (tensor<64x96xbf16>, tensor<64x96xf32>) {
  %w = fact.get_weight @weight : tensor<96x3xbf16>
  %0 = fact.matmul %x, %w transpose_b : (tensor<64x3xbf16>, tensor<96x3xbf16>) -> tensor<64x96xbf16>
  %v = fact.get_weight @columns : tensor<96x4xf32>
  %1 = fact.permute %v [1, 0] : (tensor<96x4xf32>) -> tensor<4x96xf32>
  %2 = fact.slice %1 dim 0 start 1 step 2 : (tensor<4x96xf32>) -> tensor<2x96xf32>
  %3 = fact.matmul %y, %2 : (tensor<64x2xf32>, tensor<2x96xf32>) -> tensor<64x96xf32>
  return %0, %3 : tensor<64x96xbf16>, tensor<64x96xf32>
}
