// An element that is compared with the largest of its neighbors has to be the
// same number in both places: it is stored, by another kernel.

// RUN: fact-opt %s --fact-discover=target=host --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @peaks
// CHECK: %[[Y:.*]] = fact.fused
// CHECK: fact.sigmoid
// CHECK: fact.yield
// CHECK: fact.fused {{.*}} ins({{.*}}%[[Y]]
// CHECK-NOT: fact.sigmoid
// CHECK: fact.compare eq
func.func @peaks(%x: tensor<64x66xf32>) -> tensor<64x64xf32> {
  %y = fact.sigmoid %x : (tensor<64x66xf32>) -> tensor<64x66xf32>
  %0 = fact.slice %y dim 1 start 0 : (tensor<64x66xf32>) -> tensor<64x64xf32>
  %1 = fact.slice %y dim 1 start 1 : (tensor<64x66xf32>) -> tensor<64x64xf32>
  %2 = fact.slice %y dim 1 start 2 : (tensor<64x66xf32>) -> tensor<64x64xf32>
  %3 = fact.maximum %0, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = fact.maximum %3, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = fact.compare eq %4, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %6 = fact.cast %5 : (tensor<64x64xi1>) -> tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}

// -----

// Other comparisons are a part of the kernel.
// CHECK-LABEL: func.func @positive
// CHECK: fact.fused
// CHECK: fact.sigmoid
// CHECK: fact.compare gt
// CHECK-NOT: fact.fused
// CHECK: return
func.func @positive(%x: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xi1> {
  %y = fact.sigmoid %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = fact.compare gt %y, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  return %0 : tensor<64x64xi1>
}
