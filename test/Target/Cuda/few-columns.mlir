// Rows that are fewer than multiprocessors are shared by blocks.

// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1
// RUN: FileCheck %s < %t/bundle.json

// CHECK: "key": "cuda_reduction<columns = 1, lanes = 512, splits = 4, operands = read>"
func.func @images(%x: tensor<32x3x384x384xbf16>) -> tensor<32xbf16> {
  %0 = fact.fused "reduction" ins(%x : tensor<32x3x384x384xbf16>) {
  ^bb0(%a: tensor<32x3x384x384xbf16>):
    %r = fact.slice %a dim 1 start 0 : (tensor<32x3x384x384xbf16>) -> tensor<32x1x384x384xbf16>
    %b = fact.slice %a dim 1 start 2 : (tensor<32x3x384x384xbf16>) -> tensor<32x1x384x384xbf16>
    %1 = fact.sub %r, %b : (tensor<32x1x384x384xbf16>, tensor<32x1x384x384xbf16>) -> tensor<32x1x384x384xbf16>
    %2 = fact.reduce mean %1 dims [1, 2, 3] : (tensor<32x1x384x384xbf16>) -> tensor<32xbf16>
    fact.yield %2 : tensor<32xbf16>
  } : tensor<32xbf16>
  return %0 : tensor<32xbf16>
}
