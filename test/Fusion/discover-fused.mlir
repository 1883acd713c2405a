// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s

// What people have fused stays as it is, and the rules cover what is beside it.
// CHECK: fact.fused "gemm_epilogue"
// CHECK: schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>)
// CHECK: fact.fused "rowwise"
// CHECK: fact.softmax
// CHECK-NOT: fact.fused
func.func @half(%x: tensor<256x512xbf16>, %w: tensor<128x512xbf16>) -> tensor<256x128xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x512xbf16>, tensor<128x512xbf16>) {
  ^bb0(%a: tensor<256x512xbf16>, %b: tensor<128x512xbf16>):
    %2 = fact.matmul %a, %b transpose_b : (tensor<256x512xbf16>, tensor<128x512xbf16>) -> tensor<256x128xbf16>
    fact.yield %2 : tensor<256x128xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<256x128xbf16>
  %1 = fact.softmax %0 dim 1 : tensor<256x128xbf16>
  return %1 : tensor<256x128xbf16>
}
