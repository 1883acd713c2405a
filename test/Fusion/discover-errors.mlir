// RUN: not fact-opt --fact-discover="target=h2000" %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fact-opt --fact-discover="agent=oracle" %s 2>&1 | FileCheck %s --check-prefix=AGENT

// TARGET: unknown machine 'h2000', maybe you meant 'h200'; known are 'a100', 'a10', 'rtx3090', 'l4', 'l40s', 'rtx4090', 'h100', 'h200', 'b200', 'rtx5090', 'rtx-pro-6000', 'host', architectures (sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120)
// AGENT: unknown agent 'oracle'; known are 'rules', 'llm', 'replay'
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
