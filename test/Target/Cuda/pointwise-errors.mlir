// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"h200">} {
func.func @straight(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{no operand is transposed: use cuda_pointwise}}
  %0 = fact.fused "pointwise" ins(%x : tensor<64x64xf32>) {
  ^bb0(%a: tensor<64x64xf32>):
    %1 = fact.relu %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
    fact.yield %1 : tensor<64x64xf32>
  } schedule(#fact.cuda_tile<rows = 32, columns = 32, threads = 256>) : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @large(%x: tensor<512x512xf64>) -> tensor<512x512xf64> {
  // expected-error @+1 {{a thread loads at most 256 bytes of its tile, not 512}}
  %0 = fact.fused "pointwise" ins(%x : tensor<512x512xf64>) {
  ^bb0(%a: tensor<512x512xf64>):
    %1 = fact.permute %a [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    fact.yield %1 : tensor<512x512xf64>
  } schedule(#fact.cuda_tile<rows = 128, columns = 128, threads = 256>) : tensor<512x512xf64>
  return %0 : tensor<512x512xf64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @warps(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{a row has whole warps or a power of two of a warp's threads, not 48}}
  %0 = fact.fused "rowwise" ins(%x : tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>):
    %1 = fact.softmax %a dim 1 : tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } schedule(#fact.cuda_row<threads = 48, rows = 2>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @block(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{a block has whole warps, not 2 rows of 8 threads}}
  %0 = fact.fused "rowwise" ins(%x : tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>):
    %1 = fact.softmax %a dim 1 : tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } schedule(#fact.cuda_row<threads = 8, rows = 2>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
}
