// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s | FileCheck %s

// On an A100: packed queries, keys and values.

// CHECK:      #include "fact/cutlass/Sm80Attention.cuh"
// CHECK:      static constexpr float value = 1.020620726e-01f;
// CHECK:      using Kernel = sm80::Attention<
// CHECK-NEXT:     sm80::AttentionProblem<16, 8, 8, 512, 512, 96, 96>,
// CHECK-NEXT:     sm80::Heads<0, bf16, 1179648, 96, 2304, 1>, // query
// CHECK-NEXT:     sm80::Heads<0, bf16, 1179648, 96, 2304, 1, 768>, // key
// CHECK-NEXT:     sm80::Heads<0, bf16, 1179648, 96, 2304, 1, 1536>, // value
// CHECK-NEXT:     sm80::Heads<1, bf16, 393216, 96, 768, 1>, // result
// CHECK-NEXT:     sm80::Causal, sm80::Strict, Scale,
// CHECK-NEXT:     sm80::AttentionSchedule<{{.*}}, 1>>;
module attributes {fact.target = #fact.machine<"a100">} {
  func.func @packed(%x: tensor<16x512x2304xbf16>) -> tensor<16x512x768xbf16> {
    %0 = fact.fused "attention" ins(%x : tensor<16x512x2304xbf16>) {
    ^bb0(%a: tensor<16x512x2304xbf16>):
      %q0 = fact.slice %a dim 2 start 0 : (tensor<16x512x2304xbf16>) -> tensor<16x512x768xbf16>
      %k0 = fact.slice %a dim 2 start 768 : (tensor<16x512x2304xbf16>) -> tensor<16x512x768xbf16>
      %v0 = fact.slice %a dim 2 start 1536 : (tensor<16x512x2304xbf16>) -> tensor<16x512x768xbf16>
      %q1 = fact.reshape %q0 : (tensor<16x512x768xbf16>) -> tensor<16x512x8x96xbf16>
      %k1 = fact.reshape %k0 : (tensor<16x512x768xbf16>) -> tensor<16x512x8x96xbf16>
      %v1 = fact.reshape %v0 : (tensor<16x512x768xbf16>) -> tensor<16x512x8x96xbf16>
      %q = fact.permute %q1 [0, 2, 1, 3] : (tensor<16x512x8x96xbf16>) -> tensor<16x8x512x96xbf16>
      %k = fact.permute %k1 [0, 2, 1, 3] : (tensor<16x512x8x96xbf16>) -> tensor<16x8x512x96xbf16>
      %v = fact.permute %v1 [0, 2, 1, 3] : (tensor<16x512x8x96xbf16>) -> tensor<16x8x512x96xbf16>
      %o = fact.attention %q, %k, %v causal scale 0.10206207261596577 : (tensor<16x8x512x96xbf16>, tensor<16x8x512x96xbf16>, tensor<16x8x512x96xbf16>) -> tensor<16x8x512x96xbf16>
      %p = fact.permute %o [0, 2, 1, 3] : (tensor<16x8x512x96xbf16>) -> tensor<16x512x8x96xbf16>
      %r = fact.reshape %p : (tensor<16x512x8x96xbf16>) -> tensor<16x512x768xbf16>
      fact.yield %r : tensor<16x512x768xbf16>
    } : tensor<16x512x768xbf16>
    return %0 : tensor<16x512x768xbf16>
  }
}

// -----

// What the Hopper kernel refuses: f32 with values of another width and keys in
// columns, in TF32, and a mask.

// CHECK:      sm80::AttentionProblem<2, 4, 2, 100, 60, 36, 20>,
// CHECK-NEXT: sm80::Heads<0, f32, 14400, 3600, 36, 1>, // query
// CHECK-NEXT: sm80::Heads<1, f32, 4320, 2160, 1, 60>, // key
// CHECK-NEXT: sm80::Heads<2, f32, 2400, 1200, 20, 1>, // value
// CHECK-NEXT: sm80::Heads<4, f32, 8000, 2000, 20, 1>, // result
// CHECK-NEXT: sm80::Full, sm80::AllowTf32, Scale,
// CHECK-NEXT: sm80::AttentionSchedule<{{.*}}>,
// CHECK-NEXT: sm80::Mask<3, bf16, 60, 0, 0, 1>>;
func.func @f32(%q: tensor<2x4x100x36xf32>, %k: tensor<2x2x36x60xf32>, %v: tensor<2x2x60x20xf32>, %m: tensor<2x1x1x60xbf16>) -> tensor<2x4x100x20xf32> {
  %0 = fact.fused "attention" ins(%q, %k, %v, %m : tensor<2x4x100x36xf32>, tensor<2x2x36x60xf32>, tensor<2x2x60x20xf32>, tensor<2x1x1x60xbf16>) {
  ^bb0(%a: tensor<2x4x100x36xf32>, %b: tensor<2x2x36x60xf32>, %c: tensor<2x2x60x20xf32>, %d: tensor<2x1x1x60xbf16>):
    %t = fact.permute %b [0, 1, 3, 2] : (tensor<2x2x36x60xf32>) -> tensor<2x2x60x36xf32>
    %o = fact.attention %a, %t, %c mask %d scale 0.125 tf32 : (tensor<2x4x100x36xf32>, tensor<2x2x60x36xf32>, tensor<2x2x60x20xf32>, tensor<2x1x1x60xbf16>) -> tensor<2x4x100x20xf32>
    fact.yield %o : tensor<2x4x100x20xf32>
  } : tensor<2x4x100x20xf32>
  return %0 : tensor<2x4x100x20xf32>
}

// -----

// One query with a long cache: the heads of a group are one tile, and blocks
// split the keys. The strides of one batch and one query do not restrict how
// rows are copied.

// CHECK:      sm80::AttentionProblem<1, 32, 8, 1, 4096, 128, 128>,
// CHECK-NEXT: sm80::Heads<0, bf16, 0, 128, 0, 1>, // query
// CHECK:      sm80::Full, sm80::Strict, Scale,
// CHECK-NEXT: sm80::AttentionSchedule<16, {{[0-9]+}}, 1, 2, {{[1-9][0-9]+}}>>;
func.func @decode(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x4096x128xbf16>, %v: tensor<1x8x4096x128xbf16>) -> tensor<1x32x1x128xbf16> {
  %0 = fact.fused "attention" ins(%q, %k, %v : tensor<1x32x1x128xbf16>, tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>) {
  ^bb0(%a: tensor<1x32x1x128xbf16>, %b: tensor<1x8x4096x128xbf16>, %c: tensor<1x8x4096x128xbf16>):
    %o = fact.attention %a, %b, %c scale 0.088 : (tensor<1x32x1x128xbf16>, tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>) -> tensor<1x32x1x128xbf16>
    fact.yield %o : tensor<1x32x1x128xbf16>
  } : tensor<1x32x1x128xbf16>
  return %0 : tensor<1x32x1x128xbf16>
}
