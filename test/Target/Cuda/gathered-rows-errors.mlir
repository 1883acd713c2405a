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

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// The elements of each row in another order.
func.func @sorted(%x: tensor<524288xf32>, %at: tensor<512x1024xi64>) -> tensor<512xf32> {
  // expected-error @+1 {{gathers neighbors one by one, which is as fast in a kernel of its own}}
  %0 = fact.fused "reduction" ins(%x, %at : tensor<524288xf32>, tensor<512x1024xi64>) {
  ^bb0(%a: tensor<524288xf32>, %i: tensor<512x1024xi64>):
    %1 = fact.gather %a, %i dim 0 : (tensor<524288xf32>, tensor<512x1024xi64>) -> tensor<512x1024xf32>
    %2 = fact.reduce sum %1 dims [1] : (tensor<512x1024xf32>) -> tensor<512xf32>
    fact.yield %2 : tensor<512xf32>
  } : tensor<512xf32>
  return %0 : tensor<512xf32>
}
}
