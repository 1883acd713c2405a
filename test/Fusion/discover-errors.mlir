// RUN: not fact-opt --fact-discover="target=h200" %s 2>&1 | FileCheck %s
// RUN: not fact-opt --fact-discover="target=h2000" %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fact-opt --fact-discover="agent=oracle" %s 2>&1 | FileCheck %s --check-prefix=AGENT

// Every family says why it cannot take the op.
// CHECK: error: 'fact.matmul' op has no kernel on target 'h200'
// CHECK-DAG: note: 'gemm_epilogue': takes f16 or bf16 operands, not 'f32'
// CHECK-DAG: note: 'attention': needs exactly one 'fact.attention'
// CHECK-DAG: note: 'pointwise': 'fact.matmul' is not a pointwise op or a view
// TARGET: unknown machine 'h2000'; known are 'a100', 'h100', 'h200', 'b200', 'host'
// AGENT: unknown agent 'oracle'; known are 'rules', 'llm', 'replay'
func.func @no_kernel(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
