// A chain that no catalog lists is one kernel.
// RUN: fact-opt --fact-host %S/../Conversion/TorchToFact/workload-linear-chain.mlir | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[CHAIN:.*]] = fact.fused "gemm_epilogue"
// CHECK: fact.matmul
// CHECK: fact.mish
// CHECK: fact.clamp
// CHECK: fact.tanh
// CHECK-NOT: fact.fused
// CHECK: return %[[CHAIN]]
