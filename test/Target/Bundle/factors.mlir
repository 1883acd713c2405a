// Elements that are multiplied stay near 1, so that products of many of them
// overflow in no order; few factors, sums and computed factors are normal.

// RUN: rm -rf %t && fact-compile %s --until=bundle --bundle=%t
// RUN: FileCheck %s < %t/bundle.json

// CHECK: "operands": [
// CHECK: "factors": 0.927{{.*}},
// CHECK: "operands": [
// CHECK: "factors": 0.116{{.*}},
// CHECK: "operands": [
// CHECK-NOT: "factors":
func.func @products(%x: tensor<4x1000x64xf32>, %y: tensor<8x1000xf16>, %z: tensor<8x16xf32>)
    -> (tensor<4x64xf32>, tensor<8x1000xf16>, tensor<8xf32>) {
  %0 = fact.reduce prod %x dims [1] : (tensor<4x1000x64xf32>) -> tensor<4x64xf32>
  %1 = fact.scan prod %y dim 1 : tensor<8x1000xf16>
  %2 = fact.reduce prod %z dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<4x64xf32>, tensor<8x1000xf16>, tensor<8xf32>
}
