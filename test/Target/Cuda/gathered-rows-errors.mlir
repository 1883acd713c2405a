// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"h200">} {
// The rows that are chosen by their largest elements are not known while those
// are found.
func.func @chosen(%x: tensor<512x64xf32>, %table: tensor<64x64xf32>) -> tensor<512xf32> {
  // expected-error @+1 {{a reduction decides where an operand is gathered from, which is read before it}}
  %0 = fact.fused "reduction" ins(%x, %table : tensor<512x64xf32>, tensor<64x64xf32>) {
  ^bb0(%a: tensor<512x64xf32>, %t: tensor<64x64xf32>):
    %1 = fact.reduce argmax %a dims [1] : (tensor<512x64xf32>) -> tensor<512xi64>
    %2 = fact.gather %t, %1 dim 0 : (tensor<64x64xf32>, tensor<512xi64>) -> tensor<512x64xf32>
    %3 = fact.reduce sum %2 dims [1] : (tensor<512x64xf32>) -> tensor<512xf32>
    fact.yield %3 : tensor<512xf32>
  } : tensor<512xf32>
  return %0 : tensor<512xf32>
}
}
