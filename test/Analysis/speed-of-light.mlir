// RUN: fact-translate --fact-to-sol --sol-target=h200 %s | FileCheck %s
// RUN: fact-translate --fact-to-sol-json --sol-target=h200 %s | FileCheck %s --check-prefix=JSON
// RUN: fact-opt --fact-annotate-sol="target=h200" %s | FileCheck %s --check-prefix=ATTR
// RUN: fact-opt --fact-discover="target=h200 patterns=%t.none" %s | fact-translate --fact-to-sol | FileCheck %s --check-prefix=FUSED
// RUN: fact-translate --fact-to-sol --sol-target=%S/Inputs/slow.json %s | FileCheck %s --check-prefix=SLOW
// RUN: not fact-translate --fact-to-sol --sol-target=h2000 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fact-translate --fact-to-sol --sol-target=%S/Inputs/broken.json %s 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not fact-translate --fact-to-sol --sol-target=%t.json %s 2>&1 | FileCheck %s --check-prefix=MISSING

// 2 * 4096 * 1024 * 512 = 4.295 GFLOP; 4096*512 + 1024*512 + 4096*1024 elements of two bytes are
// 13.631 MB. Both take longer at 989 TFLOP/s (4.343 us) than at 4.8 TB/s (2.840 us).
// CHECK: speed of light on h200 (sm_90a)
// CHECK: work {{ *}}result {{ *}}GFLOP matrix_16 {{ *}}GFLOP scalar {{ *}}MB {{ *}}SOL us
// CHECK: matmul {{ *}}4096x1024xbf16 {{ *}}4.295 {{ *}}0.000 {{ *}}13.631 {{ *}}4.343 {{ *}}4.343 arithmetic
// A bias is read once for all rows, a splat not at all: 2 * 8.389 MB and 2 KB.
// CHECK: add {{ *}}4096x1024xbf16 {{ *}}0.000 {{ *}}0.004 {{ *}}16.779 {{ *}}3.496 {{ *}}3.496 memory
// CHECK: mul {{ *}}4096x1024xbf16 {{ *}}0.000 {{ *}}0.004 {{ *}}16.777
// A slice of half the columns reads half.
// CHECK: exp {{ *}}4096x512xbf16 {{ *}}0.000 {{ *}}0.002 {{ *}}8.389
// CHECK: 4 kernels: [[SUM:.*]] us; one op per kernel: [[SUM]] us; fusing gains at most 1.00x

// JSON: "architecture": "sm_90a"
// JSON: "bound": "arithmetic"
// JSON: "bytes": 13631488
// JSON: "matrix_16": 4294967296
// JSON: "unfused_us":

// ATTR: fact.matmul {{.*}}fact.sol = {bytes = 13631488 : i64, flops = {matrix_16 = 4294967296 : i64}, us = 4.34{{.*}} : f64}

// FUSED: gemm_epilogue: matmul add mul
// FUSED: fusing gains at most {{[1-9]\.[0-9]+}}x
// SLOW: speed of light on slow (sm_90a)
// SLOW: matmul {{.*}} 1363.149 {{.*}} memory
// UNKNOWN: error: unknown machine 'h2000', maybe you meant 'h200'; known are 'a100', 'a10', 'rtx3090', 'l4', 'l40s', 'rtx4090', 'h100', 'h200', 'b200', 'rtx5090', 'rtx-pro-6000', 'host', architectures (sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120), processors by LLVM's names such as 'x86-64-v3', machines described in a '.json' file, and for tools 'auto', what this machine has
// BROKEN: broken.json': unknown figure 'bandwith' of a machine; known are 'name', 'base', 'architecture', 'multiprocessors', {{.*}}, 'bandwidth', 
// MISSING: error: cannot read machine '{{.*}}.json': {{.*}}
func.func @main(%x: tensor<4096x512xbf16>, %w: tensor<1024x512xbf16>, %b: tensor<1024xbf16>) -> tensor<4096x512xbf16> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4096x512xbf16>, tensor<1024x512xbf16>) -> tensor<4096x1024xbf16>
  %1 = fact.add %0, %b : (tensor<4096x1024xbf16>, tensor<1024xbf16>) -> tensor<4096x1024xbf16>
  %c = fact.constant dense<2.0> : tensor<bf16>
  %2 = fact.mul %1, %c : (tensor<4096x1024xbf16>, tensor<bf16>) -> tensor<4096x1024xbf16>
  %3 = fact.slice %2 dim 1 start 0 : (tensor<4096x1024xbf16>) -> tensor<4096x512xbf16>
  %4 = fact.exp %3 : (tensor<4096x512xbf16>) -> tensor<4096x512xbf16>
  return %4 : tensor<4096x512xbf16>
}
