// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-fold-norms,cse))' %s | FileCheck %s --implicit-check-not=fact.norm
// RUN: fact-opt --pass-pipeline='builtin.module(func.func(fact-fold-norms,cse,fact-hoist-prepare))' %s | FileCheck %s --check-prefix=HOIST
// RUN: fact-opt --fact-discover=target=h200 %s | fact-opt --pass-pipeline='builtin.module(func.func(fact-fold-norms))' | FileCheck %s --check-prefix=GROUPED --implicit-check-not=fact.norm

fact.weight @gamma : tensor<8xbf16>
fact.weight @beta : tensor<8xbf16>
fact.weight @w : tensor<16x8xbf16>
fact.weight @v : tensor<8x16xbf16>
fact.weight @bias : tensor<16xbf16>

// The mean is subtracted times the sums of the rounded weights.
// CHECK-LABEL: func @layer
// CHECK: %[[X:.*]] = fact.cast %arg0 : {{.*}} -> tensor<4x8xf32>
// CHECK: %[[MEAN:.*]] = fact.reduce mean %[[X]] dims [1] keep
// CHECK: %[[CENTERED:.*]] = fact.sub %[[X]], %[[MEAN]]
// CHECK: %[[SQUARES:.*]] = fact.mul %[[CENTERED]], %[[CENTERED]]
// CHECK: %[[VARIANCE:.*]] = fact.reduce mean %[[SQUARES]] dims [1] keep
// CHECK: %[[SUM:.*]] = fact.add %[[VARIANCE]], %{{.*}} : (tensor<4x1xf32>, tensor<f32>)
// CHECK: %[[RECIPROCAL:.*]] = fact.rsqrt %[[SUM]]
// CHECK: %[[SQUARE:.*]] = fact.mul %[[MEAN]], %[[MEAN]]
// CHECK: %[[LEAST:.*]] = fact.mul %[[SQUARE]], %{{.*}} : (tensor<4x1xf32>, tensor<f32>)
// CHECK: %[[EQUAL:.*]] = fact.compare lt %[[VARIANCE]], %[[LEAST]]
// CHECK: %[[R:.*]] = fact.select %[[EQUAL]], %{{.*}}, %[[RECIPROCAL]]
// CHECK: %[[W:.*]] = fact.cast %{{.*}} : (tensor<16x8xbf16>) -> tensor<16x8xf32>
// CHECK: %[[SCALED:.*]] = fact.mul %[[W]], %{{.*}} : (tensor<16x8xf32>, tensor<8xf32>)
// CHECK: %[[ROUNDED:.*]] = fact.cast %[[SCALED]] : (tensor<16x8xf32>) -> tensor<16x8xbf16>
// CHECK: %[[PRODUCT:.*]] = fact.matmul %arg0, %[[ROUNDED]] transpose_b
// CHECK: %[[ACCUMULATOR:.*]] = fact.cast %[[PRODUCT]] : (tensor<4x16xbf16>) -> tensor<4x16xf32>
// CHECK: %[[SEEN:.*]] = fact.cast %[[ROUNDED]] : (tensor<16x8xbf16>) -> tensor<16x8xf32>
// CHECK: %[[SUMS:.*]] = fact.reduce sum %[[SEEN]] dims [1]
// CHECK: %[[SHIFT:.*]] = fact.mul %[[MEAN]], %[[SUMS]]
// CHECK: %[[DIFFERENCE:.*]] = fact.sub %[[ACCUMULATOR]], %[[SHIFT]]
// CHECK: %[[NORMAL:.*]] = fact.mul %[[DIFFERENCE]], %[[R]]
// CHECK: %[[BIAS:.*]] = fact.cast %{{.*}} : (tensor<16xbf16>) -> tensor<16xf32>
// CHECK: %[[SHIFTED:.*]] = fact.mul %[[W]], %{{.*}} : (tensor<16x8xf32>, tensor<8xf32>)
// CHECK: %[[OFFSET:.*]] = fact.reduce sum %[[SHIFTED]] dims [1]
// CHECK: %[[TOTAL:.*]] = fact.add %[[OFFSET]], %[[BIAS]]
// CHECK: %[[RESULT:.*]] = fact.add %[[NORMAL]], %[[TOTAL]]
// CHECK: %[[Y:.*]] = fact.cast %[[RESULT]] : (tensor<4x16xf32>) -> tensor<4x16xbf16>
// CHECK: fact.relu %[[Y]]
// Everything that weights decide runs at load.
// HOIST-LABEL: func @layer
// HOIST: %[[P:.*]]:3 = fact.prepare {
// HOIST: fact.yield
// HOIST: fact.matmul %arg0, %[[P]]#0 transpose_b
// HOIST-NOT: fact.reduce sum
// HOIST: return
// Both kernels are opened.
// GROUPED-LABEL: func @layer
// GROUPED-NOT: fact.fused
// GROUPED: return
func.func @layer(%x: tensor<4x8xbf16>) -> tensor<4x16xbf16> {
  %gamma = fact.get_weight @gamma : tensor<8xbf16>
  %beta = fact.get_weight @beta : tensor<8xbf16>
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %bias = fact.get_weight @bias : tensor<16xbf16>
  %0 = fact.norm layer %x weight %gamma bias %beta eps 1.0e-5 : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  %2 = fact.add %1, %bias : (tensor<4x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
  %3 = fact.relu %2 : (tensor<4x16xbf16>) -> tensor<4x16xbf16>
  return %3 : tensor<4x16xbf16>
}

// Without scale and bias the weights stay as they are. A bias that is no
// function of weights is added to the result.
// CHECK-LABEL: func @plain
// CHECK: %[[V:.*]] = fact.get_weight @v
// CHECK: fact.matmul %arg0, %[[V]] :
// CHECK: fact.reduce sum %{{.*}} dims [0] : (tensor<8x16xf32>) -> tensor<16xf32>
// CHECK: %[[Y:.*]] = fact.cast %{{.*}} -> tensor<2x4x16xbf16>
// CHECK: fact.add %[[Y]], %arg1
func.func @plain(%x: tensor<2x4x8xbf16>, %bias: tensor<16xbf16>) -> tensor<2x4x16xbf16> {
  %v = fact.get_weight @v : tensor<8x16xbf16>
  %0 = fact.norm layer %x eps 1.0e-5 : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  %1 = fact.matmul %0, %v : (tensor<2x4x8xbf16>, tensor<8x16xbf16>) -> tensor<2x4x16xbf16>
  %2 = fact.add %1, %bias : (tensor<2x4x16xbf16>, tensor<16xbf16>) -> tensor<2x4x16xbf16>
  return %2 : tensor<2x4x16xbf16>
}

// Weights of either layout, and one set of statistics for both products.
// CHECK-LABEL: func @shared
// CHECK-COUNT-1: fact.rsqrt
// CHECK-NOT: fact.rsqrt
// CHECK: %[[COLUMN:.*]] = fact.reshape %{{.*}} : (tensor<8xf32>) -> tensor<8x1xf32>
// CHECK: fact.mul %{{.*}}, %[[COLUMN]] : (tensor<8x16xf32>, tensor<8x1xf32>)
// CHECK: return
// GROUPED-LABEL: func @shared
// GROUPED: return
func.func @shared(%x: tensor<4x8xbf16>) -> tensor<4x16xbf16> {
  %gamma = fact.get_weight @gamma : tensor<8xbf16>
  %w = fact.get_weight @w : tensor<16x8xbf16>
  %v = fact.get_weight @v : tensor<8x16xbf16>
  %0 = fact.norm rms %x weight %gamma eps 1.0e-5 : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<4x8xbf16>, tensor<16x8xbf16>) -> tensor<4x16xbf16>
  %2 = fact.matmul %0, %v : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
  %3 = fact.silu %1 : (tensor<4x16xbf16>) -> tensor<4x16xbf16>
  %4 = fact.mul %3, %2 : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
  return %4 : tensor<4x16xbf16>
}

// In f32 nothing is cast, and TF32 stays.
// CHECK-LABEL: func @rms_f32
// CHECK-NOT: fact.cast
// CHECK: fact.matmul %arg0, %{{.*}} transpose_b tf32
// CHECK-NOT: fact.cast
// CHECK: return
fact.weight @gamma32 : tensor<8xf32>
fact.weight @w32 : tensor<16x8xf32>
func.func @rms_f32(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %gamma = fact.get_weight @gamma32 : tensor<8xf32>
  %w = fact.get_weight @w32 : tensor<16x8xf32>
  %0 = fact.norm rms %x weight %gamma eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.matmul %0, %w transpose_b tf32 : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
