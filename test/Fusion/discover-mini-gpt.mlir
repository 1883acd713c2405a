// The imported GPT block becomes seven kernels.
// RUN: fact-opt --fact-host %S/../Conversion/TorchToFact/workload-mini-gpt.mlir | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[NORM1:.*]] = fact.fused "rowwise"
// CHECK: fact.norm layer
// CHECK: %[[QKV:.*]] = fact.fused "gemm_epilogue" ins(%[[NORM1]],
// CHECK: fact.matmul
// CHECK-NEXT: fact.add
// CHECK: %[[ATTENTION:.*]] = fact.fused "attention" ins(%[[QKV]] :
// CHECK-COUNT-3: fact.slice
// CHECK: fact.attention {{.*}} causal
// CHECK-NEXT: fact.permute
// CHECK-NEXT: fact.reshape
// CHECK: %[[PROJECTION:.*]] = fact.fused "gemm_epilogue" ins(%[[ATTENTION]], {{.*}}%arg0
// CHECK: fact.matmul
// CHECK-NEXT: fact.add
// CHECK-NEXT: fact.add
// CHECK: %[[NORM2:.*]] = fact.fused "rowwise" ins(%[[PROJECTION]],
// CHECK: %[[UP:.*]] = fact.fused "gemm_epilogue" ins(%[[NORM2]],
// CHECK: fact.gelu
// CHECK: %[[DOWN:.*]] = fact.fused "gemm_epilogue" ins(%[[UP]], {{.*}}%[[PROJECTION]] :
// CHECK-NOT: fact.fused
// CHECK: return %[[DOWN]]
