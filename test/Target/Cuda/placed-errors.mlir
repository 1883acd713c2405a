// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

// TMA writes rows that begin at multiples of 16 bytes.
func.func @unaligned(%x: tensor<512x64xbf16>, %w: tensor<64x128xbf16>) -> tensor<512x136xbf16> {
  // expected-error @below {{strides and offset of a result}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x64xbf16>, tensor<64x128xbf16>) {
  ^bb0(%a: tensor<512x64xbf16>, %b: tensor<64x128xbf16>):
    %m = fact.matmul %a, %b : (tensor<512x64xbf16>, tensor<64x128xbf16>) -> tensor<512x128xbf16>
    %p = ub.poison : tensor<512x4xbf16>
    %c = fact.concat %p, %m, %p dim 1 : (tensor<512x4xbf16>, tensor<512x128xbf16>, tensor<512x4xbf16>) -> tensor<512x136xbf16>
    fact.yield %c : tensor<512x136xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<512x136xbf16>
  return %r : tensor<512x136xbf16>
}

// -----

func.func @generic(%x: tensor<5x3xf32>) -> tensor<5x11xf32> {
  // expected-error @below {{writes whole results, and one is a part of its buffer}}
  %r = fact.fused "generic" ins(%x : tensor<5x3xf32>) {
  ^bb0(%a: tensor<5x3xf32>):
    %p = ub.poison : tensor<5x8xf32>
    %c = fact.concat %p, %a dim 1 : (tensor<5x8xf32>, tensor<5x3xf32>) -> tensor<5x11xf32>
    fact.yield %c : tensor<5x11xf32>
  } : tensor<5x11xf32>
  return %r : tensor<5x11xf32>
}
