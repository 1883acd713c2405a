// Light is that of the fastest kernel that the module's precision allows: 137.439 GFLOP take
// 2051.328 us at 67 TFLOP/s, 277.823 us at 494.7, 138.968 us at 989.

// RUN: fact-translate --fact-to-sol --sol-target=h200 %s | FileCheck %s --check-prefix=HIGHEST
// RUN: sed 's/"highest"/"high"/' %s | fact-translate --fact-to-sol --sol-target=h200 | FileCheck %s --check-prefix=HIGH
// RUN: sed 's/"highest"/"medium"/' %s | fact-translate --fact-to-sol --sol-target=h200 | FileCheck %s --check-prefix=MEDIUM
// RUN: sed 's/"highest"/"high"/' %s | fact-opt --fact-annotate-sol="target=h200" | FileCheck %s --check-prefix=ATTR
// RUN: sed 's/"highest"/"high"/' %s | fact-opt --fact-discover="target=host patterns=%t.none" \
// RUN:   | fact-translate --fact-to-sol --sol-target=h200 | FileCheck %s --check-prefix=FUSED

// HIGHEST: GFLOP matrix_32 {{ *}}GFLOP matrix_64
// HIGHEST: matmul {{ *}}4096x4096xf32 {{ *}}137.439 {{ *}}0.000 {{.*}} 2051.328 arithmetic
// HIGH: GFLOP matrix_tf32 {{ *}}GFLOP matrix_64
// HIGH: matmul {{ *}}4096x4096xf32 {{ *}}137.439 {{ *}}0.000 {{.*}} 277.823 arithmetic
// Doubles are doubles.
// HIGH: matmul {{ *}}1024x1024xf64 {{ *}}0.000 {{ *}}2.147 {{.*}} 32.052 arithmetic
// MEDIUM: GFLOP matrix_16 {{ *}}GFLOP matrix_64
// MEDIUM: matmul {{ *}}4096x4096xf32 {{ *}}137.439 {{ *}}0.000 {{.*}} 138.968 arithmetic
// ATTR: flops = {matrix_tf32 = 137438953472 : i64}, us = 277.82
// FUSED: gemm_epilogue: matmul {{ *}}4096x4096xf32 {{.*}} 277.823 {{ *}}277.823 arithmetic
module attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>, %y: tensor<1024x1024xf64>) -> (tensor<4096x4096xf32>, tensor<1024x1024xf64>) {
    %0 = fact.matmul %x, %w : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %1 = fact.matmul %y, %y : (tensor<1024x1024xf64>, tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
    return %0, %1 : tensor<4096x4096xf32>, tensor<1024x1024xf64>
  }
}
