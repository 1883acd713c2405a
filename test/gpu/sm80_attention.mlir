// Attention by mma.sync; test_families.py lets fact-tune check the kernels against their
// references. Where the Hopper kernel would take a region, its space has another kind.

module @sm80_attention attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0: tensor<2x4x40x8xbf16>, %x1: tensor<2x4x70x8xbf16>, %x2: tensor<2x4x70x8xbf16>, %x3: tensor<2x4x40x24xf16>, %x4: tensor<2x2x70x24xf16>, %x5: tensor<2x2x70x40xf16>, %x6: tensor<1x3x40x33xbf16>, %x7: tensor<1x3x50x33xbf16>, %x8: tensor<1x3x50x57xbf16>, %x9: tensor<1x3x40x17xf32>, %x10: tensor<1x3x50x17xf32>, %x11: tensor<1x3x50x19xf32>, %x12: tensor<1x1x1x50xf32>, %x13: tensor<1x2x40x20xf16>, %x14: tensor<1x1x50x20xf16>, %x15: tensor<1x1x50x28xf16>, %x16: tensor<40x50xf16>, %x17: tensor<2x70x576xf32>, %x18: tensor<2x70x576xf32>, %x19: tensor<2x70x576xf32>, %x20: tensor<1x2x40x192xbf16>, %x21: tensor<1x2x70x192xbf16>, %x22: tensor<1x2x70x136xbf16>, %x23: tensor<1x2x40x256xbf16>, %x24: tensor<1x1x50x256xbf16>, %x25: tensor<1x1x50x256xbf16>, %x26: tensor<1x2x40x256xf32>, %x27: tensor<1x1x50x256xf32>, %x28: tensor<1x1x50x256xf32>, %x29: tensor<2x4x70x64xf32>, %x30: tensor<2x2x100x64xf32>, %x31: tensor<2x2x100x64xf32>, %x32: tensor<1x2x100x40xf32>, %x33: tensor<1x2x40x40xf32>, %x34: tensor<1x2x40x24xf32>, %x35: tensor<2x2x40x40xf32>, %x36: tensor<2x2x70x40xf32>, %x37: tensor<2x2x70x40xf32>, %x38: tensor<40x70xf32>, %x39: tensor<2x4x40x80xf32>, %x40: tensor<2x4x70x80xf32>, %x41: tensor<2x4x70x80xf32>, %x42: tensor<2x4x40x70xf32>, %x43: tensor<2x4x70x32xf32>, %x44: tensor<2x2x70x32xf32>, %x45: tensor<2x2x70x32xf32>, %x46: tensor<2x1x1x70xf32>, %x47: tensor<2x4x40x48xbf16>, %x48: tensor<2x2x71x48xbf16>, %x49: tensor<2x2x71x72xbf16>, %x50: tensor<4x40x1xbf16>, %x51: tensor<2x2x40x136xf16>, %x52: tensor<2x2x50x136xf16>, %x53: tensor<2x2x50x136xf16>, %x54: tensor<40x101xf32>, %x55: tensor<2x2x40x64xbf16>, %x56: tensor<2x2x64x50xbf16>, %x57: tensor<2x2x50x64xbf16>, %x58: tensor<2x2x40x24xf32>, %x59: tensor<2x2x24x50xf32>, %x60: tensor<2x2x24x50xf32>, %x61: tensor<2x2x40x70xf16>, %x62: tensor<2x2x50x64xf16>, %x63: tensor<2x2x50x64xf16>, %x64: tensor<1x2x40x16xf32>, %x65: tensor<1x2x50x16xf32>, %x66: tensor<1x2x50x16xf32>, %x67: tensor<1x2x40x136xbf16>, %x68: tensor<1x2x50x136xbf16>, %x69: tensor<1x2x50x136xbf16>, %x70: tensor<2x16x1x64xbf16>, %x71: tensor<2x2x700x64xbf16>, %x72: tensor<2x2x700x64xbf16>, %x73: tensor<2x4x1x80xf32>, %x74: tensor<2x4x500x80xf32>, %x75: tensor<2x4x500x80xf32>, %x76: tensor<2x1x1x500xf32>, %x77: tensor<1x8x3x128xf16>, %x78: tensor<1x2x600x128xf16>, %x79: tensor<1x2x600x128xf16>, %x80: tensor<3x600xbf16>, %x81: tensor<1x4x2x128xf32>, %x82: tensor<1x2x400x128xf32>, %x83: tensor<1x2x400x128xf32>, %x84: tensor<1x12x7x32xbf16>, %x85: tensor<1x4x300x32xbf16>, %x86: tensor<1x4x300x32xbf16>, %x87: tensor<1x4x150x64xbf16>, %x88: tensor<1x2x200x64xbf16>, %x89: tensor<1x2x200x64xbf16>, %x90: tensor<1x2x100x128xf16>, %x91: tensor<1x1x150x128xf16>, %x92: tensor<1x1x150x128xf16>, %x93: tensor<1x2x100x32xf32>, %x94: tensor<1x1x150x32xf32>, %x95: tensor<1x1x150x32xf32>, %x96: tensor<1x2x100x64xf32>, %x97: tensor<1x1x150x64xf32>, %x98: tensor<1x1x150x64xf32>, %x99: tensor<100x150xf32>, %x100: tensor<1x2x150x96xbf16>, %x101: tensor<1x2x200x96xbf16>, %x102: tensor<1x2x200x96xbf16>, %x103: tensor<1x2x150x32xf32>, %x104: tensor<1x2x300x32xf32>, %x105: tensor<1x2x300x32xf32>, %x106: tensor<1x2x40x64xf16>, %x107: tensor<1x2x200x64xf16>, %x108: tensor<1x2x200x64xf16>, %x109: tensor<1x2x60x32xbf16>, %x110: tensor<1x2x300x32xbf16>, %x111: tensor<1x2x300x32xbf16>) -> (tensor<2x4x40x8xbf16>, tensor<2x4x40x40xf16>, tensor<1x3x40x57xbf16>, tensor<1x3x40x19xf32>, tensor<1x2x40x28xf16>, tensor<2x70x192xf32>, tensor<1x2x40x136xbf16>, tensor<1x2x40x256xbf16>, tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>, tensor<2x4x70x64xf32>, tensor<2x4x70x64xf32>, tensor<1x2x100x24xf32>, tensor<2x2x40x40xf32>, tensor<2x4x40x80xf32>, tensor<2x4x70x32xf32>, tensor<2x4x40x72xbf16>, tensor<2x2x40x136xf16>, tensor<2x2x40x64xbf16>, tensor<2x2x24x40xf32>, tensor<2x2x40x64xf16>, tensor<1x2x40x16xf32>, tensor<1x2x40x136xbf16>, tensor<2x16x1x64xbf16>, tensor<2x4x1x80xf32>, tensor<1x8x3x128xf16>, tensor<1x4x2x128xf32>, tensor<1x12x7x32xbf16>, tensor<1x4x150x64xbf16>, tensor<1x2x100x128xf16>, tensor<1x2x100x32xf32>, tensor<1x2x100x64xf32>, tensor<1x2x150x96xbf16>, tensor<1x2x150x32xf32>, tensor<1x2x40x64xf16>, tensor<1x2x60x32xbf16>) {
    // The smallest heads.
    %r0 = fact.fused "attention" ins(%x0, %x1, %x2 : tensor<2x4x40x8xbf16>, tensor<2x4x70x8xbf16>, tensor<2x4x70x8xbf16>) {
    ^bb0(%a0: tensor<2x4x40x8xbf16>, %a1: tensor<2x4x70x8xbf16>, %a2: tensor<2x4x70x8xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<2x4x40x8xbf16>, tensor<2x4x70x8xbf16>, tensor<2x4x70x8xbf16>) -> tensor<2x4x40x8xbf16>
      fact.yield %o : tensor<2x4x40x8xbf16>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x4x40x8xbf16>
    // Heads of 24 with values of 40, whose rows are 16 bytes.
    %r1 = fact.fused "attention" ins(%x3, %x4, %x5 : tensor<2x4x40x24xf16>, tensor<2x2x70x24xf16>, tensor<2x2x70x40xf16>) {
    ^bb0(%a0: tensor<2x4x40x24xf16>, %a1: tensor<2x2x70x24xf16>, %a2: tensor<2x2x70x40xf16>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<2x4x40x24xf16>, tensor<2x2x70x24xf16>, tensor<2x2x70x40xf16>) -> tensor<2x4x40x40xf16>
      fact.yield %o : tensor<2x4x40x40xf16>
    } : tensor<2x4x40x40xf16>
    // Odd heads: elements are copied one by one.
    %r2 = fact.fused "attention" ins(%x6, %x7, %x8 : tensor<1x3x40x33xbf16>, tensor<1x3x50x33xbf16>, tensor<1x3x50x57xbf16>) {
    ^bb0(%a0: tensor<1x3x40x33xbf16>, %a1: tensor<1x3x50x33xbf16>, %a2: tensor<1x3x50x57xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x3x40x33xbf16>, tensor<1x3x50x33xbf16>, tensor<1x3x50x57xbf16>) -> tensor<1x3x40x57xbf16>
      fact.yield %o : tensor<1x3x40x57xbf16>
    } : tensor<1x3x40x57xbf16>
    // Odd heads of f32.
    %r3 = fact.fused "attention" ins(%x9, %x10, %x11, %x12 : tensor<1x3x40x17xf32>, tensor<1x3x50x17xf32>, tensor<1x3x50x19xf32>, tensor<1x1x1x50xf32>) {
    ^bb0(%a0: tensor<1x3x40x17xf32>, %a1: tensor<1x3x50x17xf32>, %a2: tensor<1x3x50x19xf32>, %a3: tensor<1x1x1x50xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<1x3x40x17xf32>, tensor<1x3x50x17xf32>, tensor<1x3x50x19xf32>, tensor<1x1x1x50xf32>) -> tensor<1x3x40x19xf32>
      fact.yield %o : tensor<1x3x40x19xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<1x3x40x19xf32>
    // Heads of 20: rows of 40 bytes are copied by 8.
    %r4 = fact.fused "attention" ins(%x13, %x14, %x15, %x16 : tensor<1x2x40x20xf16>, tensor<1x1x50x20xf16>, tensor<1x1x50x28xf16>, tensor<40x50xf16>) {
    ^bb0(%a0: tensor<1x2x40x20xf16>, %a1: tensor<1x1x50x20xf16>, %a2: tensor<1x1x50x28xf16>, %a3: tensor<40x50xf16>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<1x2x40x20xf16>, tensor<1x1x50x20xf16>, tensor<1x1x50x28xf16>, tensor<40x50xf16>) -> tensor<1x2x40x28xf16>
      fact.yield %o : tensor<1x2x40x28xf16>
    } : tensor<1x2x40x28xf16>
    // Packed queries, keys and values, and heads written back in place.
    %r5 = fact.fused "attention" ins(%x17, %x18, %x19 : tensor<2x70x576xf32>, tensor<2x70x576xf32>, tensor<2x70x576xf32>) {
    ^bb0(%a0: tensor<2x70x576xf32>, %a1: tensor<2x70x576xf32>, %a2: tensor<2x70x576xf32>):
      %v0_0 = fact.slice %a0 dim 2 start 0 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %v0_1 = fact.reshape %v0_0 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v0_2 = fact.permute %v0_1 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %v1_0 = fact.slice %a1 dim 2 start 192 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %v1_1 = fact.reshape %v1_0 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v1_2 = fact.permute %v1_1 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %v2_0 = fact.slice %a2 dim 2 start 384 : (tensor<2x70x576xf32>) -> tensor<2x70x192xf32>
      %v2_1 = fact.reshape %v2_0 : (tensor<2x70x192xf32>) -> tensor<2x70x2x96xf32>
      %v2_2 = fact.permute %v2_1 [0, 2, 1, 3] : (tensor<2x70x2x96xf32>) -> tensor<2x2x70x96xf32>
      %o = fact.attention %v0_2, %v1_2, %v2_2 causal scale 0.125 : (tensor<2x2x70x96xf32>, tensor<2x2x70x96xf32>, tensor<2x2x70x96xf32>) -> tensor<2x2x70x96xf32>
      %p0 = fact.permute %o [0, 2, 1, 3] : (tensor<2x2x70x96xf32>) -> tensor<2x70x2x96xf32>
      %p1 = fact.reshape %p0 : (tensor<2x70x2x96xf32>) -> tensor<2x70x192xf32>
      fact.yield %p1 : tensor<2x70x192xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x70x192xf32>
    // Values narrower than keys, both beyond 128.
    %r6 = fact.fused "attention" ins(%x20, %x21, %x22 : tensor<1x2x40x192xbf16>, tensor<1x2x70x192xbf16>, tensor<1x2x70x136xbf16>) {
    ^bb0(%a0: tensor<1x2x40x192xbf16>, %a1: tensor<1x2x70x192xbf16>, %a2: tensor<1x2x70x136xbf16>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x40x192xbf16>, tensor<1x2x70x192xbf16>, tensor<1x2x70x136xbf16>) -> tensor<1x2x40x136xbf16>
      fact.yield %o : tensor<1x2x40x136xbf16>
    } : tensor<1x2x40x136xbf16>
    // The largest heads.
    %r7 = fact.fused "attention" ins(%x23, %x24, %x25 : tensor<1x2x40x256xbf16>, tensor<1x1x50x256xbf16>, tensor<1x1x50x256xbf16>) {
    ^bb0(%a0: tensor<1x2x40x256xbf16>, %a1: tensor<1x1x50x256xbf16>, %a2: tensor<1x1x50x256xbf16>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x40x256xbf16>, tensor<1x1x50x256xbf16>, tensor<1x1x50x256xbf16>) -> tensor<1x2x40x256xbf16>
      fact.yield %o : tensor<1x2x40x256xbf16>
    } : tensor<1x2x40x256xbf16>
    // The largest heads, strict f32.
    %r8 = fact.fused "attention" ins(%x26, %x27, %x28 : tensor<1x2x40x256xf32>, tensor<1x1x50x256xf32>, tensor<1x1x50x256xf32>) {
    ^bb0(%a0: tensor<1x2x40x256xf32>, %a1: tensor<1x1x50x256xf32>, %a2: tensor<1x1x50x256xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x40x256xf32>, tensor<1x1x50x256xf32>, tensor<1x1x50x256xf32>) -> tensor<1x2x40x256xf32>
      fact.yield %o : tensor<1x2x40x256xf32>
    } space(#fact.sm80_attention_space<tile = [64x32, 64x16], warps = [4], stages = [1], splits = [1]>) : tensor<1x2x40x256xf32>
    // The largest heads in TF32.
    %r9 = fact.fused "attention" ins(%x26, %x27, %x28 : tensor<1x2x40x256xf32>, tensor<1x1x50x256xf32>, tensor<1x1x50x256xf32>) {
    ^bb0(%a0: tensor<1x2x40x256xf32>, %a1: tensor<1x1x50x256xf32>, %a2: tensor<1x1x50x256xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 tf32 : (tensor<1x2x40x256xf32>, tensor<1x1x50x256xf32>, tensor<1x1x50x256xf32>) -> tensor<1x2x40x256xf32>
      fact.yield %o : tensor<1x2x40x256xf32>
    } : tensor<1x2x40x256xf32>
    // Strict f32.
    %r10 = fact.fused "attention" ins(%x29, %x30, %x31 : tensor<2x4x70x64xf32>, tensor<2x2x100x64xf32>, tensor<2x2x100x64xf32>) {
    ^bb0(%a0: tensor<2x4x70x64xf32>, %a1: tensor<2x2x100x64xf32>, %a2: tensor<2x2x100x64xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<2x4x70x64xf32>, tensor<2x2x100x64xf32>, tensor<2x2x100x64xf32>) -> tensor<2x4x70x64xf32>
      fact.yield %o : tensor<2x4x70x64xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x4x70x64xf32>
    // TF32.
    %r11 = fact.fused "attention" ins(%x29, %x30, %x31 : tensor<2x4x70x64xf32>, tensor<2x2x100x64xf32>, tensor<2x2x100x64xf32>) {
    ^bb0(%a0: tensor<2x4x70x64xf32>, %a1: tensor<2x2x100x64xf32>, %a2: tensor<2x2x100x64xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 tf32 : (tensor<2x4x70x64xf32>, tensor<2x2x100x64xf32>, tensor<2x2x100x64xf32>) -> tensor<2x4x70x64xf32>
      fact.yield %o : tensor<2x4x70x64xf32>
    } : tensor<2x4x70x64xf32>
    // More queries than keys under a causal mask.
    %r12 = fact.fused "attention" ins(%x32, %x33, %x34 : tensor<1x2x100x40xf32>, tensor<1x2x40x40xf32>, tensor<1x2x40x24xf32>) {
    ^bb0(%a0: tensor<1x2x100x40xf32>, %a1: tensor<1x2x40x40xf32>, %a2: tensor<1x2x40x24xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x100x40xf32>, tensor<1x2x40x40xf32>, tensor<1x2x40x24xf32>) -> tensor<1x2x100x24xf32>
      fact.yield %o : tensor<1x2x100x24xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<1x2x100x24xf32>
    // A mask of each query and key.
    %r13 = fact.fused "attention" ins(%x35, %x36, %x37, %x38 : tensor<2x2x40x40xf32>, tensor<2x2x70x40xf32>, tensor<2x2x70x40xf32>, tensor<40x70xf32>) {
    ^bb0(%a0: tensor<2x2x40x40xf32>, %a1: tensor<2x2x70x40xf32>, %a2: tensor<2x2x70x40xf32>, %a3: tensor<40x70xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<2x2x40x40xf32>, tensor<2x2x70x40xf32>, tensor<2x2x70x40xf32>, tensor<40x70xf32>) -> tensor<2x2x40x40xf32>
      fact.yield %o : tensor<2x2x40x40xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x2x40x40xf32>
    // A mask of all heads and batches, in TF32.
    %r14 = fact.fused "attention" ins(%x39, %x40, %x41, %x42 : tensor<2x4x40x80xf32>, tensor<2x4x70x80xf32>, tensor<2x4x70x80xf32>, tensor<2x4x40x70xf32>) {
    ^bb0(%a0: tensor<2x4x40x80xf32>, %a1: tensor<2x4x70x80xf32>, %a2: tensor<2x4x70x80xf32>, %a3: tensor<2x4x40x70xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 tf32 : (tensor<2x4x40x80xf32>, tensor<2x4x70x80xf32>, tensor<2x4x70x80xf32>, tensor<2x4x40x70xf32>) -> tensor<2x4x40x80xf32>
      fact.yield %o : tensor<2x4x40x80xf32>
    } : tensor<2x4x40x80xf32>
    // A mask of the keys of each batch, under a causal one.
    %r15 = fact.fused "attention" ins(%x43, %x44, %x45, %x46 : tensor<2x4x70x32xf32>, tensor<2x2x70x32xf32>, tensor<2x2x70x32xf32>, tensor<2x1x1x70xf32>) {
    ^bb0(%a0: tensor<2x4x70x32xf32>, %a1: tensor<2x2x70x32xf32>, %a2: tensor<2x2x70x32xf32>, %a3: tensor<2x1x1x70xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 causal scale 0.125 : (tensor<2x4x70x32xf32>, tensor<2x2x70x32xf32>, tensor<2x2x70x32xf32>, tensor<2x1x1x70xf32>) -> tensor<2x4x70x32xf32>
      fact.yield %o : tensor<2x4x70x32xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x4x70x32xf32>
    // A mask of each head and query.
    %r16 = fact.fused "attention" ins(%x47, %x48, %x49, %x50 : tensor<2x4x40x48xbf16>, tensor<2x2x71x48xbf16>, tensor<2x2x71x72xbf16>, tensor<4x40x1xbf16>) {
    ^bb0(%a0: tensor<2x4x40x48xbf16>, %a1: tensor<2x2x71x48xbf16>, %a2: tensor<2x2x71x72xbf16>, %a3: tensor<4x40x1xbf16>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<2x4x40x48xbf16>, tensor<2x2x71x48xbf16>, tensor<2x2x71x72xbf16>, tensor<4x40x1xbf16>) -> tensor<2x4x40x72xbf16>
      fact.yield %o : tensor<2x4x40x72xbf16>
    } : tensor<2x4x40x72xbf16>
    // Every second key of a mask of f32.
    %r17 = fact.fused "attention" ins(%x51, %x52, %x53, %x54 : tensor<2x2x40x136xf16>, tensor<2x2x50x136xf16>, tensor<2x2x50x136xf16>, tensor<40x101xf32>) {
    ^bb0(%a0: tensor<2x2x40x136xf16>, %a1: tensor<2x2x50x136xf16>, %a2: tensor<2x2x50x136xf16>, %a3: tensor<40x101xf32>):
      %v3_0 = fact.slice %a3 dim 1 start 1 step 2 : (tensor<40x101xf32>) -> tensor<40x50xf32>
      %o = fact.attention %a0, %a1, %a2 mask %v3_0 scale 0.125 : (tensor<2x2x40x136xf16>, tensor<2x2x50x136xf16>, tensor<2x2x50x136xf16>, tensor<40x50xf32>) -> tensor<2x2x40x136xf16>
      fact.yield %o : tensor<2x2x40x136xf16>
    } : tensor<2x2x40x136xf16>
    // Keys in columns.
    %r18 = fact.fused "attention" ins(%x55, %x56, %x57 : tensor<2x2x40x64xbf16>, tensor<2x2x64x50xbf16>, tensor<2x2x50x64xbf16>) {
    ^bb0(%a0: tensor<2x2x40x64xbf16>, %a1: tensor<2x2x64x50xbf16>, %a2: tensor<2x2x50x64xbf16>):
      %v1_0 = fact.permute %a1 [0, 1, 3, 2] : (tensor<2x2x64x50xbf16>) -> tensor<2x2x50x64xbf16>
      %o = fact.attention %a0, %v1_0, %a2 scale 0.125 : (tensor<2x2x40x64xbf16>, tensor<2x2x50x64xbf16>, tensor<2x2x50x64xbf16>) -> tensor<2x2x40x64xbf16>
      fact.yield %o : tensor<2x2x40x64xbf16>
    } : tensor<2x2x40x64xbf16>
    // Keys and values in columns, of f32.
    %r19 = fact.fused "attention" ins(%x58, %x59, %x60 : tensor<2x2x40x24xf32>, tensor<2x2x24x50xf32>, tensor<2x2x24x50xf32>) {
    ^bb0(%a0: tensor<2x2x40x24xf32>, %a1: tensor<2x2x24x50xf32>, %a2: tensor<2x2x24x50xf32>):
      %v1_0 = fact.permute %a1 [0, 1, 3, 2] : (tensor<2x2x24x50xf32>) -> tensor<2x2x50x24xf32>
      %v2_0 = fact.permute %a2 [0, 1, 3, 2] : (tensor<2x2x24x50xf32>) -> tensor<2x2x50x24xf32>
      %o = fact.attention %a0, %v1_0, %v2_0 scale 0.125 : (tensor<2x2x40x24xf32>, tensor<2x2x50x24xf32>, tensor<2x2x50x24xf32>) -> tensor<2x2x40x24xf32>
      %p0 = fact.permute %o [0, 1, 3, 2] : (tensor<2x2x40x24xf32>) -> tensor<2x2x24x40xf32>
      fact.yield %p0 : tensor<2x2x24x40xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<2x2x24x40xf32>
    // Strides that TMA does not take.
    %r20 = fact.fused "attention" ins(%x61, %x62, %x63 : tensor<2x2x40x70xf16>, tensor<2x2x50x64xf16>, tensor<2x2x50x64xf16>) {
    ^bb0(%a0: tensor<2x2x40x70xf16>, %a1: tensor<2x2x50x64xf16>, %a2: tensor<2x2x50x64xf16>):
      %v0_0 = fact.slice %a0 dim 3 start 3 : (tensor<2x2x40x70xf16>) -> tensor<2x2x40x64xf16>
      %o = fact.attention %v0_0, %a1, %a2 scale 0.125 : (tensor<2x2x40x64xf16>, tensor<2x2x50x64xf16>, tensor<2x2x50x64xf16>) -> tensor<2x2x40x64xf16>
      fact.yield %o : tensor<2x2x40x64xf16>
    } : tensor<2x2x40x64xf16>
    // A negative scale.
    %r21 = fact.fused "attention" ins(%x64, %x65, %x66 : tensor<1x2x40x16xf32>, tensor<1x2x50x16xf32>, tensor<1x2x50x16xf32>) {
    ^bb0(%a0: tensor<1x2x40x16xf32>, %a1: tensor<1x2x50x16xf32>, %a2: tensor<1x2x50x16xf32>):
      %o = fact.attention %a0, %a1, %a2 scale -5.000000e-01 : (tensor<1x2x40x16xf32>, tensor<1x2x50x16xf32>, tensor<1x2x50x16xf32>) -> tensor<1x2x40x16xf32>
      fact.yield %o : tensor<1x2x40x16xf32>
    } space(#fact.sm80_attention_space<tile = [64x64, 64x32], warps = [4], stages = [2, 1], splits = [1]>) : tensor<1x2x40x16xf32>
    // A scale of 0.
    %r22 = fact.fused "attention" ins(%x67, %x68, %x69 : tensor<1x2x40x136xbf16>, tensor<1x2x50x136xbf16>, tensor<1x2x50x136xbf16>) {
    ^bb0(%a0: tensor<1x2x40x136xbf16>, %a1: tensor<1x2x50x136xbf16>, %a2: tensor<1x2x50x136xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.000000e+00 : (tensor<1x2x40x136xbf16>, tensor<1x2x50x136xbf16>, tensor<1x2x50x136xbf16>) -> tensor<1x2x40x136xbf16>
      fact.yield %o : tensor<1x2x40x136xbf16>
    } : tensor<1x2x40x136xbf16>
    // One query with many keys, eight heads per head of keys.
    %r23 = fact.fused "attention" ins(%x70, %x71, %x72 : tensor<2x16x1x64xbf16>, tensor<2x2x700x64xbf16>, tensor<2x2x700x64xbf16>) {
    ^bb0(%a0: tensor<2x16x1x64xbf16>, %a1: tensor<2x2x700x64xbf16>, %a2: tensor<2x2x700x64xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<2x16x1x64xbf16>, tensor<2x2x700x64xbf16>, tensor<2x2x700x64xbf16>) -> tensor<2x16x1x64xbf16>
      fact.yield %o : tensor<2x16x1x64xbf16>
    } : tensor<2x16x1x64xbf16>
    // One query with many keys, strict f32 and a mask.
    %r24 = fact.fused "attention" ins(%x73, %x74, %x75, %x76 : tensor<2x4x1x80xf32>, tensor<2x4x500x80xf32>, tensor<2x4x500x80xf32>, tensor<2x1x1x500xf32>) {
    ^bb0(%a0: tensor<2x4x1x80xf32>, %a1: tensor<2x4x500x80xf32>, %a2: tensor<2x4x500x80xf32>, %a3: tensor<2x1x1x500xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<2x4x1x80xf32>, tensor<2x4x500x80xf32>, tensor<2x4x500x80xf32>, tensor<2x1x1x500xf32>) -> tensor<2x4x1x80xf32>
      fact.yield %o : tensor<2x4x1x80xf32>
    } : tensor<2x4x1x80xf32>
    // Few queries with many keys.
    %r25 = fact.fused "attention" ins(%x77, %x78, %x79, %x80 : tensor<1x8x3x128xf16>, tensor<1x2x600x128xf16>, tensor<1x2x600x128xf16>, tensor<3x600xbf16>) {
    ^bb0(%a0: tensor<1x8x3x128xf16>, %a1: tensor<1x2x600x128xf16>, %a2: tensor<1x2x600x128xf16>, %a3: tensor<3x600xbf16>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 : (tensor<1x8x3x128xf16>, tensor<1x2x600x128xf16>, tensor<1x2x600x128xf16>, tensor<3x600xbf16>) -> tensor<1x8x3x128xf16>
      fact.yield %o : tensor<1x8x3x128xf16>
    } : tensor<1x8x3x128xf16>
    // Two queries in TF32.
    %r26 = fact.fused "attention" ins(%x81, %x82, %x83 : tensor<1x4x2x128xf32>, tensor<1x2x400x128xf32>, tensor<1x2x400x128xf32>) {
    ^bb0(%a0: tensor<1x4x2x128xf32>, %a1: tensor<1x2x400x128xf32>, %a2: tensor<1x2x400x128xf32>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 tf32 : (tensor<1x4x2x128xf32>, tensor<1x2x400x128xf32>, tensor<1x2x400x128xf32>) -> tensor<1x4x2x128xf32>
      fact.yield %o : tensor<1x4x2x128xf32>
    } : tensor<1x4x2x128xf32>
    // Few queries under a causal mask.
    %r27 = fact.fused "attention" ins(%x84, %x85, %x86 : tensor<1x12x7x32xbf16>, tensor<1x4x300x32xbf16>, tensor<1x4x300x32xbf16>) {
    ^bb0(%a0: tensor<1x12x7x32xbf16>, %a1: tensor<1x4x300x32xbf16>, %a2: tensor<1x4x300x32xbf16>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x12x7x32xbf16>, tensor<1x4x300x32xbf16>, tensor<1x4x300x32xbf16>) -> tensor<1x12x7x32xbf16>
      fact.yield %o : tensor<1x12x7x32xbf16>
    } : tensor<1x12x7x32xbf16>
    // Two bands per warp.
    %r28 = fact.fused "attention" ins(%x87, %x88, %x89 : tensor<1x4x150x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>) {
    ^bb0(%a0: tensor<1x4x150x64xbf16>, %a1: tensor<1x2x200x64xbf16>, %a2: tensor<1x2x200x64xbf16>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x4x150x64xbf16>, tensor<1x2x200x64xbf16>, tensor<1x2x200x64xbf16>) -> tensor<1x4x150x64xbf16>
      fact.yield %o : tensor<1x4x150x64xbf16>
    } space(#fact.sm80_attention_space<tile = [128x64], warps = [4], stages = [2], splits = [1]>) : tensor<1x4x150x64xbf16>
    // Two bands per warp, heads of 128.
    %r29 = fact.fused "attention" ins(%x90, %x91, %x92 : tensor<1x2x100x128xf16>, tensor<1x1x150x128xf16>, tensor<1x1x150x128xf16>) {
    ^bb0(%a0: tensor<1x2x100x128xf16>, %a1: tensor<1x1x150x128xf16>, %a2: tensor<1x1x150x128xf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x100x128xf16>, tensor<1x1x150x128xf16>, tensor<1x1x150x128xf16>) -> tensor<1x2x100x128xf16>
      fact.yield %o : tensor<1x2x100x128xf16>
    } space(#fact.sm80_attention_space<tile = [128x32], warps = [4], stages = [2], splits = [1]>) : tensor<1x2x100x128xf16>
    // Two bands per warp, strict f32.
    %r30 = fact.fused "attention" ins(%x93, %x94, %x95 : tensor<1x2x100x32xf32>, tensor<1x1x150x32xf32>, tensor<1x1x150x32xf32>) {
    ^bb0(%a0: tensor<1x2x100x32xf32>, %a1: tensor<1x1x150x32xf32>, %a2: tensor<1x1x150x32xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x100x32xf32>, tensor<1x1x150x32xf32>, tensor<1x1x150x32xf32>) -> tensor<1x2x100x32xf32>
      fact.yield %o : tensor<1x2x100x32xf32>
    } space(#fact.sm80_attention_space<tile = [128x32], warps = [4], stages = [2], splits = [1]>) : tensor<1x2x100x32xf32>
    // Two bands per warp, TF32, with a mask.
    %r31 = fact.fused "attention" ins(%x96, %x97, %x98, %x99 : tensor<1x2x100x64xf32>, tensor<1x1x150x64xf32>, tensor<1x1x150x64xf32>, tensor<100x150xf32>) {
    ^bb0(%a0: tensor<1x2x100x64xf32>, %a1: tensor<1x1x150x64xf32>, %a2: tensor<1x1x150x64xf32>, %a3: tensor<100x150xf32>):
      %o = fact.attention %a0, %a1, %a2 mask %a3 scale 0.125 tf32 : (tensor<1x2x100x64xf32>, tensor<1x1x150x64xf32>, tensor<1x1x150x64xf32>, tensor<100x150xf32>) -> tensor<1x2x100x64xf32>
      fact.yield %o : tensor<1x2x100x64xf32>
    } space(#fact.sm80_attention_space<tile = [128x64], warps = [4], stages = [1], splits = [1]>) : tensor<1x2x100x64xf32>
    // Eight warps and three stages.
    %r32 = fact.fused "attention" ins(%x100, %x101, %x102 : tensor<1x2x150x96xbf16>, tensor<1x2x200x96xbf16>, tensor<1x2x200x96xbf16>) {
    ^bb0(%a0: tensor<1x2x150x96xbf16>, %a1: tensor<1x2x200x96xbf16>, %a2: tensor<1x2x200x96xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x150x96xbf16>, tensor<1x2x200x96xbf16>, tensor<1x2x200x96xbf16>) -> tensor<1x2x150x96xbf16>
      fact.yield %o : tensor<1x2x150x96xbf16>
    } space(#fact.sm80_attention_space<tile = [128x64], warps = [8], stages = [3], splits = [1]>) : tensor<1x2x150x96xbf16>
    // Splits of tiles under a causal mask.
    %r33 = fact.fused "attention" ins(%x103, %x104, %x105 : tensor<1x2x150x32xf32>, tensor<1x2x300x32xf32>, tensor<1x2x300x32xf32>) {
    ^bb0(%a0: tensor<1x2x150x32xf32>, %a1: tensor<1x2x300x32xf32>, %a2: tensor<1x2x300x32xf32>):
      %o = fact.attention %a0, %a1, %a2 causal scale 0.125 : (tensor<1x2x150x32xf32>, tensor<1x2x300x32xf32>, tensor<1x2x300x32xf32>) -> tensor<1x2x150x32xf32>
      fact.yield %o : tensor<1x2x150x32xf32>
    } space(#fact.sm80_attention_space<tile = [64x32], warps = [4], stages = [2], splits = [3]>) : tensor<1x2x150x32xf32>
    // Four stages of few keys.
    %r34 = fact.fused "attention" ins(%x106, %x107, %x108 : tensor<1x2x40x64xf16>, tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16>) {
    ^bb0(%a0: tensor<1x2x40x64xf16>, %a1: tensor<1x2x200x64xf16>, %a2: tensor<1x2x200x64xf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x40x64xf16>, tensor<1x2x200x64xf16>, tensor<1x2x200x64xf16>) -> tensor<1x2x40x64xf16>
      fact.yield %o : tensor<1x2x40x64xf16>
    } space(#fact.sm80_attention_space<tile = [64x16], warps = [4], stages = [4], splits = [2]>) : tensor<1x2x40x64xf16>
    // Tiles of 128 keys.
    %r35 = fact.fused "attention" ins(%x109, %x110, %x111 : tensor<1x2x60x32xbf16>, tensor<1x2x300x32xbf16>, tensor<1x2x300x32xbf16>) {
    ^bb0(%a0: tensor<1x2x60x32xbf16>, %a1: tensor<1x2x300x32xbf16>, %a2: tensor<1x2x300x32xbf16>):
      %o = fact.attention %a0, %a1, %a2 scale 0.125 : (tensor<1x2x60x32xbf16>, tensor<1x2x300x32xbf16>, tensor<1x2x300x32xbf16>) -> tensor<1x2x60x32xbf16>
      fact.yield %o : tensor<1x2x60x32xbf16>
    } space(#fact.sm80_attention_space<tile = [32x128], warps = [1], stages = [2], splits = [1]>) : tensor<1x2x60x32xbf16>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35 : tensor<2x4x40x8xbf16>, tensor<2x4x40x40xf16>, tensor<1x3x40x57xbf16>, tensor<1x3x40x19xf32>, tensor<1x2x40x28xf16>, tensor<2x70x192xf32>, tensor<1x2x40x136xbf16>, tensor<1x2x40x256xbf16>, tensor<1x2x40x256xf32>, tensor<1x2x40x256xf32>, tensor<2x4x70x64xf32>, tensor<2x4x70x64xf32>, tensor<1x2x100x24xf32>, tensor<2x2x40x40xf32>, tensor<2x4x40x80xf32>, tensor<2x4x70x32xf32>, tensor<2x4x40x72xbf16>, tensor<2x2x40x136xf16>, tensor<2x2x40x64xbf16>, tensor<2x2x24x40xf32>, tensor<2x2x40x64xf16>, tensor<1x2x40x16xf32>, tensor<1x2x40x136xbf16>, tensor<2x16x1x64xbf16>, tensor<2x4x1x80xf32>, tensor<1x8x3x128xf16>, tensor<1x4x2x128xf32>, tensor<1x12x7x32xbf16>, tensor<1x4x150x64xbf16>, tensor<1x2x100x128xf16>, tensor<1x2x100x32xf32>, tensor<1x2x100x64xf32>, tensor<1x2x150x96xbf16>, tensor<1x2x150x32xf32>, tensor<1x2x40x64xf16>, tensor<1x2x60x32xbf16>
  }
}
