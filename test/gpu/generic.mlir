// Regions of the generic family; test_families.py lets fact-tune check their kernels against
// the references.

module @generic attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<8x300xi64>, %x1_0: tensor<6x70x40xi32>, %x2_0: tensor<5000xi1>, %x3_0: tensor<4x1000x64xf32>, %x4_0: tensor<3x70001xf32>, %x5_0: tensor<300000xbf16>, %x6_0: tensor<2x200x3x50xf32>, %x7_0: tensor<40x90xf64>, %x8_0: tensor<7x130x9xf32>, %x9_0: tensor<7x130xi64>, %x10_0: tensor<6x300xbf16>, %x11_0: tensor<3x70000xf32>, %x12_0: tensor<5x33x70xbf16>, %x12_1: tensor<33x70xbf16>, %x12_2: tensor<33x70xbf16>, %x13_0: tensor<5x9000xf32>, %x13_1: tensor<9000xf32>, %x14_0: tensor<33x65xf32>, %x14_1: tensor<17x65xf32>, %x14_2: tensor<17xf32>, %x15_0: tensor<4x1x31x20xbf16>, %x15_1: tensor<5x20x7xbf16>, %x16_0: tensor<3x20x31xf16>, %x16_1: tensor<1x7x20xf16>, %x17_0: tensor<9x12xf64>, %x17_1: tensor<12x1xf64>, %x18_0: tensor<2x4x9x24xf32>, %x18_1: tensor<2x2x13x24xf32>, %x18_2: tensor<2x2x13x10xf32>, %x18_3: tensor<2x1x9x13xf32>, %x19_0: tensor<1x2x33x40xbf16>, %x20_0: tensor<40x50xf32>, %x20_1: tensor<50x40xf32>, %x21_0: tensor<100x16xbf16>, %x21_1: tensor<2x7xi64>, %x22_0: tensor<4x8xf32>, %x22_1: tensor<4x2xf32>, %x23_0: tensor<3x5x32xf32>, %x23_1: tensor<5x32xf32>, %x23_2: tensor<5x32xf32>, %x24_0: tensor<60x7xf32>, %x25_0: tensor<50x20xi32>, %x25_1: tensor<50x20xi32>, %x26_0: tensor<8x300xf32>, %x27_0: tensor<5x4097x3xbf16>, %x28_0: tensor<70x9xi64>, %x29_0: tensor<7x100xf32>, %x30_0: tensor<8x300xf32>, %x31_0: tensor<6x2000x2xbf16>, %x32_0: tensor<1000xi32>, %x33_0: tensor<2x160x8xf32>, %x33_1: tensor<100xi64>, %x33_2: tensor<2x100x8xf32>, %x34_0: tensor<2x160x8xbf16>, %x34_1: tensor<3xi64>, %x34_2: tensor<2x3x8xbf16>, %x35_0: tensor<50x7xi64>, %x35_1: tensor<20x30xi32>, %x35_2: tensor<20x30x7xi64>) -> (tensor<8xi64>, tensor<6x40xi32>, tensor<i1>, tensor<4x64xf32>, tensor<3xf32>, tensor<bf16>, tensor<1x200x1x50xf32>, tensor<90xf64>, tensor<7x9xi64>, tensor<i64>, tensor<6x300xbf16>, tensor<3x70000xf32>, tensor<5x33x70xbf16>, tensor<5x9000xf32>, tensor<33x17xf32>, tensor<4x5x31x7xbf16>, tensor<3x31x7xf16>, tensor<9x1xf64>, tensor<2x4x9x10xf32>, tensor<1x2x33x40xbf16>, tensor<40x12xf32>, tensor<2x7x16xbf16>, tensor<4x10xf32>, tensor<3x5x32xf32>, tensor<60x7xf32>, tensor<50x20xi32>, tensor<8x300xf32>, tensor<5x4097x3xbf16>, tensor<70x9xi64>, tensor<7x100xf32>, tensor<8x300xi64>, tensor<6x10x2xi64>, tensor<1000xi64>, tensor<2x160x8xf32>, tensor<2x160x8xbf16>, tensor<50x7xi64>) {
    // Integers, along rows and across them, and all of a tensor.
    %r0 = fact.fused "generic" ins(%x0_0 : tensor<8x300xi64>) {
    ^bb0(%a0: tensor<8x300xi64>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<8x300xi64>) -> tensor<8xi64>
      fact.yield %1 : tensor<8xi64>
    } : tensor<8xi64>
    %r1 = fact.fused "generic" ins(%x1_0 : tensor<6x70x40xi32>) {
    ^bb0(%a0: tensor<6x70x40xi32>):
      %1 = fact.reduce max %a0 dims [1] : (tensor<6x70x40xi32>) -> tensor<6x40xi32>
      fact.yield %1 : tensor<6x40xi32>
    } : tensor<6x40xi32>
    %r2 = fact.fused "generic" ins(%x2_0 : tensor<5000xi1>) {
    ^bb0(%a0: tensor<5000xi1>):
      %1 = fact.reduce max %a0 dims [0] : (tensor<5000xi1>) -> tensor<i1>
      fact.yield %1 : tensor<i1>
    } : tensor<i1>
    // Few points and long sums: several threads and blocks share a point.
    %r3 = fact.fused "generic" ins(%x3_0 : tensor<4x1000x64xf32>) {
    ^bb0(%a0: tensor<4x1000x64xf32>):
      %1 = fact.reduce prod %a0 dims [1] : (tensor<4x1000x64xf32>) -> tensor<4x64xf32>
      fact.yield %1 : tensor<4x64xf32>
    } : tensor<4x64xf32>
    %r4 = fact.fused "generic" ins(%x4_0 : tensor<3x70001xf32>) {
    ^bb0(%a0: tensor<3x70001xf32>):
      %1 = fact.reduce mean %a0 dims [1] : (tensor<3x70001xf32>) -> tensor<3xf32>
      fact.yield %1 : tensor<3xf32>
    } : tensor<3xf32>
    %r5 = fact.fused "generic" ins(%x5_0 : tensor<300000xbf16>) {
    ^bb0(%a0: tensor<300000xbf16>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<300000xbf16>) -> tensor<bf16>
      fact.yield %1 : tensor<bf16>
    } : tensor<bf16>
    %r6 = fact.fused "generic" ins(%x6_0 : tensor<2x200x3x50xf32>) {
    ^bb0(%a0: tensor<2x200x3x50xf32>):
      %1 = fact.reduce sum %a0 dims [0, 2] keep : (tensor<2x200x3x50xf32>) -> tensor<1x200x1x50xf32>
      fact.yield %1 : tensor<1x200x1x50xf32>
    } : tensor<1x200x1x50xf32>
    %r7 = fact.fused "generic" ins(%x7_0 : tensor<40x90xf64>) {
    ^bb0(%a0: tensor<40x90xf64>):
      %1 = fact.reduce min %a0 dims [0] : (tensor<40x90xf64>) -> tensor<90xf64>
      fact.yield %1 : tensor<90xf64>
    } : tensor<90xf64>
    %r8 = fact.fused "generic" ins(%x8_0 : tensor<7x130x9xf32>) {
    ^bb0(%a0: tensor<7x130x9xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<7x130x9xf32>) -> tensor<7x9xi64>
      fact.yield %1 : tensor<7x9xi64>
    } : tensor<7x9xi64>
    %r9 = fact.fused "generic" ins(%x9_0 : tensor<7x130xi64>) {
    ^bb0(%a0: tensor<7x130xi64>):
      %1 = fact.reduce argmin %a0 dims [0, 1] : (tensor<7x130xi64>) -> tensor<i64>
      fact.yield %1 : tensor<i64>
    } : tensor<i64>
    // Rows.
    %r10 = fact.fused "generic" ins(%x10_0 : tensor<6x300xbf16>) {
    ^bb0(%a0: tensor<6x300xbf16>):
      %1 = fact.softmax %a0 dim 0 : tensor<6x300xbf16>
      fact.yield %1 : tensor<6x300xbf16>
    } : tensor<6x300xbf16>
    %r11 = fact.fused "generic" ins(%x11_0 : tensor<3x70000xf32>) {
    ^bb0(%a0: tensor<3x70000xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<3x70000xf32>
      fact.yield %1 : tensor<3x70000xf32>
    } : tensor<3x70000xf32>
    %r12 = fact.fused "generic" ins(%x12_0, %x12_1, %x12_2 : tensor<5x33x70xbf16>, tensor<33x70xbf16>, tensor<33x70xbf16>) {
    ^bb0(%a0: tensor<5x33x70xbf16>, %a1: tensor<33x70xbf16>, %a2: tensor<33x70xbf16>):
      %1 = fact.norm layer %a0 weight %a1 bias %a2 eps 1.0e-5 dims 2 : (tensor<5x33x70xbf16>, tensor<33x70xbf16>, tensor<33x70xbf16>) -> tensor<5x33x70xbf16>
      fact.yield %1 : tensor<5x33x70xbf16>
    } : tensor<5x33x70xbf16>
    %r13 = fact.fused "generic" ins(%x13_0, %x13_1 : tensor<5x9000xf32>, tensor<9000xf32>) {
    ^bb0(%a0: tensor<5x9000xf32>, %a1: tensor<9000xf32>):
      %1 = fact.norm rms %a0 weight %a1 eps 1.0e-6 : (tensor<5x9000xf32>, tensor<9000xf32>) -> tensor<5x9000xf32>
      fact.yield %1 : tensor<5x9000xf32>
    } : tensor<5x9000xf32>
    // Products of odd sizes, any layout, batches that broadcast both ways.
    %r14 = fact.fused "generic" ins(%x14_0, %x14_1, %x14_2 : tensor<33x65xf32>, tensor<17x65xf32>, tensor<17xf32>) {
    ^bb0(%a0: tensor<33x65xf32>, %a1: tensor<17x65xf32>, %a2: tensor<17xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<33x65xf32>, tensor<17x65xf32>) -> tensor<33x17xf32>
      %2 = fact.add %1, %a2 : (tensor<33x17xf32>, tensor<17xf32>) -> tensor<33x17xf32>
      %3 = fact.relu %2 : (tensor<33x17xf32>) -> tensor<33x17xf32>
      fact.yield %3 : tensor<33x17xf32>
    } : tensor<33x17xf32>
    %r15 = fact.fused "generic" ins(%x15_0, %x15_1 : tensor<4x1x31x20xbf16>, tensor<5x20x7xbf16>) {
    ^bb0(%a0: tensor<4x1x31x20xbf16>, %a1: tensor<5x20x7xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<4x1x31x20xbf16>, tensor<5x20x7xbf16>) -> tensor<4x5x31x7xbf16>
      fact.yield %1 : tensor<4x5x31x7xbf16>
    } : tensor<4x5x31x7xbf16>
    %r16 = fact.fused "generic" ins(%x16_0, %x16_1 : tensor<3x20x31xf16>, tensor<1x7x20xf16>) {
    ^bb0(%a0: tensor<3x20x31xf16>, %a1: tensor<1x7x20xf16>):
      %1 = fact.matmul %a0, %a1 transpose_a transpose_b : (tensor<3x20x31xf16>, tensor<1x7x20xf16>) -> tensor<3x31x7xf16>
      fact.yield %1 : tensor<3x31x7xf16>
    } : tensor<3x31x7xf16>
    %r17 = fact.fused "generic" ins(%x17_0, %x17_1 : tensor<9x12xf64>, tensor<12x1xf64>) {
    ^bb0(%a0: tensor<9x12xf64>, %a1: tensor<12x1xf64>):
      %1 = fact.matmul %a0, %a1 : (tensor<9x12xf64>, tensor<12x1xf64>) -> tensor<9x1xf64>
      fact.yield %1 : tensor<9x1xf64>
    } : tensor<9x1xf64>
    %r18 = fact.fused "generic" ins(%x18_0, %x18_1, %x18_2, %x18_3 : tensor<2x4x9x24xf32>, tensor<2x2x13x24xf32>, tensor<2x2x13x10xf32>, tensor<2x1x9x13xf32>) {
    ^bb0(%a0: tensor<2x4x9x24xf32>, %a1: tensor<2x2x13x24xf32>, %a2: tensor<2x2x13x10xf32>, %a3: tensor<2x1x9x13xf32>):
      %1 = fact.attention %a0, %a1, %a2 mask %a3 scale 0.2 : (tensor<2x4x9x24xf32>, tensor<2x2x13x24xf32>, tensor<2x2x13x10xf32>, tensor<2x1x9x13xf32>) -> tensor<2x4x9x10xf32>
      fact.yield %1 : tensor<2x4x9x10xf32>
    } : tensor<2x4x9x10xf32>
    %r19 = fact.fused "generic" ins(%x19_0 : tensor<1x2x33x40xbf16>) {
    ^bb0(%a0: tensor<1x2x33x40xbf16>):
      %1 = fact.attention %a0, %a0, %a0 causal scale 0.15 : (tensor<1x2x33x40xbf16>, tensor<1x2x33x40xbf16>, tensor<1x2x33x40xbf16>) -> tensor<1x2x33x40xbf16>
      fact.yield %1 : tensor<1x2x33x40xbf16>
    } : tensor<1x2x33x40xbf16>
    // Elements, views and indices.
    %r20 = fact.fused "generic" ins(%x20_0, %x20_1 : tensor<40x50xf32>, tensor<50x40xf32>) {
    ^bb0(%a0: tensor<40x50xf32>, %a1: tensor<50x40xf32>):
      %1 = fact.permute %a1 [1, 0] : (tensor<50x40xf32>) -> tensor<40x50xf32>
      %2 = fact.add %a0, %1 : (tensor<40x50xf32>, tensor<40x50xf32>) -> tensor<40x50xf32>
      %3 = fact.gelu %2 : (tensor<40x50xf32>) -> tensor<40x50xf32>
      %4 = fact.slice %3 dim 1 start 3 step 4 : (tensor<40x50xf32>) -> tensor<40x12xf32>
      fact.yield %4 : tensor<40x12xf32>
    } : tensor<40x12xf32>
    %r21 = fact.fused "generic" ins(%x21_0, %x21_1 : tensor<100x16xbf16>, tensor<2x7xi64>) {
    ^bb0(%a0: tensor<100x16xbf16>, %a1: tensor<2x7xi64>):
      %1 = fact.gather %a0, %a1 dim 0 : (tensor<100x16xbf16>, tensor<2x7xi64>) -> tensor<2x7x16xbf16>
      fact.yield %1 : tensor<2x7x16xbf16>
    } : tensor<2x7x16xbf16>
    %r22 = fact.fused "generic" ins(%x22_0, %x22_1 : tensor<4x8xf32>, tensor<4x2xf32>) {
    ^bb0(%a0: tensor<4x8xf32>, %a1: tensor<4x2xf32>):
      %1 = fact.concat %a0, %a1 dim 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
      fact.yield %1 : tensor<4x10xf32>
    } : tensor<4x10xf32>
    %r23 = fact.fused "generic" ins(%x23_0, %x23_1, %x23_2 : tensor<3x5x32xf32>, tensor<5x32xf32>, tensor<5x32xf32>) {
    ^bb0(%a0: tensor<3x5x32xf32>, %a1: tensor<5x32xf32>, %a2: tensor<5x32xf32>):
      %1 = fact.rotary %a0, %a1, %a2 : (tensor<3x5x32xf32>, tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<3x5x32xf32>
      fact.yield %1 : tensor<3x5x32xf32>
    } : tensor<3x5x32xf32>
    %r24 = fact.fused "generic" ins(%x24_0 : tensor<60x7xf32>) {
    ^bb0(%a0: tensor<60x7xf32>):
      %1 = fact.constant dense<[0.5, 1.0, -2.0, 3.0, 0.25, 8.0, 0.125]> : tensor<7xf32>
      %2 = fact.mul %a0, %1 : (tensor<60x7xf32>, tensor<7xf32>) -> tensor<60x7xf32>
      fact.yield %2 : tensor<60x7xf32>
    } : tensor<60x7xf32>
    %r25 = fact.fused "generic" ins(%x25_0, %x25_1 : tensor<50x20xi32>, tensor<50x20xi32>) {
    ^bb0(%a0: tensor<50x20xi32>, %a1: tensor<50x20xi32>):
      %1 = fact.compare lt %a0, %a1 : (tensor<50x20xi32>, tensor<50x20xi32>) -> tensor<50x20xi1>
      %2 = fact.select %1, %a0, %a1 : (tensor<50x20xi1>, tensor<50x20xi32>, tensor<50x20xi32>) -> tensor<50x20xi32>
      fact.yield %2 : tensor<50x20xi32>
    } : tensor<50x20xi32>
    // Scans, sorts, scatters.
    %r26 = fact.fused "generic" ins(%x26_0 : tensor<8x300xf32>) {
    ^bb0(%a0: tensor<8x300xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<8x300xf32>
      fact.yield %1 : tensor<8x300xf32>
    } : tensor<8x300xf32>
    %r27 = fact.fused "generic" ins(%x27_0 : tensor<5x4097x3xbf16>) {
    ^bb0(%a0: tensor<5x4097x3xbf16>):
      %1 = fact.scan sum %a0 dim 1 : tensor<5x4097x3xbf16>
      fact.yield %1 : tensor<5x4097x3xbf16>
    } : tensor<5x4097x3xbf16>
    %r28 = fact.fused "generic" ins(%x28_0 : tensor<70x9xi64>) {
    ^bb0(%a0: tensor<70x9xi64>):
      %1 = fact.scan max %a0 dim 0 : tensor<70x9xi64>
      fact.yield %1 : tensor<70x9xi64>
    } : tensor<70x9xi64>
    %r29 = fact.fused "generic" ins(%x29_0 : tensor<7x100xf32>) {
    ^bb0(%a0: tensor<7x100xf32>):
      %1 = fact.scan logsumexp %a0 dim 1 : tensor<7x100xf32>
      fact.yield %1 : tensor<7x100xf32>
    } : tensor<7x100xf32>
    %r30 = fact.fused "generic" ins(%x30_0 : tensor<8x300xf32>) {
    ^bb0(%a0: tensor<8x300xf32>):
      %1 = fact.argsort %a0 dim 1 : (tensor<8x300xf32>) -> tensor<8x300xi64>
      fact.yield %1 : tensor<8x300xi64>
    } : tensor<8x300xi64>
    %r31 = fact.fused "generic" ins(%x31_0 : tensor<6x2000x2xbf16>) {
    ^bb0(%a0: tensor<6x2000x2xbf16>):
      %1 = fact.argsort %a0 dim 1 descending count 10 : (tensor<6x2000x2xbf16>) -> tensor<6x10x2xi64>
      fact.yield %1 : tensor<6x10x2xi64>
    } : tensor<6x10x2xi64>
    %r32 = fact.fused "generic" ins(%x32_0 : tensor<1000xi32>) {
    ^bb0(%a0: tensor<1000xi32>):
      %1 = fact.argsort %a0 dim 0 descending : (tensor<1000xi32>) -> tensor<1000xi64>
      fact.yield %1 : tensor<1000xi64>
    } : tensor<1000xi64>
    %r33 = fact.fused "generic" ins(%x33_0, %x33_1, %x33_2 : tensor<2x160x8xf32>, tensor<100xi64>, tensor<2x100x8xf32>) {
    ^bb0(%a0: tensor<2x160x8xf32>, %a1: tensor<100xi64>, %a2: tensor<2x100x8xf32>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 1 : (tensor<2x160x8xf32>, tensor<100xi64>, tensor<2x100x8xf32>) -> tensor<2x160x8xf32>
      fact.yield %1 : tensor<2x160x8xf32>
    } : tensor<2x160x8xf32>
    %r34 = fact.fused "generic" ins(%x34_0, %x34_1, %x34_2 : tensor<2x160x8xbf16>, tensor<3xi64>, tensor<2x3x8xbf16>) {
    ^bb0(%a0: tensor<2x160x8xbf16>, %a1: tensor<3xi64>, %a2: tensor<2x3x8xbf16>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<2x160x8xbf16>, tensor<3xi64>, tensor<2x3x8xbf16>) -> tensor<2x160x8xbf16>
      fact.yield %1 : tensor<2x160x8xbf16>
    } : tensor<2x160x8xbf16>
    %r35 = fact.fused "generic" ins(%x35_0, %x35_1, %x35_2 : tensor<50x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) {
    ^bb0(%a0: tensor<50x7xi64>, %a1: tensor<20x30xi32>, %a2: tensor<20x30x7xi64>):
      %1 = fact.scatter max %a0, %a1, %a2 dim 0 : (tensor<50x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) -> tensor<50x7xi64>
      fact.yield %1 : tensor<50x7xi64>
    } : tensor<50x7xi64>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35 : tensor<8xi64>, tensor<6x40xi32>, tensor<i1>, tensor<4x64xf32>, tensor<3xf32>, tensor<bf16>, tensor<1x200x1x50xf32>, tensor<90xf64>, tensor<7x9xi64>, tensor<i64>, tensor<6x300xbf16>, tensor<3x70000xf32>, tensor<5x33x70xbf16>, tensor<5x9000xf32>, tensor<33x17xf32>, tensor<4x5x31x7xbf16>, tensor<3x31x7xf16>, tensor<9x1xf64>, tensor<2x4x9x10xf32>, tensor<1x2x33x40xbf16>, tensor<40x12xf32>, tensor<2x7x16xbf16>, tensor<4x10xf32>, tensor<3x5x32xf32>, tensor<60x7xf32>, tensor<50x20xi32>, tensor<8x300xf32>, tensor<5x4097x3xbf16>, tensor<70x9xi64>, tensor<7x100xf32>, tensor<8x300xi64>, tensor<6x10x2xi64>, tensor<1000xi64>, tensor<2x160x8xf32>, tensor<2x160x8xbf16>, tensor<50x7xi64>
  }
}
