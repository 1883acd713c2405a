// RUN: fact-opt --fact-inline-fused %s | FileCheck %s

// CHECK-LABEL: func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = fact.exp %arg0
  // CHECK-NEXT: %[[B:.*]] = fact.tanh %[[A]]
  // CHECK-NEXT: return %[[B]]
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %1 = fact.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %2 = fact.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A region that yields what it was given.

// CHECK-LABEL: func @given
func.func @given(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = fact.exp %arg0
  // CHECK-NEXT: return %[[A]], %arg0
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %1 = fact.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %1, %a : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
