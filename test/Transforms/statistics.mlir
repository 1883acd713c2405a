// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none statistics" -o %t.mlir 2>&1 | FileCheck %s --match-full-lines
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" -o %t.mlir 2>&1 | count 0

// CHECK: fact-discover statistics
// CHECK-NEXT: (S) 1 subgraphs-proposed
// CHECK-NEXT: (S) 1 subgraphs-accepted
// CHECK-NEXT: (S) 0 subgraphs-rejected
// CHECK-NEXT: (S) 0 rejected-by-rule
// CHECK-NEXT: (S) 0 rejected-by-graph
// CHECK-NEXT: (S) 0 rejected-by-space
// CHECK-NEXT: (S) 0 rejected-by-reading
// CHECK-NEXT: (S) 0 legal-at-first
// CHECK-NEXT: (S) 0 legal-after-repair
// CHECK-NEXT: (S) 0 subgraphs-covered
// CHECK-NEXT: (S) 0 subgraphs-prepared
// CHECK-NEXT: (S) 0 llm-calls
// CHECK-NEXT: (S) 0 llm-retries
// CHECK-NEXT: (S) 0 llm-tokens-in
// CHECK-NEXT: (S) 0 llm-tokens-out
// CHECK-NEXT: (S) {{[0-9]+}} milliseconds
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
