// Results that rounding can decide are marked: here the comparison of what the
// kernel computes, not the one of what it is given; and sums of 16-bit products
// that are stored in f32, where large ones may cancel; and in f32, products of a
// sum that may cancel, whose term was rounded (lines between lines), not those
// of a sum of what is given (a constant changes neither), nor of a strict
// product, whose tolerance is that of its length; another term counts beside one.
// What a cast to 16 bits leaves of a computed number, which has either sign in
// the middle between two of them, and not what it leaves of one that is given.

// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: fact-compile %t/given.mlir --until=bundle --bundle=%t/given
// RUN: FileCheck %s --check-prefix=GIVEN --implicit-check-not=undecided < %t/given/bundle.json
// RUN: fact-compile %t/computed.mlir --until=bundle --bundle=%t/computed
// RUN: FileCheck %s --check-prefix=COMPUTED < %t/computed/bundle.json
// RUN: fact-compile %t/sums.mlir --until=bundle --bundle=%t/sums
// RUN: FileCheck %s --check-prefix=SUMS < %t/sums/bundle.json
// RUN: fact-compile %t/line.mlir --until=bundle --bundle=%t/line
// RUN: FileCheck %s --check-prefix=GIVEN --implicit-check-not=undecided < %t/line/bundle.json
// RUN: fact-compile %t/lines.mlir --until=bundle --bundle=%t/lines
// RUN: FileCheck %s --check-prefix=LINES < %t/lines/bundle.json
// RUN: fact-compile %t/strict.mlir --until=bundle --bundle=%t/strict
// RUN: FileCheck %s --check-prefix=GIVEN --implicit-check-not=undecided < %t/strict/bundle.json
// RUN: fact-compile %t/beside.mlir --until=bundle --bundle=%t/beside
// RUN: FileCheck %s --check-prefix=BESIDE < %t/beside/bundle.json
// RUN: fact-compile %t/remainder.mlir --until=bundle --bundle=%t/remainder
// RUN: FileCheck %s --check-prefix=REMAINDER < %t/remainder/bundle.json
// RUN: fact-compile %t/moved.mlir --until=bundle --bundle=%t/moved
// RUN: FileCheck %s --check-prefix=MOVED < %t/moved/bundle.json

// GIVEN: "results": [
// COMPUTED: "results": [
// COMPUTED: "type": "i1"
// COMPUTED-NEXT: "undecided": true

// SUMS: "type": "f32"
// SUMS-NEXT: "undecided": true
// SUMS: "type": "f16"
// SUMS-NOT: "undecided"

// LINES: "results": [
// LINES: "type": "f32"
// LINES-NEXT: "undecided": true
// LINES: "type": "f16"
// LINES-NOT: "undecided"

// BESIDE: "results": [
// BESIDE: "type": "f32"
// BESIDE-NEXT: "undecided": true

// MOVED: "results": [
// MOVED: "type": "f32"
// MOVED-NEXT: "undecided": true
// MOVED: "type": "f32"
// MOVED-NEXT: "undecided": true

// REMAINDER: "results": [
// REMAINDER: "type": "f32"
// REMAINDER-NEXT: "undecided": true
// REMAINDER: "results": [
// REMAINDER-NOT: "undecided"

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

//--- line.mlir
func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>, %w: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.sub %b, %a : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = fact.mul %0, %w : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = fact.add %a, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

//--- lines.mlir
func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>, %w: tensor<64xf32>, %v: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf16>) {
  %0 = fact.sub %b, %a : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = fact.mul %0, %w : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = fact.add %a, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = fact.mul %2, %v : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = fact.cast %3 : (tensor<64xf32>) -> tensor<64xf16>
  return %3, %4 : tensor<64xf32>, tensor<64xf16>
}

//--- strict.mlir
func.func @f(%x: tensor<64x96xf32>, %w: tensor<96x32xf32>, %b: tensor<64x32xf32>, %g: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = fact.matmul %x, %w : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
  %1 = fact.add %0, %b : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = fact.mul %1, %g : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}

//--- beside.mlir
func.func @f(%x: tensor<64x96xf32>, %w: tensor<96x32xf32>, %a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %g: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w, %a, %b, %g : tensor<64x96xf32>, tensor<96x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  ^bb0(%a0: tensor<64x96xf32>, %a1: tensor<96x32xf32>, %a2: tensor<64x32xf32>, %a3: tensor<64x32xf32>, %a4: tensor<64x32xf32>):
    %0 = fact.matmul %a0, %a1 : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
    %1 = fact.mul %a3, %a4 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = fact.add %a2, %1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %3 = fact.mul %2, %0 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    fact.yield %3 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

//--- moved.mlir
func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>, %w: tensor<64xf32>, %v: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c = fact.constant dense<0.3> : tensor<64xf32>
  %0 = fact.mul %b, %w : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = fact.add %a, %0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = fact.add %1, %c : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = fact.mul %2, %v : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = fact.mul %1, %c : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %5 = fact.mul %4, %v : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %3, %5 : tensor<64xf32>, tensor<64xf32>
}

//--- remainder.mlir
func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = fact.exp %a : (tensor<64xf32>) -> tensor<64xf32>
  %1 = fact.cast %0 : (tensor<64xf32>) -> tensor<64xf16>
  %2 = fact.cast %1 : (tensor<64xf16>) -> tensor<64xf32>
  %3 = fact.sub %0, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = fact.cast %b : (tensor<64xf32>) -> tensor<64xf16>
  %5 = fact.cast %4 : (tensor<64xf16>) -> tensor<64xf32>
  %6 = fact.sub %b, %5 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %3, %6 : tensor<64xf32>, tensor<64xf32>
}
