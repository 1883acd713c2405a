// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t
// RUN: cmp %t/kernels/gemm_epilogue_0/0.cu %t/kernels/gemm_epilogue_1/0.cu
// RUN: FileCheck %s --input-file=%t/bundle.json
// RUN: not cmp %t/kernels/gemm_epilogue_0/0.cu %t/kernels/gemm_epilogue_2/0.cu

// One object serves products of all sizes with one epilogue and one tile; strides and swizzles are
// arguments too. Another layout is another kernel.

// CHECK:      "candidates"
// CHECK:      "sizes": [
// CHECK-NEXT:   512,
// CHECK-NEXT:   256,
// CHECK-NEXT:   128,
// CHECK-NEXT:   1,
// CHECK-NEXT:   128,
// CHECK:      "symbol": "[[SYMBOL:gemm_epilogue_[0-9a-f]+]]"
// CHECK:      "sizes": [
// CHECK-NEXT:   64,
// CHECK-NEXT:   1024,
// CHECK-NEXT:   72,
// CHECK-NEXT:   3,
// CHECK-NEXT:   72,
// CHECK-NEXT:   4608,
// CHECK:      "symbol": "[[SYMBOL]]"

#one = #fact.sm90_gemm_space<tile = [64x64x64], cluster = [1x1], kernel = [pingpong], swizzle = [1]>

func.func @main(%x: tensor<512x128xbf16>, %w: tensor<256x128xbf16>, %y: tensor<3x64x72xbf16>, %v: tensor<3x1024x72xbf16>, %u: tensor<128x256xbf16>) -> (tensor<512x256xbf16>, tensor<3x64x1024xbf16>, tensor<512x256xbf16>) {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x128xbf16>, tensor<256x128xbf16>) {
  ^bb0(%a: tensor<512x128xbf16>, %b: tensor<256x128xbf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<512x128xbf16>, tensor<256x128xbf16>) -> tensor<512x256xbf16>
    %2 = fact.relu %1 : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
    fact.yield %2 : tensor<512x256xbf16>
  } space(#one) : tensor<512x256xbf16>
  %3 = fact.fused "gemm_epilogue" ins(%y, %v : tensor<3x64x72xbf16>, tensor<3x1024x72xbf16>) {
  ^bb0(%a: tensor<3x64x72xbf16>, %b: tensor<3x1024x72xbf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<3x64x72xbf16>, tensor<3x1024x72xbf16>) -> tensor<3x64x1024xbf16>
    %2 = fact.relu %1 : (tensor<3x64x1024xbf16>) -> tensor<3x64x1024xbf16>
    fact.yield %2 : tensor<3x64x1024xbf16>
  } space(#one) : tensor<3x64x1024xbf16>
  %4 = fact.fused "gemm_epilogue" ins(%x, %u : tensor<512x128xbf16>, tensor<128x256xbf16>) {
  ^bb0(%a: tensor<512x128xbf16>, %b: tensor<128x256xbf16>):
    %1 = fact.matmul %a, %b : (tensor<512x128xbf16>, tensor<128x256xbf16>) -> tensor<512x256xbf16>
    %2 = fact.relu %1 : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
    fact.yield %2 : tensor<512x256xbf16>
  } space(#one) : tensor<512x256xbf16>
  return %0, %3, %4 : tensor<512x256xbf16>, tensor<3x64x1024xbf16>, tensor<512x256xbf16>
}
