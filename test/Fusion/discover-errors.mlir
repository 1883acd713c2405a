// RUN: not fact-opt --fact-discover="target=h2000" %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fact-opt --fact-discover="agent=oracle" %s 2>&1 | FileCheck %s --check-prefix=AGENT

// TARGET: unknown machine 'h2000'; known are 'a100', 'h100', 'h200', 'b200', 'host'
// AGENT: unknown agent 'oracle'; known are 'rules', 'llm', 'replay'
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
