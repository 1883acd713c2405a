// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

func.func @swizzled(%x: tensor<456x200xbf16>) -> tensor<456x456xbf16> {
  // expected-error @below {{tiles of bands have an order of their own: swizzle must be 1, not 4}}
  %r = fact.fused "gemm_epilogue" ins(%x : tensor<456x200xbf16>) {
  ^bb0(%a: tensor<456x200xbf16>):
    %1 = fact.matmul %a, %a transpose_b : (tensor<456x200xbf16>, tensor<456x200xbf16>) -> tensor<456x456xbf16>
    fact.yield %1 : tensor<456x456xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = cooperative, swizzle = 4>) : tensor<456x456xbf16>
  return %r : tensor<456x456xbf16>
}
