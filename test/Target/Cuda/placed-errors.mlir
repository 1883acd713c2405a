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

// TMA would write the five columns behind the product, which are another
// kernel's.
func.func @shared_unit(%x: tensor<512x64xbf16>, %w: tensor<64x520xbf16>) -> tensor<512x1040xbf16> {
  // expected-error @below {{stores units of 16 bytes by TMA, and rows of 'bf16' end within a unit whose rest is not marked as unused (fact.unused)}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x64xbf16>, tensor<64x520xbf16>) {
  ^bb0(%a: tensor<512x64xbf16>, %b: tensor<64x520xbf16>):
    %s = fact.slice %b dim 1 start 0 : (tensor<64x520xbf16>) -> tensor<64x515xbf16>
    %m = fact.matmul %a, %s : (tensor<512x64xbf16>, tensor<64x515xbf16>) -> tensor<512x515xbf16>
    %y = fact.relu %m : (tensor<512x515xbf16>) -> tensor<512x515xbf16>
    %p = ub.poison : tensor<512x525xbf16>
    %c = fact.concat %y, %p dim 1 : (tensor<512x515xbf16>, tensor<512x525xbf16>) -> tensor<512x1040xbf16>
    fact.yield %c : tensor<512x1040xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<512x1040xbf16>
  return %r : tensor<512x1040xbf16>
}
