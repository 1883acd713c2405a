// RUN: fact-translate --fact-to-host %s | FileCheck %s

// The arrays of a row do not fit into offsets of 32 bits less a few.
// CHECK-LABEL: // sort_0: 1 tiles
// CHECK: arith.constant 360000000 : i64
// CHECK-NOT: llvm.getelementptr %{{.*}}[-
module attributes {fact.target = #fact.machine<"host">} {
  func.func @main(%x: tensor<1x30000000xf32>) -> tensor<1x30000000xi64> {
    %0 = fact.fused "sort" ins(%x : tensor<1x30000000xf32>) {
    ^bb0(%a: tensor<1x30000000xf32>):
      %1 = fact.argsort %a dim 1 : (tensor<1x30000000xf32>) -> tensor<1x30000000xi64>
      fact.yield %1 : tensor<1x30000000xi64>
    } : tensor<1x30000000xi64>
    return %0 : tensor<1x30000000xi64>
  }
}
