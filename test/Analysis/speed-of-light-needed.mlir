// RUN: fact-translate --fact-to-sol --sol-target=h200 %s | FileCheck %s

// Only what is needed counts, so that no kernel is faster. Unit tests count
// element by element; these are sizes as models have them.

// Query i sees keys 0..i: four of 60,000. 2 * 8 * 4 * 64 elements of queries and
// results, 2 * 8 * 4 * 64 of keys and values, of four bytes.
// CHECK: attention {{ *}}1x8x4x64xf32 {{ *}}0.000 {{ *}}0.000 {{ *}}0.033
func.func @few_queries(%q: tensor<1x8x4x64xf32>, %k: tensor<1x8x60000x64xf32>, %v: tensor<1x8x60000x64xf32>) -> tensor<1x8x4x64xf32> {
  %0 = fact.attention %q, %k, %v causal scale 0.125 : (tensor<1x8x4x64xf32>, tensor<1x8x60000x64xf32>, tensor<1x8x60000x64xf32>) -> tensor<1x8x4x64xf32>
  return %0 : tensor<1x8x4x64xf32>
}

// 1,024 queries see 128 keys but for the first 127: 8 * 4 * 64 * (1024 * 128 -
// 127 * 64) flops.
// CHECK: attention {{ *}}1x8x1024x64xf32 {{ *}}0.252 {{ *}}0.000 {{ *}}4.719
func.func @few_keys(%q: tensor<1x8x1024x64xf32>, %k: tensor<1x8x128x64xf32>, %v: tensor<1x8x128x64xf32>) -> tensor<1x8x1024x64xf32> {
  %0 = fact.attention %q, %k, %v causal scale 0.125 : (tensor<1x8x1024x64xf32>, tensor<1x8x128x64xf32>, tensor<1x8x128x64xf32>) -> tensor<1x8x1024x64xf32>
  return %0 : tensor<1x8x1024x64xf32>
}

// The last token of 1,024: 64 rows of 512 are read, and as many written.
// CHECK: pointwise: exp {{ *}}64x1x512xf32 {{ *}}0.000 {{ *}}0.000 {{ *}}0.262
func.func @last_token(%x: tensor<64x1024x512xf32>) -> tensor<64x1x512xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<64x1024x512xf32>) {
  ^bb0(%a: tensor<64x1024x512xf32>):
    %1 = fact.exp %a : (tensor<64x1024x512xf32>) -> tensor<64x1024x512xf32>
    %2 = fact.slice %1 dim 1 start 1023 : (tensor<64x1024x512xf32>) -> tensor<64x1x512xf32>
    fact.yield %2 : tensor<64x1x512xf32>
  } : tensor<64x1x512xf32>
  return %0 : tensor<64x1x512xf32>
}

// An embedding: 1,024 rows of 768 are written, those that are named read (some
// twice: 1013 of 50,000), and eight bytes for each index.
// CHECK: gather {{ *}}1024x768xbf16 {{ *}}0.000 {{ *}}0.000 {{ *}}3.137
func.func @embedding(%t: tensor<50000x768xbf16>, %i: tensor<1024xi64>) -> tensor<1024x768xbf16> {
  %0 = fact.gather %t, %i dim 0 : (tensor<50000x768xbf16>, tensor<1024xi64>) -> tensor<1024x768xbf16>
  return %0 : tensor<1024x768xbf16>
}

// Two slices of one tensor that overlap are read once: all of it.
// CHECK: pointwise: mul {{ *}}1024x600xf32 {{ *}}0.000 {{ *}}0.001 {{ *}}6.554
func.func @overlap(%x: tensor<1024x1000xf32>) -> tensor<1024x600xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<1024x1000xf32>) {
  ^bb0(%a: tensor<1024x1000xf32>):
    %1 = fact.slice %a dim 1 start 0 : (tensor<1024x1000xf32>) -> tensor<1024x600xf32>
    %2 = fact.slice %a dim 1 start 400 : (tensor<1024x1000xf32>) -> tensor<1024x600xf32>
    %3 = fact.mul %1, %2 : (tensor<1024x600xf32>, tensor<1024x600xf32>) -> tensor<1024x600xf32>
    fact.yield %3 : tensor<1024x600xf32>
  } : tensor<1024x600xf32>
  return %0 : tensor<1024x600xf32>
}
