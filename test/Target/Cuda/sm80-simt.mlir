// Strict products on the f32 units, where those outdo three products of TF32: of both kinds,
// the cost model ranks the faster first.

// RUN: fact-opt --fact-discover="target=rtx3090 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=a10 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=sm_86 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=l4 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=rtx4090 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=sm_89 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=rtx5090 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=sm_120 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=a100 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s --check-prefix=MMA --implicit-check-not=Simt32
// RUN: fact-opt --fact-discover="target=h200 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s --check-prefix=MMA --implicit-check-not=Simt32
// RUN: fact-opt --fact-discover="target=rtx4090 pad-rows=false" %s | FileCheck %s --check-prefix=SPACE
// RUN: fact-opt --fact-discover="target=a100 pad-rows=false" %s | FileCheck %s --check-prefix=A100

// CHECK-LABEL: namespace fact::gemm_epilogue_0 {
// MMA-LABEL: namespace fact::gemm_epilogue_0 {
// SPACE-LABEL: func.func @linear
// A100-LABEL: func.func @linear
func.func @linear(%x: tensor<4096x1023xf32>, %w: tensor<4095x1023xf32>, %b: tensor<4095xf32>) -> tensor<4096x4095xf32> {
  // CHECK: using Kernel = Sm80Gemm<
  // CHECK: Sm80Schedule<Tile<{{.*}}>, Splits<1>>,
  // CHECK-NEXT: Simt32>;
  // MMA: using Kernel = Sm80Gemm<
  // MMA: Sm80Schedule<Tile<{{.*}}>, Splits<1>>>;
  // SPACE: math = [simt, mma]>
  // A100: math = [mma]>
  %0 = fact.matmul %x, %w transpose_b : (tensor<4096x1023xf32>, tensor<4095x1023xf32>) -> tensor<4096x4095xf32>
  %1 = fact.add %0, %b : (tensor<4096x4095xf32>, tensor<4095xf32>) -> tensor<4096x4095xf32>
  %2 = fact.relu %1 : (tensor<4096x4095xf32>) -> tensor<4096x4095xf32>
  return %2 : tensor<4096x4095xf32>
}

// TF32 stays on the matrix units.
// CHECK-LABEL: namespace fact::gemm_epilogue_1 {
// SPACE-LABEL: func.func @tf32
func.func @tf32(%x: tensor<4096x1023xf32>, %w: tensor<4095x1023xf32>) -> tensor<4096x4095xf32> {
  // CHECK: Tf32>;
  // SPACE: math = [mma]>
  %0 = fact.matmul %x, %w transpose_b tf32 : (tensor<4096x1023xf32>, tensor<4095x1023xf32>) -> tensor<4096x4095xf32>
  %1 = fact.relu %0 : (tensor<4096x4095xf32>) -> tensor<4096x4095xf32>
  return %1 : tensor<4096x4095xf32>
}

// CHECK-LABEL: namespace fact::gated_gemm_2 {
func.func @gated(%x: tensor<4096x1023xf32>, %g: tensor<1023x4095xf32>, %u: tensor<1023x4095xf32>) -> tensor<4096x4095xf32> {
  // CHECK: Factors<RowMajor<1, f32, 4095>,
  // CHECK: Simt32>;
  %0 = fact.matmul %x, %g : (tensor<4096x1023xf32>, tensor<1023x4095xf32>) -> tensor<4096x4095xf32>
  %1 = fact.matmul %x, %u : (tensor<4096x1023xf32>, tensor<1023x4095xf32>) -> tensor<4096x4095xf32>
  %2 = fact.silu %0 : (tensor<4096x4095xf32>) -> tensor<4096x4095xf32>
  %3 = fact.mul %2, %1 : (tensor<4096x4095xf32>, tensor<4096x4095xf32>) -> tensor<4096x4095xf32>
  return %3 : tensor<4096x4095xf32>
}

// A space of both kinds is ranked too.
// CHECK-LABEL: namespace fact::gemm_epilogue_3 {
// MMA-LABEL: namespace fact::gemm_epilogue_3 {
func.func @both(%x: tensor<4096x4097xf32>, %w: tensor<4097x4095xf32>) -> tensor<4096x4095xf32> {
  // CHECK: Simt32>;
  // MMA: using Kernel = Sm80Gemm<
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<4096x4097xf32>, tensor<4097x4095xf32>) {
  ^bb0(%a: tensor<4096x4097xf32>, %b: tensor<4097x4095xf32>):
    %1 = fact.matmul %a, %b : (tensor<4096x4097xf32>, tensor<4097x4095xf32>) -> tensor<4096x4095xf32>
    %2 = fact.relu %1 : (tensor<4096x4095xf32>) -> tensor<4096x4095xf32>
    fact.yield %2 : tensor<4096x4095xf32>
  } space(#fact.sm80_gemm_space<tile = [128x128x16, 128x64x16, 64x64x32], warps = [2x2, 2x4, 4x2], stages = [3], split_k = [1], math = [simt, mma]>) : tensor<4096x4095xf32>
  return %0 : tensor<4096x4095xf32>
}
