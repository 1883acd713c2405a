// Infinities are avoided beside a difference of computed values, which rounding
// makes 0 in some kernels, and kept beside one of operands, which is exact, also
// where they are widened.

// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: fact-compile %t/computed.mlir --target=host --until=bundle --bundle=%t/computed
// RUN: FileCheck %s --check-prefix=COMPUTED < %t/computed/bundle.json
// RUN: fact-compile %t/exact.mlir --target=host --until=bundle --bundle=%t/exact
// RUN: FileCheck %s --check-prefix=EXACT < %t/exact/bundle.json

// COMPUTED: "kernels": [
// COMPUTED: "+inf",
// COMPUTED-NEXT: "-inf"

// EXACT: "kernels": [
// EXACT-NOT: inf"

//--- computed.mlir
func.func @f(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %z: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = fact.fused "pointwise" ins(%x, %y, %z : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  ^bb0(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %c: tensor<64x32xf32>):
    %0 = fact.mul %a, %b : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %1 = fact.sub %0, %b : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = fact.mul %1, %c : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    fact.yield %2 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

//--- exact.mlir
func.func @f(%x: tensor<64x32xf32>, %y: tensor<64x32xbf16>, %z: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = fact.fused "pointwise" ins(%x, %y, %z : tensor<64x32xf32>, tensor<64x32xbf16>, tensor<64x32xf32>) {
  ^bb0(%a: tensor<64x32xf32>, %b: tensor<64x32xbf16>, %c: tensor<64x32xf32>):
    %w = fact.cast %b : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    %1 = fact.sub %a, %w : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = fact.mul %1, %c : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    fact.yield %2 : tensor<64x32xf32>
  } : tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
