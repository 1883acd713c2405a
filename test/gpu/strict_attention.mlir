// Attention of strict f32 by wgmma; test_families.py lets fact-tune check the kernels against their
// references.

module @strict_attention attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0: tensor<2x8x100x128xf32>, %x1: tensor<2x2x300x128xf32>, %x2: tensor<2x2x300x128xf32>, %x3: tensor<2x8x100x128xf32>, %x4: tensor<2x2x300x128xf32>, %x5: tensor<2x2x300x128xf32>, %x6: tensor<2x8x100x128xf32>, %x7: tensor<2x2x300x128xf32>, %x8: tensor<2x2x300x128xf32>, %x9: tensor<1x2x500x64xf32>, %x10: tensor<1x2x1000x64xf32>, %x11: tensor<1x2x1000x64xf32>, %x12: tensor<1x2x500x64xf32>, %x13: tensor<1x1x500x64xf32>, %x14: tensor<1x1x500x64xf32>, %x15: tensor<1x2x300x40xf32>, %x16: tensor<1x2x90x40xf32>, %x17: tensor<1x2x90x64xf32>, %x18: tensor<1x3x70x17xf32>, %x19: tensor<1x3x50x17xf32>, %x20: tensor<1x3x50x19xf32>, %x21: tensor<2x2x140x80xf32>, %x22: tensor<2x2x170x80xf32>, %x23: tensor<2x2x170x96xf32>, %x24: tensor<140x170xf32>, %x25: tensor<2x4x70x32xf32>, %x26: tensor<2x2x71x32xf32>, %x27: tensor<2x2x71x32xf32>, %x28: tensor<2x1x1x71xf32>, %x29: tensor<1x4x100x64xf32>, %x30: tensor<1x4x100x64xf32>, %x31: tensor<1x4x100x64xf32>, %x32: tensor<4x100x100xf32>, %x33: tensor<1x2x100x64xf32>, %x34: tensor<1x2x150x64xf32>, %x35: tensor<1x2x150x72xf32>, %x36: tensor<1x4x20x128xf32>, %x37: tensor<1x1x500x128xf32>, %x38: tensor<1x1x500x128xf32>, %x39: tensor<1x1x300x64xf32>, %x40: tensor<1x1x300x64xf32>, %x41: tensor<1x1x300x64xf32>, %x42: tensor<300x300xf32>, %x43: tensor<2x2x70x64xf32>, %x44: tensor<2x2x64x50xf32>, %x45: tensor<2x2x64x50xf32>, %x46: tensor<2x70x576xf32>, %x47: tensor<2x70x576xf32>, %x48: tensor<2x70x576xf32>, %x49: tensor<1x4x100x256xf32>, %x50: tensor<1x2x300x256xf32>, %x51: tensor<1x2x300x256xf32>, %x52: tensor<2x2x200x160xf32>, %x53: tensor<2x2x200x160xf32>, %x54: tensor<2x2x200x160xf32>, %x55: tensor<1x2x70x180xf32>, %x56: tensor<1x2x150x180xf32>, %x57: tensor<1x2x150x130xf32>, %x58: tensor<1x2x140x72xf32>, %x59: tensor<1x2x90x72xf32>, %x60: tensor<1x2x90x256xf32>) -> (tensor<2x8x100x128xf32>, tensor<2x8x100x128xf32>, tensor<2x8x100x128xf32>, tensor<1x2x500x64xf32>, tensor<1x2x500x64xf32>, tensor<1x2x300x64xf32>, tensor<1x3x70x19xf32>, tensor<2x2x140x96xf32>, tensor<2x4x70x32xf32>, tensor<1x4x100x64xf32>, tensor<1x2x100x72xf32>, tensor<1x4x20x128xf32>, tensor<1x1x300x64xf32>, tensor<2x2x70x64xf32>, tensor<2x70x192xf32>, tensor<1x4x100x256xf32>, tensor<2x2x200x160xf32>, tensor<1x2x70x130xf32>, tensor<1x2x140x256xf32>) {
    // Heads of 128 that share heads of keys, with a rest of queries and of keys.
    %r0 = fact.fused "attention" ins(%x0, %x1, %x2 : tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) {
    ^bb0(%a0: tensor<2x8x100x128xf32>, %a1: tensor<2x2x300x128xf32>, %a2: tensor<2x2x300x128xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) -> tensor<2x8x100x128xf32>
      fact.yield %o : tensor<2x8x100x128xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 1>) : tensor<2x8x100x128xf32>
    // The same in tiles of 32 keys and two stages.
    %r1 = fact.fused "attention" ins(%x3, %x4, %x5 : tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) {
    ^bb0(%a0: tensor<2x8x100x128xf32>, %a1: tensor<2x2x300x128xf32>, %a2: tensor<2x2x300x128xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) -> tensor<2x8x100x128xf32>
      fact.yield %o : tensor<2x8x100x128xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 2, splits = 1>) : tensor<2x8x100x128xf32>
    // The same in one warpgroup.
    %r2 = fact.fused "attention" ins(%x6, %x7, %x8 : tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) {
    ^bb0(%a0: tensor<2x8x100x128xf32>, %a1: tensor<2x2x300x128xf32>, %a2: tensor<2x2x300x128xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<2x8x100x128xf32>, tensor<2x2x300x128xf32>, tensor<2x2x300x128xf32>) -> tensor<2x8x100x128xf32>
      fact.yield %o : tensor<2x8x100x128xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x64, stages = 1, splits = 1>) : tensor<2x8x100x128xf32>
    // Stages that are filled many times, under a causal mask.
    %r3 = fact.fused "attention" ins(%x9, %x10, %x11 : tensor<1x2x500x64xf32>, tensor<1x2x1000x64xf32>, tensor<1x2x1000x64xf32>) {
    ^bb0(%a0: tensor<1x2x500x64xf32>, %a1: tensor<1x2x1000x64xf32>, %a2: tensor<1x2x1000x64xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x500x64xf32>, tensor<1x2x1000x64xf32>, tensor<1x2x1000x64xf32>) -> tensor<1x2x500x64xf32>
      fact.yield %o : tensor<1x2x500x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 2, splits = 1>) : tensor<1x2x500x64xf32>
    // Three stages of 32 keys.
    %r4 = fact.fused "attention" ins(%x12, %x13, %x14 : tensor<1x2x500x64xf32>, tensor<1x1x500x64xf32>, tensor<1x1x500x64xf32>) {
    ^bb0(%a0: tensor<1x2x500x64xf32>, %a1: tensor<1x1x500x64xf32>, %a2: tensor<1x1x500x64xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x500x64xf32>, tensor<1x1x500x64xf32>, tensor<1x1x500x64xf32>) -> tensor<1x2x500x64xf32>
      fact.yield %o : tensor<1x2x500x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 3, splits = 1>) : tensor<1x2x500x64xf32>
    // More queries than keys under a causal mask.
    %r5 = fact.fused "attention" ins(%x15, %x16, %x17 : tensor<1x2x300x40xf32>, tensor<1x2x90x40xf32>, tensor<1x2x90x64xf32>) {
    ^bb0(%a0: tensor<1x2x300x40xf32>, %a1: tensor<1x2x90x40xf32>, %a2: tensor<1x2x90x64xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x300x40xf32>, tensor<1x2x90x40xf32>, tensor<1x2x90x64xf32>) -> tensor<1x2x300x64xf32>
      fact.yield %o : tensor<1x2x300x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 1>) : tensor<1x2x300x64xf32>
    // Odd heads: elements are loaded and stored one by one.
    %r6 = fact.fused "attention" ins(%x18, %x19, %x20 : tensor<1x3x70x17xf32>, tensor<1x3x50x17xf32>, tensor<1x3x50x19xf32>) {
    ^bb0(%a0: tensor<1x3x70x17xf32>, %a1: tensor<1x3x50x17xf32>, %a2: tensor<1x3x50x19xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x3x70x17xf32>, tensor<1x3x50x17xf32>, tensor<1x3x50x19xf32>) -> tensor<1x3x70x19xf32>
      fact.yield %o : tensor<1x3x70x19xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x32, stages = 2, splits = 1>) : tensor<1x3x70x19xf32>
    // A mask of each query and key, and values of 96.
    %r7 = fact.fused "attention" ins(%x21, %x22, %x23, %x24 : tensor<2x2x140x80xf32>, tensor<2x2x170x80xf32>, tensor<2x2x170x96xf32>, tensor<140x170xf32>) {
    ^bb0(%a0: tensor<2x2x140x80xf32>, %a1: tensor<2x2x170x80xf32>, %a2: tensor<2x2x170x96xf32>, %a3: tensor<140x170xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<2x2x140x80xf32>, tensor<2x2x170x80xf32>, tensor<2x2x170x96xf32>, tensor<140x170xf32>) -> tensor<2x2x140x96xf32>
      fact.yield %o : tensor<2x2x140x96xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 1>) : tensor<2x2x140x96xf32>
    // A mask of the keys of each batch, under a causal one.
    %r8 = fact.fused "attention" ins(%x25, %x26, %x27, %x28 : tensor<2x4x70x32xf32>, tensor<2x2x71x32xf32>, tensor<2x2x71x32xf32>, tensor<2x1x1x71xf32>) {
    ^bb0(%a0: tensor<2x4x70x32xf32>, %a1: tensor<2x2x71x32xf32>, %a2: tensor<2x2x71x32xf32>, %a3: tensor<2x1x1x71xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 causal scale 0.125 : (tensor<2x4x70x32xf32>, tensor<2x2x71x32xf32>, tensor<2x2x71x32xf32>, tensor<2x1x1x71xf32>) -> tensor<2x4x70x32xf32>
      fact.yield %o : tensor<2x4x70x32xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 4, splits = 1>) : tensor<2x4x70x32xf32>
    // A mask of each head.
    %r9 = fact.fused "attention" ins(%x29, %x30, %x31, %x32 : tensor<1x4x100x64xf32>, tensor<1x4x100x64xf32>, tensor<1x4x100x64xf32>, tensor<4x100x100xf32>) {
    ^bb0(%a0: tensor<1x4x100x64xf32>, %a1: tensor<1x4x100x64xf32>, %a2: tensor<1x4x100x64xf32>, %a3: tensor<4x100x100xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<1x4x100x64xf32>, tensor<1x4x100x64xf32>, tensor<1x4x100x64xf32>, tensor<4x100x100xf32>) -> tensor<1x4x100x64xf32>
      fact.yield %o : tensor<1x4x100x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x64, stages = 2, splits = 1>) : tensor<1x4x100x64xf32>
    // A negative scale, and values of 72.
    %r10 = fact.fused "attention" ins(%x33, %x34, %x35 : tensor<1x2x100x64xf32>, tensor<1x2x150x64xf32>, tensor<1x2x150x72xf32>) {
    ^bb0(%a0: tensor<1x2x100x64xf32>, %a1: tensor<1x2x150x64xf32>, %a2: tensor<1x2x150x72xf32>):
      %o = fact.attention %a0, %a1, %a2 scale -0.25 : (tensor<1x2x100x64xf32>, tensor<1x2x150x64xf32>, tensor<1x2x150x72xf32>) -> tensor<1x2x100x72xf32>
      fact.yield %o : tensor<1x2x100x72xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 1>) : tensor<1x2x100x72xf32>
    // Keys that three blocks split.
    %r11 = fact.fused "attention" ins(%x36, %x37, %x38 : tensor<1x4x20x128xf32>, tensor<1x1x500x128xf32>, tensor<1x1x500x128xf32>) {
    ^bb0(%a0: tensor<1x4x20x128xf32>, %a1: tensor<1x1x500x128xf32>, %a2: tensor<1x1x500x128xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x4x20x128xf32>, tensor<1x1x500x128xf32>, tensor<1x1x500x128xf32>) -> tensor<1x4x20x128xf32>
      fact.yield %o : tensor<1x4x20x128xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x64, stages = 1, splits = 3>) : tensor<1x4x20x128xf32>
    // Keys that eight blocks split, with a mask, under a causal one: some see none.
    %r12 = fact.fused "attention" ins(%x39, %x40, %x41, %x42 : tensor<1x1x300x64xf32>, tensor<1x1x300x64xf32>, tensor<1x1x300x64xf32>, tensor<300x300xf32>) {
    ^bb0(%a0: tensor<1x1x300x64xf32>, %a1: tensor<1x1x300x64xf32>, %a2: tensor<1x1x300x64xf32>, %a3: tensor<300x300xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 causal scale 0.125 : (tensor<1x1x300x64xf32>, tensor<1x1x300x64xf32>, tensor<1x1x300x64xf32>, tensor<300x300xf32>) -> tensor<1x1x300x64xf32>
      fact.yield %o : tensor<1x1x300x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 2, splits = 8>) : tensor<1x1x300x64xf32>
    // Keys and values in columns.
    %r13 = fact.fused "attention" ins(%x43, %x44, %x45 : tensor<2x2x70x64xf32>, tensor<2x2x64x50xf32>, tensor<2x2x64x50xf32>) {
    ^bb0(%a0: tensor<2x2x70x64xf32>, %a1: tensor<2x2x64x50xf32>, %a2: tensor<2x2x64x50xf32>):
      %v1 = fact.permute %a1 [0, 1, 3, 2] : (tensor<2x2x64x50xf32>) -> tensor<2x2x50x64xf32>
      %v2 = fact.permute %a2 [0, 1, 3, 2] : (tensor<2x2x64x50xf32>) -> tensor<2x2x50x64xf32>
      %o = fact.attention %a0, %v1, %v2 scale 0.125 : (tensor<2x2x70x64xf32>, tensor<2x2x50x64xf32>, tensor<2x2x50x64xf32>) -> tensor<2x2x70x64xf32>
      fact.yield %o : tensor<2x2x70x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 2, splits = 1>) : tensor<2x2x70x64xf32>
    // Packed queries, keys and values, and heads written back in place.
    %r14 = fact.fused "attention" ins(%x46, %x47, %x48 : tensor<2x70x576xf32>, tensor<2x70x576xf32>, tensor<2x70x576xf32>) {
    ^bb0(%a0: tensor<2x70x576xf32>, %a1: tensor<2x70x576xf32>, %a2: tensor<2x70x576xf32>):
      %s0 = fact.slice %a0 dim 2 start 0 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %h0 = fact.reshape %s0 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v0 = fact.permute %h0 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %s1 = fact.slice %a1 dim 2 start 192 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %h1 = fact.reshape %s1 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v1 = fact.permute %h1 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %s2 = fact.slice %a2 dim 2 start 384 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %h2 = fact.reshape %s2 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v2 = fact.permute %h2 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %o = fact.attention %v0, %v1, %v2 causal scale 0.125 : (tensor<2x2x70x96xf32>, tensor<2x2x70x96xf32>, tensor<2x2x70x96xf32>) -> tensor<2x2x70x96xf32>
      %p0 = fact.permute %o [0, 2, 1, 3] : (tensor<2x2x70x96xf32>) -> tensor<2x70x2x96xf32>
      %p1 = fact.reshape %p0 : (tensor<2x70x2x96xf32>) -> tensor<2x70x192xf32>
      fact.yield %p1 : tensor<2x70x192xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 1>) : tensor<2x70x192xf32>
    // Heads of 256 in panels of 64, that share heads of keys.
    %r15 = fact.fused "attention" ins(%x49, %x50, %x51 : tensor<1x4x100x256xf32>, tensor<1x2x300x256xf32>, tensor<1x2x300x256xf32>) {
    ^bb0(%a0: tensor<1x4x100x256xf32>, %a1: tensor<1x2x300x256xf32>, %a2: tensor<1x2x300x256xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x4x100x256xf32>, tensor<1x2x300x256xf32>, tensor<1x2x300x256xf32>) -> tensor<1x4x100x256xf32>
      fact.yield %o : tensor<1x4x100x256xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 3, splits = 1>) : tensor<1x4x100x256xf32>
    // Heads of 160 in panels of 32, under a causal mask.
    %r16 = fact.fused "attention" ins(%x52, %x53, %x54 : tensor<2x2x200x160xf32>, tensor<2x2x200x160xf32>, tensor<2x2x200x160xf32>) {
    ^bb0(%a0: tensor<2x2x200x160xf32>, %a1: tensor<2x2x200x160xf32>, %a2: tensor<2x2x200x160xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<2x2x200x160xf32>, tensor<2x2x200x160xf32>, tensor<2x2x200x160xf32>) -> tensor<2x2x200x160xf32>
      fact.yield %o : tensor<2x2x200x160xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 2, splits = 1>) : tensor<2x2x200x160xf32>
    // Keys of 180 and values of 130 in one warpgroup, that two blocks split.
    %r17 = fact.fused "attention" ins(%x55, %x56, %x57 : tensor<1x2x70x180xf32>, tensor<1x2x150x180xf32>, tensor<1x2x150x130xf32>) {
    ^bb0(%a0: tensor<1x2x70x180xf32>, %a1: tensor<1x2x150x180xf32>, %a2: tensor<1x2x150x130xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x70x180xf32>, tensor<1x2x150x180xf32>, tensor<1x2x150x130xf32>) -> tensor<1x2x70x130xf32>
      fact.yield %o : tensor<1x2x70x130xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x32, stages = 1, splits = 2>) : tensor<1x2x70x130xf32>
    // Keys of one panel and values of four.
    %r18 = fact.fused "attention" ins(%x58, %x59, %x60 : tensor<1x2x140x72xf32>, tensor<1x2x90x72xf32>, tensor<1x2x90x256xf32>) {
    ^bb0(%a0: tensor<1x2x140x72xf32>, %a1: tensor<1x2x90x72xf32>, %a2: tensor<1x2x90x256xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x140x72xf32>, tensor<1x2x90x72xf32>, tensor<1x2x90x256xf32>) -> tensor<1x2x140x256xf32>
      fact.yield %o : tensor<1x2x140x256xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x32, stages = 2, splits = 1>) : tensor<1x2x140x256xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18 : tensor<2x8x100x128xf32>, tensor<2x8x100x128xf32>, tensor<2x8x100x128xf32>, tensor<1x2x500x64xf32>, tensor<1x2x500x64xf32>, tensor<1x2x300x64xf32>, tensor<1x3x70x19xf32>, tensor<2x2x140x96xf32>, tensor<2x4x70x32xf32>, tensor<1x4x100x64xf32>, tensor<1x2x100x72xf32>, tensor<1x4x20x128xf32>, tensor<1x1x300x64xf32>, tensor<2x2x70x64xf32>, tensor<2x70x192xf32>, tensor<1x4x100x256xf32>, tensor<2x2x200x160xf32>, tensor<1x2x70x130xf32>, tensor<1x2x140x256xf32>
  }
}
