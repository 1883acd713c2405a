// RUN: rm -rf %t && mkdir %t
// RUN: fact-compile %s --target=h200 --until=bundle --bundle=%t/h200 --candidates=2 --alternatives=0
// RUN: FileCheck %s --input-file=%t/h200/bundle.json
// The bundle is accepted with them.
// RUN: fact-registry migrate %t/h200 --to %t/patterns
// One file serves both kernels, and has none of their epilogues.
// RUN: ls %t/h200/products | count 1
// RUN: cat %t/h200/products/*.cu | FileCheck %s --check-prefix=SOURCE --implicit-check-not=max --implicit-check-not=tanh
// Where an object serves one size, there are products on request.
// RUN: sed 's/ space(#space)//' %s > %t/host.mlir
// RUN: fact-compile %t/host.mlir --target=host --until=bundle --bundle=%t/host --candidates=2 --alternatives=0
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/host/bundle.json
// RUN: fact-compile %t/host.mlir --target=host --until=bundle --bundle=%t/asked --candidates=2 --alternatives=0 --products
// RUN: FileCheck %s --check-prefix=ASKED --input-file=%t/asked/bundle.json
// RUN: fact-registry migrate %t/asked --to %t/patterns

// CHECK-LABEL: "name": "gemm_epilogue_0",
// CHECK:      "product": {
// CHECK:        "key": "sm90_gemm<tile = 64x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>",
// CHECK-NEXT:   "predicted_us"
// CHECK-NEXT:   "sizes": [
// CHECK-NEXT:     512,
// CHECK-NEXT:     256,
// CHECK-NEXT:     128,
// CHECK:        "source": "products/[[SYMBOL:gemm_epilogue_[0-9a-f]+]].cu",
// CHECK-NEXT:   "symbol": "[[SYMBOL]]"
// CHECK:        "key": "sm90_gemm<tile = 64x64x64, cluster = 1x1, kernel = pingpong, swizzle = 2>",
// CHECK:      "operands": [
// CHECK-NEXT:   1,
// CHECK-NEXT:   2
// CHECK-NEXT: ],
// CHECK-NEXT: "result": {
// CHECK-NEXT:   "shape": [
// CHECK-NEXT:     512,
// CHECK-NEXT:     256
// CHECK-NEXT:   ],
// CHECK-NEXT:   "type": "bf16"
// CHECK-LABEL: "name": "gemm_epilogue_1",
// CHECK:      "product": {
// CHECK:        "source": "products/[[SYMBOL]].cu",
// A gate has two products, which its schedules are for.
// CHECK-LABEL: "name": "gated_gemm_2",
// CHECK-NOT:  "product": {

// SOURCE: Tile<64, 64, 64>
// NONE-NOT: "product": {
// ASKED: "product": {
// ASKED: "object": "products/gemm_epilogue_{{[0-9a-f_]+}}.o",

#space = #fact.sm90_gemm_space<tile = [64x64x64], cluster = [1x1], kernel = [pingpong], swizzle = [1, 2]>

func.func @main(%bias: tensor<256xbf16>, %x: tensor<512x128xbf16>, %w: tensor<256x128xbf16>, %y: tensor<128x72xbf16>, %v: tensor<1024x72xbf16>, %u: tensor<1024x72xbf16>) -> (tensor<512x256xbf16>, tensor<128x1024xbf16>, tensor<128x1024xbf16>) {
  %0 = fact.fused "gemm_epilogue" ins(%bias, %x, %w : tensor<256xbf16>, tensor<512x128xbf16>, tensor<256x128xbf16>) {
  ^bb0(%c: tensor<256xbf16>, %a: tensor<512x128xbf16>, %b: tensor<256x128xbf16>):
    %3 = fact.matmul %a, %b transpose_b : (tensor<512x128xbf16>, tensor<256x128xbf16>) -> tensor<512x256xbf16>
    %4 = fact.add %3, %c : (tensor<512x256xbf16>, tensor<256xbf16>) -> tensor<512x256xbf16>
    %5 = fact.relu %4 : (tensor<512x256xbf16>) -> tensor<512x256xbf16>
    fact.yield %5 : tensor<512x256xbf16>
  } space(#space) : tensor<512x256xbf16>
  %1 = fact.fused "gemm_epilogue" ins(%y, %v : tensor<128x72xbf16>, tensor<1024x72xbf16>) {
  ^bb0(%a: tensor<128x72xbf16>, %b: tensor<1024x72xbf16>):
    %3 = fact.matmul %a, %b transpose_b : (tensor<128x72xbf16>, tensor<1024x72xbf16>) -> tensor<128x1024xbf16>
    %4 = fact.tanh %3 : (tensor<128x1024xbf16>) -> tensor<128x1024xbf16>
    fact.yield %4 : tensor<128x1024xbf16>
  } space(#space) : tensor<128x1024xbf16>
  %2 = fact.fused "gated_gemm" ins(%y, %v, %u : tensor<128x72xbf16>, tensor<1024x72xbf16>, tensor<1024x72xbf16>) {
  ^bb0(%a: tensor<128x72xbf16>, %b: tensor<1024x72xbf16>, %c: tensor<1024x72xbf16>):
    %3 = fact.matmul %a, %b transpose_b : (tensor<128x72xbf16>, tensor<1024x72xbf16>) -> tensor<128x1024xbf16>
    %4 = fact.silu %3 : (tensor<128x1024xbf16>) -> tensor<128x1024xbf16>
    %5 = fact.matmul %a, %c transpose_b : (tensor<128x72xbf16>, tensor<1024x72xbf16>) -> tensor<128x1024xbf16>
    %6 = fact.mul %4, %5 : (tensor<128x1024xbf16>, tensor<128x1024xbf16>) -> tensor<128x1024xbf16>
    fact.yield %6 : tensor<128x1024xbf16>
  } : tensor<128x1024xbf16>
  return %0, %1, %2 : tensor<512x256xbf16>, tensor<128x1024xbf16>, tensor<128x1024xbf16>
}
