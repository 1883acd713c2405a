// Light is that of the fastest kernel that the op's precision allows: 137.439 GFLOP take
// 833.468 us as three products of TF32 parts, 277.823 us in TF32.

// RUN: fact-translate --fact-to-sol --sol-target=h200 %s | FileCheck %s --check-prefix=STRICT
// RUN: sed 's/fact.matmul %x, %w/& tf32/' %s | fact-translate --fact-to-sol --sol-target=h200 | FileCheck %s --check-prefix=TF32
// RUN: sed 's/fact.matmul %x, %w/& tf32/' %s | fact-opt --fact-annotate-sol="target=h200" | FileCheck %s --check-prefix=ATTR
// RUN: sed 's/fact.matmul %x, %w/& tf32/' %s | fact-opt --fact-discover="target=host patterns=%t.none" \
// RUN:   | fact-translate --fact-to-sol --sol-target=h200 | FileCheck %s --check-prefix=FUSED

// STRICT: GFLOP matrix_32 {{ *}}GFLOP matrix_64
// STRICT: matmul {{ *}}4096x4096xf32 {{ *}}137.439 {{ *}}0.000 {{.*}} 833.468 arithmetic
// TF32: GFLOP matrix_tf32 {{ *}}GFLOP matrix_64
// TF32: matmul {{ *}}4096x4096xf32 {{ *}}137.439 {{ *}}0.000 {{.*}} 277.823 arithmetic
// Doubles are doubles.
// TF32: matmul {{ *}}1024x1024xf64 {{ *}}0.000 {{ *}}2.147 {{.*}} 32.052 arithmetic
// ATTR: flops = {matrix_tf32 = 137438953472 : i64}, us = 277.82
// FUSED: gemm_epilogue: matmul {{ *}}4096x4096xf32 {{.*}} 277.823 {{ *}}277.823 arithmetic
func.func @main(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>, %y: tensor<1024x1024xf64>) -> (tensor<4096x4096xf32>, tensor<1024x1024xf64>) {
  %0 = fact.matmul %x, %w : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = fact.matmul %y, %y : (tensor<1024x1024xf64>, tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
  return %0, %1 : tensor<4096x4096xf32>, tensor<1024x1024xf64>
}
