// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1 --alternatives=1000
// RUN: FileCheck %s < %t/bundle.json --check-prefix=APART
// RUN: FileCheck %s < %t/folded/bundle.json

// The product of a folded norm reads rounded rows, and subtracts their mean: statistics are not of
// the kernel that computes the rows, which has not rounded them yet.

// APART: "ops": [
// APART-NEXT: "add",
// APART-NEXT: "norm"

// CHECK: "ops": [
// CHECK: "ops": [
// CHECK-NEXT: "add"
// CHECK-NEXT: ]
// CHECK: "ops": [
// CHECK-NEXT: "cast",
// CHECK-NEXT: "reduce",
// CHECK-NEXT: "sub",
module @rows {
  fact.weight @g : tensor<1024xbf16>
  fact.weight @h : tensor<1024xbf16>
  fact.weight @v : tensor<1024x1024xbf16>
  func.func @main(%x: tensor<4096x1024xbf16>, %z: tensor<4096x1024xbf16>) -> (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) {
    %g = fact.get_weight @g : tensor<1024xbf16>
    %h = fact.get_weight @h : tensor<1024xbf16>
    %v = fact.get_weight @v : tensor<1024x1024xbf16>
    %1 = fact.add %x, %z : (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<4096x1024xbf16>
    %2 = fact.norm layer %1 weight %g bias %h eps 1.0e-05 : (tensor<4096x1024xbf16>, tensor<1024xbf16>, tensor<1024xbf16>) -> tensor<4096x1024xbf16>
    %3 = fact.matmul %2, %v transpose_b : (tensor<4096x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<4096x1024xbf16>
    return %1, %3 : tensor<4096x1024xbf16>, tensor<4096x1024xbf16>
  }
}
