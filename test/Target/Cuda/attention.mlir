// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s | FileCheck %s

// Packed QKV: three views of one buffer, and heads written back in place.

// CHECK:      #include "fact/cutlass/Attention.cuh"
// CHECK:      static constexpr float value = 1.020620726e-01f;
// CHECK:      using Kernel = Attention<
// CHECK-NEXT:     AttentionProblem<128, 8, 8, 512, 512, 96>,
// CHECK-NEXT:     Heads<0, bf16, 2304, 96, 1179648>, // query
// CHECK-NEXT:     Heads<0, bf16, 2304, 96, 1179648, 768>, // key
// CHECK-NEXT:     Heads<0, bf16, 2304, 96, 1179648, 1536>, // value
// CHECK-NEXT:     Heads<1, bf16, 768, 96, 393216>, // result
// CHECK-NEXT:     Causal,
// CHECK-NEXT:     Scale,
// CHECK-NEXT:     AttentionSchedule<128, 128, Cooperative, 4>>;
func.func @packed(%x: tensor<128x512x2304xbf16>) -> tensor<128x512x768xbf16> {
  %0 = fact.fused "attention" ins(%x : tensor<128x512x2304xbf16>) {
  ^bb0(%a: tensor<128x512x2304xbf16>):
    %q0 = fact.slice %a dim 2 start 0 : (tensor<128x512x2304xbf16>) -> tensor<128x512x768xbf16>
    %k0 = fact.slice %a dim 2 start 768 : (tensor<128x512x2304xbf16>) -> tensor<128x512x768xbf16>
    %v0 = fact.slice %a dim 2 start 1536 : (tensor<128x512x2304xbf16>) -> tensor<128x512x768xbf16>
    %q1 = fact.reshape %q0 : (tensor<128x512x768xbf16>) -> tensor<128x512x8x96xbf16>
    %k1 = fact.reshape %k0 : (tensor<128x512x768xbf16>) -> tensor<128x512x8x96xbf16>
    %v1 = fact.reshape %v0 : (tensor<128x512x768xbf16>) -> tensor<128x512x8x96xbf16>
    %q = fact.permute %q1 [0, 2, 1, 3] : (tensor<128x512x8x96xbf16>) -> tensor<128x8x512x96xbf16>
    %k = fact.permute %k1 [0, 2, 1, 3] : (tensor<128x512x8x96xbf16>) -> tensor<128x8x512x96xbf16>
    %v = fact.permute %v1 [0, 2, 1, 3] : (tensor<128x512x8x96xbf16>) -> tensor<128x8x512x96xbf16>
    %o = fact.attention %q, %k, %v causal scale 0.10206207261596577 : (tensor<128x8x512x96xbf16>, tensor<128x8x512x96xbf16>, tensor<128x8x512x96xbf16>) -> tensor<128x8x512x96xbf16>
    %p = fact.permute %o [0, 2, 1, 3] : (tensor<128x8x512x96xbf16>) -> tensor<128x512x8x96xbf16>
    %r = fact.reshape %p : (tensor<128x512x8x96xbf16>) -> tensor<128x512x768xbf16>
    fact.yield %r : tensor<128x512x768xbf16>
  } : tensor<128x512x768xbf16>
  return %0 : tensor<128x512x768xbf16>
}

// -----

// Grouped heads, full, plain layouts.

// CHECK:      AttentionProblem<2, 32, 8, 100, 200, 128>,
// CHECK-NEXT: Heads<0, f16, 128, 12800, 409600>, // query
// CHECK-NEXT: Heads<1, f16, 128, 25600, 204800>, // key
// CHECK-NEXT: Heads<2, f16, 128, 25600, 204800>, // value
// CHECK-NEXT: Heads<3, f16, 128, 12800, 409600>, // result
// CHECK-NEXT: Full,
func.func @grouped(%q: tensor<2x32x100x128xf16>, %k: tensor<2x8x200x128xf16>, %v: tensor<2x8x200x128xf16>) -> tensor<2x32x100x128xf16> {
  %0 = fact.fused "attention" ins(%q, %k, %v : tensor<2x32x100x128xf16>, tensor<2x8x200x128xf16>, tensor<2x8x200x128xf16>) {
  ^bb0(%a: tensor<2x32x100x128xf16>, %b: tensor<2x8x200x128xf16>, %c: tensor<2x8x200x128xf16>):
    %o = fact.attention %a, %b, %c scale 0.125 : (tensor<2x32x100x128xf16>, tensor<2x8x200x128xf16>, tensor<2x8x200x128xf16>) -> tensor<2x32x100x128xf16>
    fact.yield %o : tensor<2x32x100x128xf16>
  } : tensor<2x32x100x128xf16>
  return %0 : tensor<2x32x100x128xf16>
}

// -----

// A mask for each query and key, the same for all heads; and one for the keys of
// each batch, of which every second column is taken.

// CHECK:      Full,
// CHECK-NEXT: Scale,
// CHECK-NEXT: AttentionSchedule<{{.*}}>,
// CHECK-NEXT: Mask<1, f16, 0, 0, 24, 1>>;
func.func @mask(%q: tensor<2x2x24x64xf16>, %m: tensor<24x24xf16>) -> tensor<2x2x24x64xf16> {
  %0 = fact.fused "attention" ins(%q, %m : tensor<2x2x24x64xf16>, tensor<24x24xf16>) {
  ^bb0(%a: tensor<2x2x24x64xf16>, %b: tensor<24x24xf16>):
    %o = fact.attention %a, %a, %a mask %b scale 0.125 : (tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>, tensor<24x24xf16>) -> tensor<2x2x24x64xf16>
    fact.yield %o : tensor<2x2x24x64xf16>
  } : tensor<2x2x24x64xf16>
  return %0 : tensor<2x2x24x64xf16>
}

// -----

// CHECK:      Causal,
// CHECK:      Mask<1, f32, 48, 0, 0, 2, 1>>;
func.func @key_mask(%q: tensor<2x2x24x64xf16>, %m: tensor<2x1x1x48xf32>) -> tensor<2x2x24x64xf16> {
  %0 = fact.fused "attention" ins(%q, %m : tensor<2x2x24x64xf16>, tensor<2x1x1x48xf32>) {
  ^bb0(%a: tensor<2x2x24x64xf16>, %b: tensor<2x1x1x48xf32>):
    %c = fact.slice %b dim 3 start 1 step 2 : (tensor<2x1x1x48xf32>) -> tensor<2x1x1x24xf32>
    %o = fact.attention %a, %a, %a mask %c causal scale 0.125 : (tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>, tensor<2x1x1x24xf32>) -> tensor<2x2x24x64xf16>
    fact.yield %o : tensor<2x2x24x64xf16>
  } : tensor<2x2x24x64xf16>
  return %0 : tensor<2x2x24x64xf16>
}

