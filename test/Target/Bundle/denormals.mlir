// Denormals are avoided where a CUDA kernel may have fast scalar functions: not
// beside a result of f32, and never on the host.

// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: fact-compile %t/wide.mlir --target=sm_90a --until=bundle --bundle=%t/wide
// RUN: FileCheck %s --check-prefix=WIDE < %t/wide/bundle.json
// RUN: fact-compile %t/narrow.mlir --target=sm_90a --until=bundle --bundle=%t/narrow
// RUN: FileCheck %s --check-prefix=NARROW < %t/narrow/bundle.json
// RUN: fact-compile %t/narrow.mlir --target=host --until=bundle --bundle=%t/host
// RUN: FileCheck %s --check-prefix=WIDE < %t/host/bundle.json

// WIDE: "kernels": [
// WIDE-NOT: "denormal"

// NARROW: "operands": [
// NARROW: "avoid": [
// NARROW: "denormal"

//--- wide.mlir
func.func @f(%x: tensor<64x32xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xf32>) {
  %r:2 = fact.fused "pointwise" ins(%x : tensor<64x32xbf16>) {
  ^bb0(%a: tensor<64x32xbf16>):
    %0 = fact.log %a : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
    %1 = fact.cast %a : (tensor<64x32xbf16>) -> tensor<64x32xf32>
    fact.yield %0, %1 : tensor<64x32xbf16>, tensor<64x32xf32>
  } : tensor<64x32xbf16>, tensor<64x32xf32>
  return %r#0, %r#1 : tensor<64x32xbf16>, tensor<64x32xf32>
}

//--- narrow.mlir
func.func @f(%x: tensor<64x32xbf16>) -> tensor<64x32xbf16> {
  %r = fact.fused "pointwise" ins(%x : tensor<64x32xbf16>) {
  ^bb0(%a: tensor<64x32xbf16>):
    %0 = fact.log %a : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
    fact.yield %0 : tensor<64x32xbf16>
  } : tensor<64x32xbf16>
  return %r : tensor<64x32xbf16>
}
