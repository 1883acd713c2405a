// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" -verify-diagnostics -split-input-file
// RUN: not fact-opt %S/discover-fused.mlir --fact-discover="target=h200 patterns=%t.none" -o %t.mlir --fact-discover="target=host patterns=%t.none" 2>&1 | FileCheck %s

// Kernels for another target are not renamed.
// CHECK: error: 'fact.fused' op sm90_gemm<{{.*}}>: 'gemm_epilogue' on 'host' takes host_gemm{{.*}} schedules, not sm90_gemm
// CHECK: note: the module's kernels are for 'h200'; run --fact-inline-fused first to discover kernels for 'host'

func.func @no_such_rule(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{target 'h200' has no rule 'magic'; it has 'thin_gemm'}}
  %0 = fact.fused "magic" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @cannot(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'fact.fused' op needs exactly one 'fact.attention'}}
  %0 = fact.fused "attention" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @not_an_op(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'math.absf' cannot be fused}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    // expected-note @+1 {{the op}}
    %1 = math.absf %a : tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @another_family(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{its space has no legal schedule; last tried host_rows<grain = 1>: 'pointwise' on 'h200' takes cuda_pointwise or cuda_tile schedules, not host_rows}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } space(#fact.schedules<#fact.host_rows<grain = 1>>) : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @illegal(%x: tensor<256x512xbf16>, %w: tensor<128x512xbf16>) -> tensor<256x128xbf16> {
  // expected-error @+1 {{sm90_gemm<tile = 256x256x64, cluster = 1x1, kernel = pingpong, swizzle = 1>: }}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x512xbf16>, tensor<128x512xbf16>) {
  ^bb0(%a: tensor<256x512xbf16>, %b: tensor<128x512xbf16>):
    %2 = fact.matmul %a, %b transpose_b : (tensor<256x512xbf16>, tensor<128x512xbf16>) -> tensor<256x128xbf16>
    fact.yield %2 : tensor<256x128xbf16>
  } schedule(#fact.sm90_gemm<tile = 256x256x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}

// -----

func.func @library(%x: tensor<256x512xbf16>, %w: tensor<128x512xbf16>) -> tensor<256x128xbf16> {
  // expected-error @+1 {{cublas_gemm: takes a plain 'fact.matmul', without an epilogue}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x512xbf16>, tensor<128x512xbf16>) {
  ^bb0(%a: tensor<256x512xbf16>, %b: tensor<128x512xbf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<256x512xbf16>, tensor<128x512xbf16>) -> tensor<256x128xbf16>
    %2 = fact.relu %1 : (tensor<256x128xbf16>) -> tensor<256x128xbf16>
    fact.yield %2 : tensor<256x128xbf16>
  } schedule(#fact.cublas_gemm) : tensor<256x128xbf16>
  return %0 : tensor<256x128xbf16>
}
