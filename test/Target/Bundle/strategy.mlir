// The agent's decisions reach the bundle: what a kernel builds on, and when to
// tune it. Emitted sources do not depend on them.

// RUN: rm -rf %t && mkdir %t
// RUN: fact-compile %s --target=sm_90a --until=bundle --bundle=%t/decided --candidates=2
// RUN: FileCheck %s < %t/decided/bundle.json
// RUN: sed -e 's/strategy(<[^)]*>)//; s/priority([-0-9]*)//' %s > %t/undecided.mlir
// RUN: fact-compile %t/undecided.mlir --target=sm_90a --until=bundle --bundle=%t/undecided --candidates=2
// RUN: FileCheck %s --check-prefix=UNDECIDED --implicit-check-not=strategy --implicit-check-not=priority < %t/undecided/bundle.json
// RUN: diff -r %t/decided/kernels %t/undecided/kernels

// CHECK: "kernels": [
// CHECK: "name": "pointwise_0"
// CHECK: "priority": 3
// CHECK: "strategy": {
// CHECK-NEXT: "entry": "pointwise/bf16/sm_90a#0123456789"
// CHECK-NEXT: "kind": "adapt"
// CHECK: "name": "rowwise_1"
// CHECK: "priority": -2
// CHECK: "strategy": {
// CHECK-NEXT: "kind": "new"
// CHECK-NEXT: }
// UNDECIDED: "name": "rowwise_1"
module attributes {fact.target = #fact.machine<"h200">} {
func.func @main(%x: tensor<128x256xbf16>) -> tensor<128x256xbf16> {
  %0 = fact.fused "pointwise" ins(%x : tensor<128x256xbf16>) {
  ^bb0(%a: tensor<128x256xbf16>):
    %1 = fact.gelu %a : (tensor<128x256xbf16>) -> tensor<128x256xbf16>
    fact.yield %1 : tensor<128x256xbf16>
  } strategy(<adapt, "pointwise/bf16/sm_90a#0123456789">) priority(3) : tensor<128x256xbf16>
  %2 = fact.fused "rowwise" ins(%0 : tensor<128x256xbf16>) {
  ^bb0(%a: tensor<128x256xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<128x256xbf16>
    fact.yield %1 : tensor<128x256xbf16>
  } strategy(<new>) priority(-2) : tensor<128x256xbf16>
  return %2 : tensor<128x256xbf16>
}
}
