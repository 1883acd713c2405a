// RUN: not fact-translate --fact-to-host-reference %s 2>&1 | FileCheck %s

// An op that the reference does not know is an error, never the identity.
// CHECK: error: 'builtin.unrealized_conversion_cast' op has no reference
func.func @unknown(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "generic" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = builtin.unrealized_conversion_cast %a : tensor<4x8xf32> to tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
