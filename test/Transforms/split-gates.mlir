// RUN: fact-opt --fact-split-gates %s | FileCheck %s

// CHECK-LABEL: func @gate
func.func @gate(%x: tensor<2x4x8xf32>, %w: tensor<32x8xf32>, %b: tensor<32xf32>) -> tensor<2x4x16xf32> {
  // CHECK-DAG: %[[W1:.*]] = fact.slice %arg1 dim 0 start 0 : (tensor<32x8xf32>) -> tensor<16x8xf32>
  // CHECK-DAG: %[[W2:.*]] = fact.slice %arg1 dim 0 start 16 : (tensor<32x8xf32>) -> tensor<16x8xf32>
  // CHECK-DAG: %[[B1:.*]] = fact.slice %arg2 dim 0 start 0 : (tensor<32xf32>) -> tensor<16xf32>
  // CHECK-DAG: %[[B2:.*]] = fact.slice %arg2 dim 0 start 16 : (tensor<32xf32>) -> tensor<16xf32>
  // CHECK-DAG: %[[P1:.*]] = fact.matmul %arg0, %[[W1]] transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  // CHECK-DAG: %[[P2:.*]] = fact.matmul %arg0, %[[W2]] transpose_b
  // CHECK-DAG: %[[Y1:.*]] = fact.add %[[P1]], %[[B1]]
  // CHECK-DAG: %[[Y2:.*]] = fact.add %[[P2]], %[[B2]]
  // CHECK-DAG: %[[G:.*]] = fact.gelu %[[Y2]] approximate tanh
  // CHECK: fact.mul %[[Y1]], %[[G]]
  %0 = fact.matmul %x, %w transpose_b : (tensor<2x4x8xf32>, tensor<32x8xf32>) -> tensor<2x4x32xf32>
  %1 = fact.add %0, %b : (tensor<2x4x32xf32>, tensor<32xf32>) -> tensor<2x4x32xf32>
  %2 = fact.slice %1 dim 2 start 0 : (tensor<2x4x32xf32>) -> tensor<2x4x16xf32>
  %3 = fact.slice %1 dim 2 start 16 : (tensor<2x4x32xf32>) -> tensor<2x4x16xf32>
  %4 = fact.gelu %3 approximate tanh : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %5 = fact.mul %2, %4 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  return %5 : tensor<2x4x16xf32>
}

// Both of one weight, not transposed, every second column.
// CHECK-LABEL: func @interleaved
func.func @interleaved(%x: tensor<4x8xf32>, %w: tensor<8x32xf32>) -> tensor<4x16xf32> {
  // CHECK-DAG: %[[W1:.*]] = fact.slice %arg1 dim 1 start 0 step 2 : (tensor<8x32xf32>) -> tensor<8x16xf32>
  // CHECK-DAG: %[[W2:.*]] = fact.slice %arg1 dim 1 start 1 step 2 : (tensor<8x32xf32>) -> tensor<8x16xf32>
  // CHECK-DAG: fact.matmul %arg0, %[[W1]]
  // CHECK-DAG: fact.matmul %arg0, %[[W2]]
  %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 step 2 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 1 step 2 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = fact.mul %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}

// The whole is a result too, rows are sliced in place of columns: both stay.
// CHECK-LABEL: func @others
func.func @others(%x: tensor<4x8xf32>, %w: tensor<32x8xf32>) -> (tensor<4x16xf32>, tensor<4x32xf32>, tensor<2x32xf32>) {
  // CHECK-COUNT-2: fact.matmul
  // CHECK-NOT: fact.matmul
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 16 : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %3 = fact.silu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = fact.mul %3, %2 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %5 = fact.matmul %x, %w transpose_b : (tensor<4x8xf32>, tensor<32x8xf32>) -> tensor<4x32xf32>
  %6 = fact.slice %5 dim 0 start 0 : (tensor<4x32xf32>) -> tensor<2x32xf32>
  %7 = fact.slice %5 dim 0 start 2 : (tensor<4x32xf32>) -> tensor<2x32xf32>
  %8 = fact.mul %6, %7 : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  return %4, %0, %8 : tensor<4x16xf32>, tensor<4x32xf32>, tensor<2x32xf32>
}
