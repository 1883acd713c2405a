// Indices of a scatter are inside of the tensor, in one trial outside; sums grow
// with the number of updates, which may all go to one place.

// RUN: rm -rf %t && fact-compile %s --until=bundle --bundle=%t
// RUN: FileCheck %s < %t/bundle.json

// CHECK: "operands": [
// CHECK: "high": 8
// CHECK-NEXT: "low": 0
// CHECK-NEXT: "outside": true
// CHECK: "type": "i64"
// CHECK: "results": [
// CHECK: "element": {{.*}}e-05,

func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<100xi64>, %u: tensor<4x100xf32>) -> tensor<4x8xf32> {
  %0 = fact.scatter sum %x, %i, %u dim 1 : (tensor<4x8xf32>, tensor<100xi64>, tensor<4x100xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
