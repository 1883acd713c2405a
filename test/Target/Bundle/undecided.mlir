// Results that rounding can decide are marked: here the comparison of what the
// kernel computes, not the one of what it is given; and sums of 16-bit products
// that are stored in f32, where large ones may cancel.

// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: fact-compile %t/given.mlir --until=bundle --bundle=%t/given
// RUN: FileCheck %s --check-prefix=GIVEN --implicit-check-not=undecided < %t/given/bundle.json
// RUN: fact-compile %t/computed.mlir --until=bundle --bundle=%t/computed
// RUN: FileCheck %s --check-prefix=COMPUTED < %t/computed/bundle.json
// RUN: fact-compile %t/sums.mlir --until=bundle --bundle=%t/sums
// RUN: FileCheck %s --check-prefix=SUMS < %t/sums/bundle.json

// GIVEN: "results": [
// COMPUTED: "results": [
// COMPUTED: "type": "i1"
// COMPUTED-NEXT: "undecided": true

// SUMS: "type": "f32"
// SUMS-NEXT: "undecided": true
// SUMS: "type": "f16"
// SUMS-NOT: "undecided"

//--- given.mlir
func.func @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  %0 = fact.compare lt %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  return %0 : tensor<64xi1>
}

//--- computed.mlir
func.func @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xi1> {
  %0 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = fact.compare lt %0, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  return %1 : tensor<64xi1>
}

//--- sums.mlir
func.func @f(%x: tensor<8x64xf16>, %w: tensor<64x16xf16>) -> (tensor<8x16xf32>, tensor<8x16xf16>) {
  %0 = fact.matmul %x, %w : (tensor<8x64xf16>, tensor<64x16xf16>) -> tensor<8x16xf16>
  %1 = fact.cast %0 : (tensor<8x16xf16>) -> tensor<8x16xf32>
  %2 = fact.relu %0 : (tensor<8x16xf16>) -> tensor<8x16xf16>
  return %1, %2 : tensor<8x16xf32>, tensor<8x16xf16>
}
