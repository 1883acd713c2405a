// Regions of thin products, scans, sorts, scatters, reductions over any dimension and padding; test_families.py lets
// fact-tune check their kernels against the references.

module @rows attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<1x1024xbf16>, %x0_1: tensor<1024x512xbf16>, %x1_0: tensor<1x1024xbf16>, %x1_1: tensor<512x1024xbf16>, %x2_0: tensor<1x331xf32>, %x2_1: tensor<331x77xf32>, %x3_0: tensor<1x331xf16>, %x3_1: tensor<77x331xf16>, %x4_0: tensor<8x300xf32>, %x4_1: tensor<300x1000xf32>, %x4_2: tensor<1000xf32>, %x5_0: tensor<5x264xbf16>, %x5_1: tensor<100x264xbf16>, %x5_2: tensor<100xbf16>, %x6_0: tensor<2000x500xf32>, %x6_1: tensor<500x1xf32>, %x7_0: tensor<4x7x768xbf16>, %x7_1: tensor<1x768xbf16>, %x8_0: tensor<8x1x256xbf16>, %x8_1: tensor<256x384xbf16>, %x9_0: tensor<90x3xf32>, %x9_1: tensor<3x3xf32>, %x10_0: tensor<64x1001xf32>, %x10_1: tensor<64x3xf32>, %x11_0: tensor<1x100000xf32>, %x11_1: tensor<100000x1xf32>, %x12_0: tensor<2x70001xbf16>, %x12_1: tensor<3x70001xbf16>, %x13_0: tensor<6x1x65xf32>, %x13_1: tensor<6x65x40xf32>, %x14_0: tensor<4x1x2x64xbf16>, %x14_1: tensor<1x3x64x48xbf16>, %x15_0: tensor<2x3x1x64xf16>, %x15_1: tensor<2x3x129x64xf16>, %x16_0: tensor<700x1x50xf32>, %x16_1: tensor<700x50x1xf32>, %x17_0: tensor<100x1xf32>, %x17_1: tensor<1x333xf32>, %x18_0: tensor<1x100xbf16>, %x18_1: tensor<1x64xbf16>, %x19_0: tensor<3x50x5xf32>, %x19_1: tensor<3x5x70xf32>, %x20_0: tensor<41x8xbf16>, %x20_1: tensor<72x8xbf16>, %x21_0: tensor<12x64xf32>, %x21_1: tensor<64x200xf32>, %x22_0: tensor<40x1000xf32>, %x23_0: tensor<40x3xf32>, %x24_0: tensor<7x2501xbf16>, %x25_0: tensor<9x513xf32>, %x26_0: tensor<6x777xf16>, %x27_0: tensor<5x300xi32>, %x28_0: tensor<3x4096xi64>, %x29_0: tensor<4x260xf64>, %x30_0: tensor<5x333xf32>, %x31_0: tensor<2x70001xf32>, %x32_0: tensor<100000xi64>, %x33_0: tensor<3x200x37xf32>, %x34_0: tensor<5000x6xbf16>, %x35_0: tensor<20x100xf32>, %x36_0: tensor<3x2x33x5xbf16>, %x37_0: tensor<300x7xi1>, %x38_0: tensor<4x1500xf64>, %x39_0: tensor<2x3000xi64>, %x40_0: tensor<5x2000xf32>, %x41_0: tensor<2x40000xf32>, %x42_0: tensor<70001xi32>, %x43_0: tensor<20000x2xf16>, %x44_0: tensor<7x130x9xf32>, %x45_0: tensor<7x130x9xf32>, %x46_0: tensor<3x70xbf16>, %x47_0: tensor<5000xf32>, %x48_0: tensor<4x6x50xf16>, %x49_0: tensor<40x33xi32>, %x50_0: tensor<6x700xi1>, %x51_0: tensor<6x70x3xf64>, %x52_0: tensor<90000x2xf32>, %x53_0: tensor<12x31x5xbf16>, %x54_0: tensor<50x37xbf16>, %x55_0: tensor<2x160x8xbf16>, %x55_1: tensor<3xi64>, %x55_2: tensor<2x3x8xbf16>, %x56_0: tensor<6x33x5xf16>, %x56_1: tensor<20xi64>, %x56_2: tensor<6x20x5xf16>, %x57_0: tensor<5x9xf32>, %x57_1: tensor<4xi32>, %x57_2: tensor<4x9xf32>, %x58_0: tensor<300x7xi64>, %x58_1: tensor<20x30xi32>, %x58_2: tensor<20x30x7xi64>, %x59_0: tensor<3x41x16xf16>, %x59_1: tensor<90xi64>, %x59_2: tensor<3x90x16xf16>, %x60_0: tensor<900xi1>, %x60_1: tensor<1000xi64>, %x61_0: tensor<2x160x8xf32>, %x61_1: tensor<100xi64>, %x61_2: tensor<2x100x8xf32>, %x62_0: tensor<300x24xbf16>, %x62_1: tensor<1500xi64>, %x62_2: tensor<1500x24xbf16>, %x63_0: tensor<4x7x5xf64>, %x63_1: tensor<700xi64>, %x63_2: tensor<4x700x5xf64>, %x64_0: tensor<3000xi64>, %x65_0: tensor<5001xi64>, %x65_1: tensor<5001xf32>, %x66_0: tensor<20x3xi32>, %x66_1: tensor<77xi64>, %x66_2: tensor<77x3xi32>, %x67_0: tensor<50x7xi64>, %x67_1: tensor<20x30xi32>, %x67_2: tensor<20x30x7xi64>, %x68_0: tensor<200xi64>, %x68_1: tensor<3x200x2xbf16>, %x69_0: tensor<2x65x9xf32>, %x69_1: tensor<129xi64>, %x69_2: tensor<2x129x9xf32>, %x70_0: tensor<130xi1>, %x70_1: tensor<300xi64>, %x70_2: tensor<300xi1>, %x71_0: tensor<40x16xi8>, %x71_1: tensor<200xi64>, %x71_2: tensor<200x16xi8>, %x72_0: tensor<300x64xbf16>, %x73_0: tensor<1000x40xbf16>, %x74_0: tensor<3x70x5xf16>, %x75_0: tensor<2x33x6xf32>, %x76_0: tensor<40x90xf64>, %x77_0: tensor<4x50x12xi32>, %x78_0: tensor<7x300x3xi64>, %x79_0: tensor<500x7xi1>, %x80_0: tensor<2x20x3x10xf32>, %x81_0: tensor<7x130x8xf32>, %x82_0: tensor<5000x6xbf16>, %x83_0: tensor<3x21x5xi64>, %x84_0: tensor<70x144xf32>, %x85_0: tensor<5x4001xi64>, %x86_0: tensor<6x700xi1>, %x87_0: tensor<3x77xi8>, %x88_0: tensor<2x40x24xf32>, %x89_0: tensor<3x50x7xbf16>, %x90_0: tensor<6x30xf64>, %x91_0: tensor<3x5000xf32>, %x92_0: tensor<2x1001xf16>, %x93_0: tensor<2x33x16xf32>, %x94_0: tensor<3x29x10xbf16>, %x95_0: tensor<2x37x12xf32>, %x95_1: tensor<1x37x1xf32>, %x96_0: tensor<2x37x16xbf16>, %x96_1: tensor<1x37x1xbf16>, %x97_0: tensor<3x40x24xf32>, %x98_0: tensor<4x33x6xbf16>, %x98_1: tensor<4x33x6xbf16>, %x98_2: tensor<4x6xbf16>, %x99_0: tensor<600x3x2xbf16>, %x100_0: tensor<2x3x4x5xf32>, %x101_0: tensor<3x30x16xf32>, %x102_0: tensor<3x30x17xbf16>, %x103_0: tensor<4x1x8xf32>, %x103_1: tensor<4x50x8xf32>, %x104_0: tensor<2x3x4x5xf32>, %x105_0: tensor<4096x64xf32>, %x106_0: tensor<3x40x5xf32>, %x107_0: tensor<3x40x5xbf16>, %x108_0: tensor<3x40x5xf32>, %x109_0: tensor<3x40x5xf32>, %x110_0: tensor<3x40x5xf32>, %x111_0: tensor<1x2xf32>, %x111_1: tensor<2x4194245xf32>) -> (tensor<1x512xbf16>, tensor<1x512xbf16>, tensor<1x77xf32>, tensor<1x77xf16>, tensor<8x1000xf32>, tensor<5x100xbf16>, tensor<5x100xbf16>, tensor<2000x1xf32>, tensor<4x7x1xbf16>, tensor<8x1x384xbf16>, tensor<90x3xf32>, tensor<1001x3xf32>, tensor<1x1xf32>, tensor<2x3xbf16>, tensor<6x1x40xf32>, tensor<4x3x2x48xbf16>, tensor<2x3x1x129xf16>, tensor<700x1x1xf32>, tensor<100x333xf32>, tensor<100x64xbf16>, tensor<3x50x70xf32>, tensor<41x72xbf16>, tensor<200x3xf32>, tensor<40x1000xf32>, tensor<40x3xf32>, tensor<7x2501xbf16>, tensor<9x513xf32>, tensor<6x777xf16>, tensor<5x300xi32>, tensor<3x4096xi64>, tensor<4x260xf64>, tensor<5x333xf32>, tensor<2x70001xf32>, tensor<100000xi64>, tensor<3x200x37xf32>, tensor<5000x6xbf16>, tensor<20x100xi64>, tensor<3x2x33x5xi64>, tensor<300x7xi64>, tensor<4x1500xi64>, tensor<2x3000xi64>, tensor<5x10xi64>, tensor<2x50xi64>, tensor<70001xi64>, tensor<6000x2xi64>, tensor<7x9xi64>, tensor<7x9xi64>, tensor<3xi64>, tensor<i64>, tensor<4xi64>, tensor<33xi64>, tensor<6xi64>, tensor<6x3xi64>, tensor<2xi64>, tensor<31x5xi64>, tensor<50x48xbf16>, tensor<2x160x8xbf16>, tensor<6x33x5xf16>, tensor<5x9xf32>, tensor<300x7xi64>, tensor<3x41x16xf16>, tensor<900xi1>, tensor<2x160x8xf32>, tensor<300x24xbf16>, tensor<4x7x5xf64>, tensor<5000xi64>, tensor<10xf32>, tensor<20x3xi32>, tensor<50x7xi64>, tensor<3x30x2xbf16>, tensor<2x65x9xf32>, tensor<130xi1>, tensor<40x16xi8>, tensor<64xbf16>, tensor<40xbf16>, tensor<3x5xf16>, tensor<2x6xf32>, tensor<90xf64>, tensor<4x12xi32>, tensor<7x3xi64>, tensor<7xi1>, tensor<2x10xf32>, tensor<7x8xi64>, tensor<6xi64>, tensor<3x5xi64>, tensor<f32>, tensor<5xi64>, tensor<6xi64>, tensor<3xi8>, tensor<2x40x24xf32>, tensor<3x50x7xbf16>, tensor<6x30xf64>, tensor<3x5000xf32>, tensor<2x1001xf16>, tensor<2x33x16xf32>, tensor<3x1x10xbf16>, tensor<2x37x12xf32>, tensor<2x1x12xf32>, tensor<2x37x16xbf16>, tensor<2x1x16xbf16>, tensor<3x40x24xf32>, tensor<4x6xbf16>, tensor<600x2xbf16>, tensor<2x5xi64>, tensor<3x16xf32>, tensor<3x8xbf16>, tensor<4x8xf32>, tensor<2x3x4x5xf32>, tensor<4096x64xf32>, tensor<5x3xf32>, tensor<3x5xi64>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<40x3x5xf32>, tensor<1x4194245xf32>) {
    // A vector times a matrix, by columns and by rows, aligned and not.
    %r0 = fact.fused "thin_gemm" ins(%x0_0, %x0_1 : tensor<1x1024xbf16>, tensor<1024x512xbf16>) {
    ^bb0(%a0: tensor<1x1024xbf16>, %a1: tensor<1024x512xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x1024xbf16>, tensor<1024x512xbf16>) -> tensor<1x512xbf16>
      fact.yield %1 : tensor<1x512xbf16>
    } : tensor<1x512xbf16>
    %r1 = fact.fused "thin_gemm" ins(%x1_0, %x1_1 : tensor<1x1024xbf16>, tensor<512x1024xbf16>) {
    ^bb0(%a0: tensor<1x1024xbf16>, %a1: tensor<512x1024xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<1x1024xbf16>, tensor<512x1024xbf16>) -> tensor<1x512xbf16>
      fact.yield %1 : tensor<1x512xbf16>
    } : tensor<1x512xbf16>
    %r2 = fact.fused "thin_gemm" ins(%x2_0, %x2_1 : tensor<1x331xf32>, tensor<331x77xf32>) {
    ^bb0(%a0: tensor<1x331xf32>, %a1: tensor<331x77xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x331xf32>, tensor<331x77xf32>) -> tensor<1x77xf32>
      fact.yield %1 : tensor<1x77xf32>
    } : tensor<1x77xf32>
    %r3 = fact.fused "thin_gemm" ins(%x3_0, %x3_1 : tensor<1x331xf16>, tensor<77x331xf16>) {
    ^bb0(%a0: tensor<1x331xf16>, %a1: tensor<77x331xf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<1x331xf16>, tensor<77x331xf16>) -> tensor<1x77xf16>
      fact.yield %1 : tensor<1x77xf16>
    } : tensor<1x77xf16>
    // Several rows share one read; bias and activation.
    %r4 = fact.fused "thin_gemm" ins(%x4_0, %x4_1, %x4_2 : tensor<8x300xf32>, tensor<300x1000xf32>, tensor<1000xf32>) {
    ^bb0(%a0: tensor<8x300xf32>, %a1: tensor<300x1000xf32>, %a2: tensor<1000xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<8x300xf32>, tensor<300x1000xf32>) -> tensor<8x1000xf32>
      %2 = fact.add %1, %a2 : (tensor<8x1000xf32>, tensor<1000xf32>) -> tensor<8x1000xf32>
      %3 = fact.gelu %2 : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
      fact.yield %3 : tensor<8x1000xf32>
    } : tensor<8x1000xf32>
    %r5:2 = fact.fused "thin_gemm" ins(%x5_0, %x5_1, %x5_2 : tensor<5x264xbf16>, tensor<100x264xbf16>, tensor<100xbf16>) {
    ^bb0(%a0: tensor<5x264xbf16>, %a1: tensor<100x264xbf16>, %a2: tensor<100xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<5x264xbf16>, tensor<100x264xbf16>) -> tensor<5x100xbf16>
      %2 = fact.add %1, %a2 : (tensor<5x100xbf16>, tensor<100xbf16>) -> tensor<5x100xbf16>
      %3 = fact.silu %2 : (tensor<5x100xbf16>) -> tensor<5x100xbf16>
      fact.yield %2, %3 : tensor<5x100xbf16>, tensor<5x100xbf16>
    } : tensor<5x100xbf16>, tensor<5x100xbf16>
    // A matrix times a vector, and batches that share it.
    %r6 = fact.fused "thin_gemm" ins(%x6_0, %x6_1 : tensor<2000x500xf32>, tensor<500x1xf32>) {
    ^bb0(%a0: tensor<2000x500xf32>, %a1: tensor<500x1xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<2000x500xf32>, tensor<500x1xf32>) -> tensor<2000x1xf32>
      fact.yield %1 : tensor<2000x1xf32>
    } : tensor<2000x1xf32>
    %r7 = fact.fused "thin_gemm" ins(%x7_0, %x7_1 : tensor<4x7x768xbf16>, tensor<1x768xbf16>) {
    ^bb0(%a0: tensor<4x7x768xbf16>, %a1: tensor<1x768xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x7x768xbf16>, tensor<1x768xbf16>) -> tensor<4x7x1xbf16>
      fact.yield %1 : tensor<4x7x1xbf16>
    } : tensor<4x7x1xbf16>
    %r8 = fact.fused "thin_gemm" ins(%x8_0, %x8_1 : tensor<8x1x256xbf16>, tensor<256x384xbf16>) {
    ^bb0(%a0: tensor<8x1x256xbf16>, %a1: tensor<256x384xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<8x1x256xbf16>, tensor<256x384xbf16>) -> tensor<8x1x384xbf16>
      fact.yield %1 : tensor<8x1x384xbf16>
    } : tensor<8x1x384xbf16>
    %r9 = fact.fused "thin_gemm" ins(%x9_0, %x9_1 : tensor<90x3xf32>, tensor<3x3xf32>) {
    ^bb0(%a0: tensor<90x3xf32>, %a1: tensor<3x3xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<90x3xf32>, tensor<3x3xf32>) -> tensor<90x3xf32>
      fact.yield %1 : tensor<90x3xf32>
    } : tensor<90x3xf32>
    %r10 = fact.fused "thin_gemm" ins(%x10_0, %x10_1 : tensor<64x1001xf32>, tensor<64x3xf32>) {
    ^bb0(%a0: tensor<64x1001xf32>, %a1: tensor<64x3xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<64x1001xf32>, tensor<64x3xf32>) -> tensor<1001x3xf32>
      fact.yield %1 : tensor<1001x3xf32>
    } : tensor<1001x3xf32>
    // Dot products of long rows: several blocks share a sum.
    %r11 = fact.fused "thin_gemm" ins(%x11_0, %x11_1 : tensor<1x100000xf32>, tensor<100000x1xf32>) {
    ^bb0(%a0: tensor<1x100000xf32>, %a1: tensor<100000x1xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x100000xf32>, tensor<100000x1xf32>) -> tensor<1x1xf32>
      fact.yield %1 : tensor<1x1xf32>
    } : tensor<1x1xf32>
    %r12 = fact.fused "thin_gemm" ins(%x12_0, %x12_1 : tensor<2x70001xbf16>, tensor<3x70001xbf16>) {
    ^bb0(%a0: tensor<2x70001xbf16>, %a1: tensor<3x70001xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<2x70001xbf16>, tensor<3x70001xbf16>) -> tensor<2x3xbf16>
      fact.yield %1 : tensor<2x3xbf16>
    } : tensor<2x3xbf16>
    // Batches, also those that broadcast in two dimensions.
    %r13 = fact.fused "thin_gemm" ins(%x13_0, %x13_1 : tensor<6x1x65xf32>, tensor<6x65x40xf32>) {
    ^bb0(%a0: tensor<6x1x65xf32>, %a1: tensor<6x65x40xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<6x1x65xf32>, tensor<6x65x40xf32>) -> tensor<6x1x40xf32>
      fact.yield %1 : tensor<6x1x40xf32>
    } : tensor<6x1x40xf32>
    %r14 = fact.fused "thin_gemm" ins(%x14_0, %x14_1 : tensor<4x1x2x64xbf16>, tensor<1x3x64x48xbf16>) {
    ^bb0(%a0: tensor<4x1x2x64xbf16>, %a1: tensor<1x3x64x48xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<4x1x2x64xbf16>, tensor<1x3x64x48xbf16>) -> tensor<4x3x2x48xbf16>
      fact.yield %1 : tensor<4x3x2x48xbf16>
    } : tensor<4x3x2x48xbf16>
    %r15 = fact.fused "thin_gemm" ins(%x15_0, %x15_1 : tensor<2x3x1x64xf16>, tensor<2x3x129x64xf16>) {
    ^bb0(%a0: tensor<2x3x1x64xf16>, %a1: tensor<2x3x129x64xf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<2x3x1x64xf16>, tensor<2x3x129x64xf16>) -> tensor<2x3x1x129xf16>
      fact.yield %1 : tensor<2x3x1x129xf16>
    } : tensor<2x3x1x129xf16>
    %r16 = fact.fused "thin_gemm" ins(%x16_0, %x16_1 : tensor<700x1x50xf32>, tensor<700x50x1xf32>) {
    ^bb0(%a0: tensor<700x1x50xf32>, %a1: tensor<700x50x1xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<700x1x50xf32>, tensor<700x50x1xf32>) -> tensor<700x1x1xf32>
      fact.yield %1 : tensor<700x1x1xf32>
    } : tensor<700x1x1xf32>
    // Few terms: outer products.
    %r17 = fact.fused "thin_gemm" ins(%x17_0, %x17_1 : tensor<100x1xf32>, tensor<1x333xf32>) {
    ^bb0(%a0: tensor<100x1xf32>, %a1: tensor<1x333xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<100x1xf32>, tensor<1x333xf32>) -> tensor<100x333xf32>
      fact.yield %1 : tensor<100x333xf32>
    } : tensor<100x333xf32>
    %r18 = fact.fused "thin_gemm" ins(%x18_0, %x18_1 : tensor<1x100xbf16>, tensor<1x64xbf16>) {
    ^bb0(%a0: tensor<1x100xbf16>, %a1: tensor<1x64xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<1x100xbf16>, tensor<1x64xbf16>) -> tensor<100x64xbf16>
      fact.yield %1 : tensor<100x64xbf16>
    } : tensor<100x64xbf16>
    %r19 = fact.fused "thin_gemm" ins(%x19_0, %x19_1 : tensor<3x50x5xf32>, tensor<3x5x70xf32>) {
    ^bb0(%a0: tensor<3x50x5xf32>, %a1: tensor<3x5x70xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<3x50x5xf32>, tensor<3x5x70xf32>) -> tensor<3x50x70xf32>
      fact.yield %1 : tensor<3x50x70xf32>
    } : tensor<3x50x70xf32>
    %r20 = fact.fused "thin_gemm" ins(%x20_0, %x20_1 : tensor<41x8xbf16>, tensor<72x8xbf16>) {
    ^bb0(%a0: tensor<41x8xbf16>, %a1: tensor<72x8xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<41x8xbf16>, tensor<72x8xbf16>) -> tensor<41x72xbf16>
      fact.yield %1 : tensor<41x72xbf16>
    } : tensor<41x72xbf16>
    // Views before, a permuted result.
    %r21 = fact.fused "thin_gemm" ins(%x21_0, %x21_1 : tensor<12x64xf32>, tensor<64x200xf32>) {
    ^bb0(%a0: tensor<12x64xf32>, %a1: tensor<64x200xf32>):
      %0 = fact.slice %a0 dim 0 start 2 step 3 : (tensor<12x64xf32>) -> tensor<3x64xf32>
      %1 = fact.matmul %0, %a1 : (tensor<3x64xf32>, tensor<64x200xf32>) -> tensor<3x200xf32>
      %2 = fact.permute %1 [1, 0] : (tensor<3x200xf32>) -> tensor<200x3xf32>
      fact.yield %2 : tensor<200x3xf32>
    } : tensor<200x3xf32>
    // Rows: short and long, in vectors and not, of all kinds and types.
    %r22 = fact.fused "scan" ins(%x22_0 : tensor<40x1000xf32>) {
    ^bb0(%a0: tensor<40x1000xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<40x1000xf32>
      fact.yield %1 : tensor<40x1000xf32>
    } : tensor<40x1000xf32>
    %r23 = fact.fused "scan" ins(%x23_0 : tensor<40x3xf32>) {
    ^bb0(%a0: tensor<40x3xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<40x3xf32>
      fact.yield %1 : tensor<40x3xf32>
    } : tensor<40x3xf32>
    %r24 = fact.fused "scan" ins(%x24_0 : tensor<7x2501xbf16>) {
    ^bb0(%a0: tensor<7x2501xbf16>):
      %1 = fact.scan sum %a0 dim 1 : tensor<7x2501xbf16>
      fact.yield %1 : tensor<7x2501xbf16>
    } : tensor<7x2501xbf16>
    %r25 = fact.fused "scan" ins(%x25_0 : tensor<9x513xf32>) {
    ^bb0(%a0: tensor<9x513xf32>):
      %1 = fact.scan prod %a0 dim 1 : tensor<9x513xf32>
      fact.yield %1 : tensor<9x513xf32>
    } : tensor<9x513xf32>
    %r26 = fact.fused "scan" ins(%x26_0 : tensor<6x777xf16>) {
    ^bb0(%a0: tensor<6x777xf16>):
      %1 = fact.scan max %a0 dim 1 : tensor<6x777xf16>
      fact.yield %1 : tensor<6x777xf16>
    } : tensor<6x777xf16>
    %r27 = fact.fused "scan" ins(%x27_0 : tensor<5x300xi32>) {
    ^bb0(%a0: tensor<5x300xi32>):
      %1 = fact.scan min %a0 dim 1 : tensor<5x300xi32>
      fact.yield %1 : tensor<5x300xi32>
    } : tensor<5x300xi32>
    %r28 = fact.fused "scan" ins(%x28_0 : tensor<3x4096xi64>) {
    ^bb0(%a0: tensor<3x4096xi64>):
      %1 = fact.scan sum %a0 dim 1 : tensor<3x4096xi64>
      fact.yield %1 : tensor<3x4096xi64>
    } : tensor<3x4096xi64>
    %r29 = fact.fused "scan" ins(%x29_0 : tensor<4x260xf64>) {
    ^bb0(%a0: tensor<4x260xf64>):
      %1 = fact.scan sum %a0 dim 1 : tensor<4x260xf64>
      fact.yield %1 : tensor<4x260xf64>
    } : tensor<4x260xf64>
    %r30 = fact.fused "scan" ins(%x30_0 : tensor<5x333xf32>) {
    ^bb0(%a0: tensor<5x333xf32>):
      %1 = fact.scan logsumexp %a0 dim 1 : tensor<5x333xf32>
      fact.yield %1 : tensor<5x333xf32>
    } : tensor<5x333xf32>
    // Few long rows: several blocks share one.
    %r31 = fact.fused "scan" ins(%x31_0 : tensor<2x70001xf32>) {
    ^bb0(%a0: tensor<2x70001xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<2x70001xf32>
      fact.yield %1 : tensor<2x70001xf32>
    } : tensor<2x70001xf32>
    %r32 = fact.fused "scan" ins(%x32_0 : tensor<100000xi64>) {
    ^bb0(%a0: tensor<100000xi64>):
      %1 = fact.scan max %a0 dim 0 : tensor<100000xi64>
      fact.yield %1 : tensor<100000xi64>
    } : tensor<100000xi64>
    // Across rows.
    %r33 = fact.fused "scan" ins(%x33_0 : tensor<3x200x37xf32>) {
    ^bb0(%a0: tensor<3x200x37xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<3x200x37xf32>
      fact.yield %1 : tensor<3x200x37xf32>
    } : tensor<3x200x37xf32>
    %r34 = fact.fused "scan" ins(%x34_0 : tensor<5000x6xbf16>) {
    ^bb0(%a0: tensor<5000x6xbf16>):
      %1 = fact.scan sum %a0 dim 0 : tensor<5000x6xbf16>
      fact.yield %1 : tensor<5000x6xbf16>
    } : tensor<5000x6xbf16>
    // Rows that share a block, and rows of their own.
    %r35 = fact.fused "sort" ins(%x35_0 : tensor<20x100xf32>) {
    ^bb0(%a0: tensor<20x100xf32>):
      %1 = fact.argsort %a0 dim 1 : (tensor<20x100xf32>) -> tensor<20x100xi64>
      fact.yield %1 : tensor<20x100xi64>
    } : tensor<20x100xi64>
    %r36 = fact.fused "sort" ins(%x36_0 : tensor<3x2x33x5xbf16>) {
    ^bb0(%a0: tensor<3x2x33x5xbf16>):
      %1 = fact.argsort %a0 dim 2 descending : (tensor<3x2x33x5xbf16>) -> tensor<3x2x33x5xi64>
      fact.yield %1 : tensor<3x2x33x5xi64>
    } : tensor<3x2x33x5xi64>
    %r37 = fact.fused "sort" ins(%x37_0 : tensor<300x7xi1>) {
    ^bb0(%a0: tensor<300x7xi1>):
      %1 = fact.argsort %a0 dim 1 : (tensor<300x7xi1>) -> tensor<300x7xi64>
      fact.yield %1 : tensor<300x7xi64>
    } : tensor<300x7xi64>
    %r38 = fact.fused "sort" ins(%x38_0 : tensor<4x1500xf64>) {
    ^bb0(%a0: tensor<4x1500xf64>):
      %1 = fact.argsort %a0 dim 1 descending : (tensor<4x1500xf64>) -> tensor<4x1500xi64>
      fact.yield %1 : tensor<4x1500xi64>
    } : tensor<4x1500xi64>
    %r39 = fact.fused "sort" ins(%x39_0 : tensor<2x3000xi64>) {
    ^bb0(%a0: tensor<2x3000xi64>):
      %1 = fact.argsort %a0 dim 1 : (tensor<2x3000xi64>) -> tensor<2x3000xi64>
      fact.yield %1 : tensor<2x3000xi64>
    } : tensor<2x3000xi64>
    %r40 = fact.fused "sort" ins(%x40_0 : tensor<5x2000xf32>) {
    ^bb0(%a0: tensor<5x2000xf32>):
      %1 = fact.argsort %a0 dim 1 descending count 10 : (tensor<5x2000xf32>) -> tensor<5x10xi64>
      fact.yield %1 : tensor<5x10xi64>
    } : tensor<5x10xi64>
    // Runs that are merged.
    %r41 = fact.fused "sort" ins(%x41_0 : tensor<2x40000xf32>) {
    ^bb0(%a0: tensor<2x40000xf32>):
      %1 = fact.argsort %a0 dim 1 descending count 50 : (tensor<2x40000xf32>) -> tensor<2x50xi64>
      fact.yield %1 : tensor<2x50xi64>
    } : tensor<2x50xi64>
    %r42 = fact.fused "sort" ins(%x42_0 : tensor<70001xi32>) {
    ^bb0(%a0: tensor<70001xi32>):
      %1 = fact.argsort %a0 dim 0 : (tensor<70001xi32>) -> tensor<70001xi64>
      fact.yield %1 : tensor<70001xi64>
    } : tensor<70001xi64>
    %r43 = fact.fused "sort" ins(%x43_0 : tensor<20000x2xf16>) {
    ^bb0(%a0: tensor<20000x2xf16>):
      %1 = fact.argsort %a0 dim 0 count 6000 : (tensor<20000x2xf16>) -> tensor<6000x2xi64>
      fact.yield %1 : tensor<6000x2xi64>
    } : tensor<6000x2xi64>
    // The place of the first extreme element, in one pass up to 32 bits.
    %r44 = fact.fused "reduction" ins(%x44_0 : tensor<7x130x9xf32>) {
    ^bb0(%a0: tensor<7x130x9xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<7x130x9xf32>) -> tensor<7x9xi64>
      fact.yield %1 : tensor<7x9xi64>
    } : tensor<7x9xi64>
    %r45 = fact.fused "reduction" ins(%x45_0 : tensor<7x130x9xf32>) {
    ^bb0(%a0: tensor<7x130x9xf32>):
      %1 = fact.reduce argmin %a0 dims [1] : (tensor<7x130x9xf32>) -> tensor<7x9xi64>
      fact.yield %1 : tensor<7x9xi64>
    } : tensor<7x9xi64>
    %r46 = fact.fused "reduction" ins(%x46_0 : tensor<3x70xbf16>) {
    ^bb0(%a0: tensor<3x70xbf16>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<3x70xbf16>) -> tensor<3xi64>
      fact.yield %1 : tensor<3xi64>
    } : tensor<3xi64>
    %r47 = fact.fused "reduction" ins(%x47_0 : tensor<5000xf32>) {
    ^bb0(%a0: tensor<5000xf32>):
      %1 = fact.reduce argmin %a0 dims [0] : (tensor<5000xf32>) -> tensor<i64>
      fact.yield %1 : tensor<i64>
    } : tensor<i64>
    %r48 = fact.fused "reduction" ins(%x48_0 : tensor<4x6x50xf16>) {
    ^bb0(%a0: tensor<4x6x50xf16>):
      %1 = fact.reduce argmax %a0 dims [1, 2] : (tensor<4x6x50xf16>) -> tensor<4xi64>
      fact.yield %1 : tensor<4xi64>
    } : tensor<4xi64>
    %r49 = fact.fused "reduction" ins(%x49_0 : tensor<40x33xi32>) {
    ^bb0(%a0: tensor<40x33xi32>):
      %1 = fact.reduce argmax %a0 dims [0] : (tensor<40x33xi32>) -> tensor<33xi64>
      fact.yield %1 : tensor<33xi64>
    } : tensor<33xi64>
    %r50 = fact.fused "reduction" ins(%x50_0 : tensor<6x700xi1>) {
    ^bb0(%a0: tensor<6x700xi1>):
      %1 = fact.reduce argmin %a0 dims [1] : (tensor<6x700xi1>) -> tensor<6xi64>
      fact.yield %1 : tensor<6xi64>
    } : tensor<6xi64>
    %r51 = fact.fused "reduction" ins(%x51_0 : tensor<6x70x3xf64>) {
    ^bb0(%a0: tensor<6x70x3xf64>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<6x70x3xf64>) -> tensor<6x3xi64>
      fact.yield %1 : tensor<6x3xi64>
    } : tensor<6x3xi64>
    %r52 = fact.fused "reduction" ins(%x52_0 : tensor<90000x2xf32>) {
    ^bb0(%a0: tensor<90000x2xf32>):
      %1 = fact.reduce argmin %a0 dims [0] : (tensor<90000x2xf32>) -> tensor<2xi64>
      fact.yield %1 : tensor<2xi64>
    } : tensor<2xi64>
    %r53 = fact.fused "reduction" ins(%x53_0 : tensor<12x31x5xbf16>) {
    ^bb0(%a0: tensor<12x31x5xbf16>):
      %1 = fact.reduce argmin %a0 dims [0] : (tensor<12x31x5xbf16>) -> tensor<31x5xi64>
      fact.yield %1 : tensor<31x5xi64>
    } : tensor<31x5xi64>
    // Parts that read nothing.
    %r54 = fact.fused "concat" ins(%x54_0 : tensor<50x37xbf16>) {
    ^bb0(%a0: tensor<50x37xbf16>):
      %1 = fact.constant dense<2.0> : tensor<50x3xbf16>
      %2 = fact.constant dense<-1.0> : tensor<50x8xbf16>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<50x3xbf16>, tensor<50x37xbf16>, tensor<50x8xbf16>) -> tensor<50x48xbf16>
      fact.yield %3 : tensor<50x48xbf16>
    } : tensor<50x48xbf16>
    // Scatters: a few updates, sets, and updates that are sorted, of all kinds and types, with constants.
    %r55 = fact.fused "scatter" ins(%x55_0, %x55_1, %x55_2 : tensor<2x160x8xbf16>, tensor<3xi64>, tensor<2x3x8xbf16>) {
    ^bb0(%a0: tensor<2x160x8xbf16>, %a1: tensor<3xi64>, %a2: tensor<2x3x8xbf16>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<2x160x8xbf16>, tensor<3xi64>, tensor<2x3x8xbf16>) -> tensor<2x160x8xbf16>
      fact.yield %1 : tensor<2x160x8xbf16>
    } : tensor<2x160x8xbf16>
    %r56 = fact.fused "scatter" ins(%x56_0, %x56_1, %x56_2 : tensor<6x33x5xf16>, tensor<20xi64>, tensor<6x20x5xf16>) {
    ^bb0(%a0: tensor<6x33x5xf16>, %a1: tensor<20xi64>, %a2: tensor<6x20x5xf16>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 1 : (tensor<6x33x5xf16>, tensor<20xi64>, tensor<6x20x5xf16>) -> tensor<6x33x5xf16>
      fact.yield %1 : tensor<6x33x5xf16>
    } : tensor<6x33x5xf16>
    %r57 = fact.fused "scatter" ins(%x57_0, %x57_1, %x57_2 : tensor<5x9xf32>, tensor<4xi32>, tensor<4x9xf32>) {
    ^bb0(%a0: tensor<5x9xf32>, %a1: tensor<4xi32>, %a2: tensor<4x9xf32>):
      %1 = fact.scatter prod %a0, %a1, %a2 dim 0 : (tensor<5x9xf32>, tensor<4xi32>, tensor<4x9xf32>) -> tensor<5x9xf32>
      fact.yield %1 : tensor<5x9xf32>
    } : tensor<5x9xf32>
    %r58 = fact.fused "scatter" ins(%x58_0, %x58_1, %x58_2 : tensor<300x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) {
    ^bb0(%a0: tensor<300x7xi64>, %a1: tensor<20x30xi32>, %a2: tensor<20x30x7xi64>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 0 : (tensor<300x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) -> tensor<300x7xi64>
      fact.yield %1 : tensor<300x7xi64>
    } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<300x7xi64>
    %r59 = fact.fused "scatter" ins(%x59_0, %x59_1, %x59_2 : tensor<3x41x16xf16>, tensor<90xi64>, tensor<3x90x16xf16>) {
    ^bb0(%a0: tensor<3x41x16xf16>, %a1: tensor<90xi64>, %a2: tensor<3x90x16xf16>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<3x41x16xf16>, tensor<90xi64>, tensor<3x90x16xf16>) -> tensor<3x41x16xf16>
      fact.yield %1 : tensor<3x41x16xf16>
    } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<3x41x16xf16>
    %r60 = fact.fused "scatter" ins(%x60_0, %x60_1 : tensor<900xi1>, tensor<1000xi64>) {
    ^bb0(%a0: tensor<900xi1>, %a1: tensor<1000xi64>):
      %u = fact.constant dense<true> : tensor<1000xi1>
      %1 = fact.scatter set %a0, %a1, %u dim 0 : (tensor<900xi1>, tensor<1000xi64>, tensor<1000xi1>) -> tensor<900xi1>
      fact.yield %1 : tensor<900xi1>
    } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<900xi1>
    %r61 = fact.fused "scatter" ins(%x61_0, %x61_1, %x61_2 : tensor<2x160x8xf32>, tensor<100xi64>, tensor<2x100x8xf32>) {
    ^bb0(%a0: tensor<2x160x8xf32>, %a1: tensor<100xi64>, %a2: tensor<2x100x8xf32>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 1 : (tensor<2x160x8xf32>, tensor<100xi64>, tensor<2x100x8xf32>) -> tensor<2x160x8xf32>
      fact.yield %1 : tensor<2x160x8xf32>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 8>) : tensor<2x160x8xf32>
    %r62 = fact.fused "scatter" ins(%x62_0, %x62_1, %x62_2 : tensor<300x24xbf16>, tensor<1500xi64>, tensor<1500x24xbf16>) {
    ^bb0(%a0: tensor<300x24xbf16>, %a1: tensor<1500xi64>, %a2: tensor<1500x24xbf16>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<300x24xbf16>, tensor<1500xi64>, tensor<1500x24xbf16>) -> tensor<300x24xbf16>
      fact.yield %1 : tensor<300x24xbf16>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 128>) : tensor<300x24xbf16>
    %r63 = fact.fused "scatter" ins(%x63_0, %x63_1, %x63_2 : tensor<4x7x5xf64>, tensor<700xi64>, tensor<4x700x5xf64>) {
    ^bb0(%a0: tensor<4x7x5xf64>, %a1: tensor<700xi64>, %a2: tensor<4x700x5xf64>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 1 : (tensor<4x7x5xf64>, tensor<700xi64>, tensor<4x700x5xf64>) -> tensor<4x7x5xf64>
      fact.yield %1 : tensor<4x7x5xf64>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 32>) : tensor<4x7x5xf64>
    %r64 = fact.fused "scatter" ins(%x64_0 : tensor<3000xi64>) {
    ^bb0(%a0: tensor<3000xi64>):
      %s = fact.constant dense<0> : tensor<5000xi64>
      %u = fact.constant dense<1> : tensor<3000xi64>
      %1 = fact.scatter sum %s, %a0, %u dim 0 : (tensor<5000xi64>, tensor<3000xi64>, tensor<3000xi64>) -> tensor<5000xi64>
      fact.yield %1 : tensor<5000xi64>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 1>) : tensor<5000xi64>
    %r65 = fact.fused "scatter" ins(%x65_0, %x65_1 : tensor<5001xi64>, tensor<5001xf32>) {
    ^bb0(%a0: tensor<5001xi64>, %a1: tensor<5001xf32>):
      %s = fact.constant dense<0.0> : tensor<10xf32>
      %1 = fact.scatter sum %s, %a0, %a1 dim 0 : (tensor<10xf32>, tensor<5001xi64>, tensor<5001xf32>) -> tensor<10xf32>
      fact.yield %1 : tensor<10xf32>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 32>) : tensor<10xf32>
    %r66 = fact.fused "scatter" ins(%x66_0, %x66_1, %x66_2 : tensor<20x3xi32>, tensor<77xi64>, tensor<77x3xi32>) {
    ^bb0(%a0: tensor<20x3xi32>, %a1: tensor<77xi64>, %a2: tensor<77x3xi32>):
      %1 = fact.scatter prod %a0, %a1, %a2 dim 0 : (tensor<20x3xi32>, tensor<77xi64>, tensor<77x3xi32>) -> tensor<20x3xi32>
      fact.yield %1 : tensor<20x3xi32>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 7>) : tensor<20x3xi32>
    %r67 = fact.fused "scatter" ins(%x67_0, %x67_1, %x67_2 : tensor<50x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) {
    ^bb0(%a0: tensor<50x7xi64>, %a1: tensor<20x30xi32>, %a2: tensor<20x30x7xi64>):
      %1 = fact.scatter max %a0, %a1, %a2 dim 0 : (tensor<50x7xi64>, tensor<20x30xi32>, tensor<20x30x7xi64>) -> tensor<50x7xi64>
      fact.yield %1 : tensor<50x7xi64>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 8>) : tensor<50x7xi64>
    %r68 = fact.fused "scatter" ins(%x68_0, %x68_1 : tensor<200xi64>, tensor<3x200x2xbf16>) {
    ^bb0(%a0: tensor<200xi64>, %a1: tensor<3x200x2xbf16>):
      %s = fact.constant dense<0xFF80> : tensor<3x30x2xbf16>
      %1 = fact.scatter max %s, %a0, %a1 dim 1 : (tensor<3x30x2xbf16>, tensor<200xi64>, tensor<3x200x2xbf16>) -> tensor<3x30x2xbf16>
      fact.yield %1 : tensor<3x30x2xbf16>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 32>) : tensor<3x30x2xbf16>
    %r69 = fact.fused "scatter" ins(%x69_0, %x69_1, %x69_2 : tensor<2x65x9xf32>, tensor<129xi64>, tensor<2x129x9xf32>) {
    ^bb0(%a0: tensor<2x65x9xf32>, %a1: tensor<129xi64>, %a2: tensor<2x129x9xf32>):
      %1 = fact.scatter min %a0, %a1, %a2 dim 1 : (tensor<2x65x9xf32>, tensor<129xi64>, tensor<2x129x9xf32>) -> tensor<2x65x9xf32>
      fact.yield %1 : tensor<2x65x9xf32>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 16>) : tensor<2x65x9xf32>
    %r70 = fact.fused "scatter" ins(%x70_0, %x70_1, %x70_2 : tensor<130xi1>, tensor<300xi64>, tensor<300xi1>) {
    ^bb0(%a0: tensor<130xi1>, %a1: tensor<300xi64>, %a2: tensor<300xi1>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<130xi1>, tensor<300xi64>, tensor<300xi1>) -> tensor<130xi1>
      fact.yield %1 : tensor<130xi1>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 8>) : tensor<130xi1>
    %r71 = fact.fused "scatter" ins(%x71_0, %x71_1, %x71_2 : tensor<40x16xi8>, tensor<200xi64>, tensor<200x16xi8>) {
    ^bb0(%a0: tensor<40x16xi8>, %a1: tensor<200xi64>, %a2: tensor<200x16xi8>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<40x16xi8>, tensor<200xi64>, tensor<200x16xi8>) -> tensor<40x16xi8>
      fact.yield %1 : tensor<40x16xi8>
    } schedule(#fact.cuda_scatter<method = sort, chunk = 8>) : tensor<40x16xi8>
    // Reductions over any dimension: columns in vectors and one by one, splits, all types.
    %r72 = fact.fused "reduction" ins(%x72_0 : tensor<300x64xbf16>) {
    ^bb0(%a0: tensor<300x64xbf16>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<300x64xbf16>) -> tensor<64xbf16>
      fact.yield %1 : tensor<64xbf16>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 32, splits = 1, operands = read>) : tensor<64xbf16>
    %r73 = fact.fused "reduction" ins(%x73_0 : tensor<1000x40xbf16>) {
    ^bb0(%a0: tensor<1000x40xbf16>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<1000x40xbf16>) -> tensor<40xbf16>
      fact.yield %1 : tensor<40xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 8, operands = read>) : tensor<40xbf16>
    %r74 = fact.fused "reduction" ins(%x74_0 : tensor<3x70x5xf16>) {
    ^bb0(%a0: tensor<3x70x5xf16>):
      %1 = fact.reduce mean %a0 dims [1] : (tensor<3x70x5xf16>) -> tensor<3x5xf16>
      fact.yield %1 : tensor<3x5xf16>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 1, operands = read>) : tensor<3x5xf16>
    %r75 = fact.fused "reduction" ins(%x75_0 : tensor<2x33x6xf32>) {
    ^bb0(%a0: tensor<2x33x6xf32>):
      %1 = fact.reduce max %a0 dims [1] : (tensor<2x33x6xf32>) -> tensor<2x6xf32>
      fact.yield %1 : tensor<2x6xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 1, operands = read>) : tensor<2x6xf32>
    %r76 = fact.fused "reduction" ins(%x76_0 : tensor<40x90xf64>) {
    ^bb0(%a0: tensor<40x90xf64>):
      %1 = fact.reduce min %a0 dims [0] : (tensor<40x90xf64>) -> tensor<90xf64>
      fact.yield %1 : tensor<90xf64>
    } schedule(#fact.cuda_reduction<columns = 16, lanes = 8, splits = 1, operands = read>) : tensor<90xf64>
    %r77 = fact.fused "reduction" ins(%x77_0 : tensor<4x50x12xi32>) {
    ^bb0(%a0: tensor<4x50x12xi32>):
      %1 = fact.reduce prod %a0 dims [1] : (tensor<4x50x12xi32>) -> tensor<4x12xi32>
      fact.yield %1 : tensor<4x12xi32>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = read>) : tensor<4x12xi32>
    %r78 = fact.fused "reduction" ins(%x78_0 : tensor<7x300x3xi64>) {
    ^bb0(%a0: tensor<7x300x3xi64>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<7x300x3xi64>) -> tensor<7x3xi64>
      fact.yield %1 : tensor<7x3xi64>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 32, splits = 1, operands = read>) : tensor<7x3xi64>
    %r79 = fact.fused "reduction" ins(%x79_0 : tensor<500x7xi1>) {
    ^bb0(%a0: tensor<500x7xi1>):
      %1 = fact.reduce max %a0 dims [0] : (tensor<500x7xi1>) -> tensor<7xi1>
      fact.yield %1 : tensor<7xi1>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 4, operands = read>) : tensor<7xi1>
    %r80 = fact.fused "reduction" ins(%x80_0 : tensor<2x20x3x10xf32>) {
    ^bb0(%a0: tensor<2x20x3x10xf32>):
      %1 = fact.reduce sum %a0 dims [1, 2] : (tensor<2x20x3x10xf32>) -> tensor<2x10xf32>
      fact.yield %1 : tensor<2x10xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 1, operands = read>) : tensor<2x10xf32>
    %r81 = fact.fused "reduction" ins(%x81_0 : tensor<7x130x8xf32>) {
    ^bb0(%a0: tensor<7x130x8xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<7x130x8xf32>) -> tensor<7x8xi64>
      fact.yield %1 : tensor<7x8xi64>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 32, splits = 1, operands = read>) : tensor<7x8xi64>
    %r82 = fact.fused "reduction" ins(%x82_0 : tensor<5000x6xbf16>) {
    ^bb0(%a0: tensor<5000x6xbf16>):
      %1 = fact.reduce argmin %a0 dims [0] : (tensor<5000x6xbf16>) -> tensor<6xi64>
      fact.yield %1 : tensor<6xi64>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 9, operands = read>) : tensor<6xi64>
    %r83 = fact.fused "reduction" ins(%x83_0 : tensor<3x21x5xi64>) {
    ^bb0(%a0: tensor<3x21x5xi64>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<3x21x5xi64>) -> tensor<3x5xi64>
      fact.yield %1 : tensor<3x5xi64>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 1, operands = read>) : tensor<3x5xi64>
    // All elements, and rows.
    %r84 = fact.fused "reduction" ins(%x84_0 : tensor<70x144xf32>) {
    ^bb0(%a0: tensor<70x144xf32>):
      %1 = fact.reduce mean %a0 dims [0, 1] : (tensor<70x144xf32>) -> tensor<f32>
      fact.yield %1 : tensor<f32>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 256, splits = 5, operands = read>) : tensor<f32>
    %r85 = fact.fused "reduction" ins(%x85_0 : tensor<5x4001xi64>) {
    ^bb0(%a0: tensor<5x4001xi64>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<5x4001xi64>) -> tensor<5xi64>
      fact.yield %1 : tensor<5xi64>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 128, splits = 3, operands = read>) : tensor<5xi64>
    %r86 = fact.fused "reduction" ins(%x86_0 : tensor<6x700xi1>) {
    ^bb0(%a0: tensor<6x700xi1>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<6x700xi1>) -> tensor<6xi64>
      fact.yield %1 : tensor<6xi64>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 64, splits = 1, operands = read>) : tensor<6xi64>
    %r87 = fact.fused "reduction" ins(%x87_0 : tensor<3x77xi8>) {
    ^bb0(%a0: tensor<3x77xi8>):
      %1 = fact.reduce max %a0 dims [1] : (tensor<3x77xi8>) -> tensor<3xi8>
      fact.yield %1 : tensor<3xi8>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 32, splits = 1, operands = read>) : tensor<3xi8>
    // Softmax, log_softmax, logsumexp and layer norm over the middle, held and read again; views and pointwise ops around.
    %r88 = fact.fused "reduction" ins(%x88_0 : tensor<2x40x24xf32>) {
    ^bb0(%a0: tensor<2x40x24xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x40x24xf32>
      fact.yield %1 : tensor<2x40x24xf32>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = held>) : tensor<2x40x24xf32>
    %r89 = fact.fused "reduction" ins(%x89_0 : tensor<3x50x7xbf16>) {
    ^bb0(%a0: tensor<3x50x7xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<3x50x7xbf16>
      fact.yield %1 : tensor<3x50x7xbf16>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = held>) : tensor<3x50x7xbf16>
    %r90 = fact.fused "reduction" ins(%x90_0 : tensor<6x30xf64>) {
    ^bb0(%a0: tensor<6x30xf64>):
      %1 = fact.softmax %a0 dim 0 : tensor<6x30xf64>
      fact.yield %1 : tensor<6x30xf64>
    } schedule(#fact.cuda_reduction<columns = 32, lanes = 2, splits = 1, operands = read>) : tensor<6x30xf64>
    %r91 = fact.fused "reduction" ins(%x91_0 : tensor<3x5000xf32>) {
    ^bb0(%a0: tensor<3x5000xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<3x5000xf32>
      fact.yield %1 : tensor<3x5000xf32>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 256, splits = 1, operands = read>) : tensor<3x5000xf32>
    %r92 = fact.fused "reduction" ins(%x92_0 : tensor<2x1001xf16>) {
    ^bb0(%a0: tensor<2x1001xf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x1001xf16>
      fact.yield %1 : tensor<2x1001xf16>
    } schedule(#fact.cuda_reduction<columns = 1, lanes = 64, splits = 1, operands = held>) : tensor<2x1001xf16>
    %r93 = fact.fused "reduction" ins(%x93_0 : tensor<2x33x16xf32>) {
    ^bb0(%a0: tensor<2x33x16xf32>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<2x33x16xf32>) -> tensor<2x1x16xf32>
      %2 = fact.sub %a0, %1 : (tensor<2x33x16xf32>, tensor<2x1x16xf32>) -> tensor<2x33x16xf32>
      %3 = fact.exp %2 : (tensor<2x33x16xf32>) -> tensor<2x33x16xf32>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<2x33x16xf32>) -> tensor<2x1x16xf32>
      %5 = fact.log %4 : (tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
      %6 = fact.sub %2, %5 : (tensor<2x33x16xf32>, tensor<2x1x16xf32>) -> tensor<2x33x16xf32>
      fact.yield %6 : tensor<2x33x16xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 32, splits = 1, operands = held>) : tensor<2x33x16xf32>
    %r94 = fact.fused "reduction" ins(%x94_0 : tensor<3x29x10xbf16>) {
    ^bb0(%a0: tensor<3x29x10xbf16>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<3x29x10xbf16>) -> tensor<3x1x10xbf16>
      %2 = fact.sub %a0, %1 : (tensor<3x29x10xbf16>, tensor<3x1x10xbf16>) -> tensor<3x29x10xbf16>
      %3 = fact.exp %2 : (tensor<3x29x10xbf16>) -> tensor<3x29x10xbf16>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<3x29x10xbf16>) -> tensor<3x1x10xbf16>
      %5 = fact.log %4 : (tensor<3x1x10xbf16>) -> tensor<3x1x10xbf16>
      %6 = fact.add %5, %1 : (tensor<3x1x10xbf16>, tensor<3x1x10xbf16>) -> tensor<3x1x10xbf16>
      fact.yield %6 : tensor<3x1x10xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = held>) : tensor<3x1x10xbf16>
    %r95:2 = fact.fused "reduction" ins(%x95_0, %x95_1 : tensor<2x37x12xf32>, tensor<1x37x1xf32>) {
    ^bb0(%a0: tensor<2x37x12xf32>, %a1: tensor<1x37x1xf32>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<2x37x12xf32>) -> tensor<2x1x12xf32>
      %2 = fact.sub %a0, %1 : (tensor<2x37x12xf32>, tensor<2x1x12xf32>) -> tensor<2x37x12xf32>
      %3 = fact.mul %2, %2 : (tensor<2x37x12xf32>, tensor<2x37x12xf32>) -> tensor<2x37x12xf32>
      %4 = fact.reduce mean %3 dims [1] keep : (tensor<2x37x12xf32>) -> tensor<2x1x12xf32>
      %c = fact.constant dense<1.0e-5> : tensor<f32>
      %5 = fact.add %4, %c : (tensor<2x1x12xf32>, tensor<f32>) -> tensor<2x1x12xf32>
      %6 = fact.rsqrt %5 : (tensor<2x1x12xf32>) -> tensor<2x1x12xf32>
      %7 = fact.mul %2, %6 : (tensor<2x37x12xf32>, tensor<2x1x12xf32>) -> tensor<2x37x12xf32>
      %8 = fact.mul %7, %a1 : (tensor<2x37x12xf32>, tensor<1x37x1xf32>) -> tensor<2x37x12xf32>
      fact.yield %8, %1 : tensor<2x37x12xf32>, tensor<2x1x12xf32>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 1, operands = held>) : tensor<2x37x12xf32>, tensor<2x1x12xf32>
    %r96:2 = fact.fused "reduction" ins(%x96_0, %x96_1 : tensor<2x37x16xbf16>, tensor<1x37x1xbf16>) {
    ^bb0(%a0: tensor<2x37x16xbf16>, %a1: tensor<1x37x1xbf16>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<2x37x16xbf16>) -> tensor<2x1x16xbf16>
      %2 = fact.sub %a0, %1 : (tensor<2x37x16xbf16>, tensor<2x1x16xbf16>) -> tensor<2x37x16xbf16>
      %3 = fact.mul %2, %2 : (tensor<2x37x16xbf16>, tensor<2x37x16xbf16>) -> tensor<2x37x16xbf16>
      %4 = fact.reduce mean %3 dims [1] keep : (tensor<2x37x16xbf16>) -> tensor<2x1x16xbf16>
      %c = fact.constant dense<1.0e-5> : tensor<bf16>
      %5 = fact.add %4, %c : (tensor<2x1x16xbf16>, tensor<bf16>) -> tensor<2x1x16xbf16>
      %6 = fact.rsqrt %5 : (tensor<2x1x16xbf16>) -> tensor<2x1x16xbf16>
      %7 = fact.mul %2, %6 : (tensor<2x37x16xbf16>, tensor<2x1x16xbf16>) -> tensor<2x37x16xbf16>
      %8 = fact.mul %7, %a1 : (tensor<2x37x16xbf16>, tensor<1x37x1xbf16>) -> tensor<2x37x16xbf16>
      fact.yield %8, %1 : tensor<2x37x16xbf16>, tensor<2x1x16xbf16>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 16, splits = 1, operands = read>) : tensor<2x37x16xbf16>, tensor<2x1x16xbf16>
    %r97 = fact.fused "reduction" ins(%x97_0 : tensor<3x40x24xf32>) {
    ^bb0(%a0: tensor<3x40x24xf32>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<3x40x24xf32>) -> tensor<3x24x40xf32>
      %2 = fact.softmax %1 dim 2 : tensor<3x24x40xf32>
      %3 = fact.permute %2 [0, 2, 1] : (tensor<3x24x40xf32>) -> tensor<3x40x24xf32>
      fact.yield %3 : tensor<3x40x24xf32>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 1, operands = held>) : tensor<3x40x24xf32>
    %r98 = fact.fused "reduction" ins(%x98_0, %x98_1, %x98_2 : tensor<4x33x6xbf16>, tensor<4x33x6xbf16>, tensor<4x6xbf16>) {
    ^bb0(%a0: tensor<4x33x6xbf16>, %a1: tensor<4x33x6xbf16>, %a2: tensor<4x6xbf16>):
      %1 = fact.mul %a0, %a1 : (tensor<4x33x6xbf16>, tensor<4x33x6xbf16>) -> tensor<4x33x6xbf16>
      %2 = fact.reduce sum %1 dims [1] : (tensor<4x33x6xbf16>) -> tensor<4x6xbf16>
      %3 = fact.add %2, %a2 : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<4x6xbf16>
      %4 = fact.exp %3 : (tensor<4x6xbf16>) -> tensor<4x6xbf16>
      fact.yield %4 : tensor<4x6xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 16, splits = 1, operands = read>) : tensor<4x6xbf16>
    // Views of operands and results, short columns, two reductions of one column, with default schedules.
    %r99 = fact.fused "reduction" ins(%x99_0 : tensor<600x3x2xbf16>) {
    ^bb0(%a0: tensor<600x3x2xbf16>):
      %1 = fact.reduce mean %a0 dims [1] : (tensor<600x3x2xbf16>) -> tensor<600x2xbf16>
      fact.yield %1 : tensor<600x2xbf16>
    } : tensor<600x2xbf16>
    %r100 = fact.fused "reduction" ins(%x100_0 : tensor<2x3x4x5xf32>) {
    ^bb0(%a0: tensor<2x3x4x5xf32>):
      %1 = fact.reduce argmax %a0 dims [1, 2] : (tensor<2x3x4x5xf32>) -> tensor<2x5xi64>
      fact.yield %1 : tensor<2x5xi64>
    } : tensor<2x5xi64>
    %r101 = fact.fused "reduction" ins(%x101_0 : tensor<3x30x16xf32>) {
    ^bb0(%a0: tensor<3x30x16xf32>):
      %1 = fact.slice %a0 dim 1 start 1 step 2 : (tensor<3x30x16xf32>) -> tensor<3x14x16xf32>
      %2 = fact.reduce sum %1 dims [1] : (tensor<3x14x16xf32>) -> tensor<3x16xf32>
      fact.yield %2 : tensor<3x16xf32>
    } : tensor<3x16xf32>
    %r102 = fact.fused "reduction" ins(%x102_0 : tensor<3x30x17xbf16>) {
    ^bb0(%a0: tensor<3x30x17xbf16>):
      %1 = fact.slice %a0 dim 2 start 3 step 1 : (tensor<3x30x17xbf16>) -> tensor<3x30x8xbf16>
      %2 = fact.reduce max %1 dims [1] : (tensor<3x30x8xbf16>) -> tensor<3x8xbf16>
      fact.yield %2 : tensor<3x8xbf16>
    } : tensor<3x8xbf16>
    %r103 = fact.fused "reduction" ins(%x103_0, %x103_1 : tensor<4x1x8xf32>, tensor<4x50x8xf32>) {
    ^bb0(%a0: tensor<4x1x8xf32>, %a1: tensor<4x50x8xf32>):
      %1 = fact.mul %a1, %a0 : (tensor<4x50x8xf32>, tensor<4x1x8xf32>) -> tensor<4x50x8xf32>
      %2 = fact.reduce prod %1 dims [1] : (tensor<4x50x8xf32>) -> tensor<4x8xf32>
      fact.yield %2 : tensor<4x8xf32>
    } : tensor<4x8xf32>
    %r104 = fact.fused "reduction" ins(%x104_0 : tensor<2x3x4x5xf32>) {
    ^bb0(%a0: tensor<2x3x4x5xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x3x4x5xf32>
      fact.yield %1 : tensor<2x3x4x5xf32>
    } : tensor<2x3x4x5xf32>
    %r105 = fact.fused "reduction" ins(%x105_0 : tensor<4096x64xf32>) {
    ^bb0(%a0: tensor<4096x64xf32>):
      %1 = fact.softmax %a0 dim 0 : tensor<4096x64xf32>
      fact.yield %1 : tensor<4096x64xf32>
    } : tensor<4096x64xf32>
    %r106 = fact.fused "reduction" ins(%x106_0 : tensor<3x40x5xf32>) {
    ^bb0(%a0: tensor<3x40x5xf32>):
      %1 = fact.permute %a0 [2, 1, 0] : (tensor<3x40x5xf32>) -> tensor<5x40x3xf32>
      %2 = fact.reduce sum %1 dims [1] : (tensor<5x40x3xf32>) -> tensor<5x3xf32>
      fact.yield %2 : tensor<5x3xf32>
    } : tensor<5x3xf32>
    %r107 = fact.fused "reduction" ins(%x107_0 : tensor<3x40x5xbf16>) {
    ^bb0(%a0: tensor<3x40x5xbf16>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<3x40x5xbf16>) -> tensor<3x5x40xbf16>
      %2 = fact.reduce argmax %1 dims [2] : (tensor<3x5x40xbf16>) -> tensor<3x5xi64>
      fact.yield %2 : tensor<3x5xi64>
    } : tensor<3x5xi64>
    %r108:2 = fact.fused "reduction" ins(%x108_0 : tensor<3x40x5xf32>) {
    ^bb0(%a0: tensor<3x40x5xf32>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<3x40x5xf32>) -> tensor<3x5xf32>
      %2 = fact.reduce max %a0 dims [1] : (tensor<3x40x5xf32>) -> tensor<3x5xf32>
      %3 = fact.add %1, %2 : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
      fact.yield %3, %2 : tensor<3x5xf32>, tensor<3x5xf32>
    } : tensor<3x5xf32>, tensor<3x5xf32>
    %r109 = fact.fused "reduction" ins(%x109_0 : tensor<3x40x5xf32>) {
    ^bb0(%a0: tensor<3x40x5xf32>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<3x40x5xf32>) -> tensor<3x5xf32>
      %2 = fact.permute %1 [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
      fact.yield %2 : tensor<5x3xf32>
    } : tensor<5x3xf32>
    %r110 = fact.fused "reduction" ins(%x110_0 : tensor<3x40x5xf32>) {
    ^bb0(%a0: tensor<3x40x5xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<3x40x5xf32>
      %2 = fact.permute %1 [1, 0, 2] : (tensor<3x40x5xf32>) -> tensor<40x3x5xf32>
      fact.yield %2 : tensor<40x3x5xf32>
    } : tensor<40x3x5xf32>
    // More columns than a grid can have along its second dimension, in blocks of 64.
    %r111 = fact.fused "thin_gemm" ins(%x111_0, %x111_1 : tensor<1x2xf32>, tensor<2x4194245xf32>) {
    ^bb0(%a0: tensor<1x2xf32>, %a1: tensor<2x4194245xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x2xf32>, tensor<2x4194245xf32>) -> tensor<1x4194245xf32>
      fact.yield %1 : tensor<1x4194245xf32>
    } : tensor<1x4194245xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5#0, %r5#1, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47, %r48, %r49, %r50, %r51, %r52, %r53, %r54, %r55, %r56, %r57, %r58, %r59, %r60, %r61, %r62, %r63, %r64, %r65, %r66, %r67, %r68, %r69, %r70, %r71, %r72, %r73, %r74, %r75, %r76, %r77, %r78, %r79, %r80, %r81, %r82, %r83, %r84, %r85, %r86, %r87, %r88, %r89, %r90, %r91, %r92, %r93, %r94, %r95#0, %r95#1, %r96#0, %r96#1, %r97, %r98, %r99, %r100, %r101, %r102, %r103, %r104, %r105, %r106, %r107, %r108#0, %r108#1, %r109, %r110, %r111 : tensor<1x512xbf16>, tensor<1x512xbf16>, tensor<1x77xf32>, tensor<1x77xf16>, tensor<8x1000xf32>, tensor<5x100xbf16>, tensor<5x100xbf16>, tensor<2000x1xf32>, tensor<4x7x1xbf16>, tensor<8x1x384xbf16>, tensor<90x3xf32>, tensor<1001x3xf32>, tensor<1x1xf32>, tensor<2x3xbf16>, tensor<6x1x40xf32>, tensor<4x3x2x48xbf16>, tensor<2x3x1x129xf16>, tensor<700x1x1xf32>, tensor<100x333xf32>, tensor<100x64xbf16>, tensor<3x50x70xf32>, tensor<41x72xbf16>, tensor<200x3xf32>, tensor<40x1000xf32>, tensor<40x3xf32>, tensor<7x2501xbf16>, tensor<9x513xf32>, tensor<6x777xf16>, tensor<5x300xi32>, tensor<3x4096xi64>, tensor<4x260xf64>, tensor<5x333xf32>, tensor<2x70001xf32>, tensor<100000xi64>, tensor<3x200x37xf32>, tensor<5000x6xbf16>, tensor<20x100xi64>, tensor<3x2x33x5xi64>, tensor<300x7xi64>, tensor<4x1500xi64>, tensor<2x3000xi64>, tensor<5x10xi64>, tensor<2x50xi64>, tensor<70001xi64>, tensor<6000x2xi64>, tensor<7x9xi64>, tensor<7x9xi64>, tensor<3xi64>, tensor<i64>, tensor<4xi64>, tensor<33xi64>, tensor<6xi64>, tensor<6x3xi64>, tensor<2xi64>, tensor<31x5xi64>, tensor<50x48xbf16>, tensor<2x160x8xbf16>, tensor<6x33x5xf16>, tensor<5x9xf32>, tensor<300x7xi64>, tensor<3x41x16xf16>, tensor<900xi1>, tensor<2x160x8xf32>, tensor<300x24xbf16>, tensor<4x7x5xf64>, tensor<5000xi64>, tensor<10xf32>, tensor<20x3xi32>, tensor<50x7xi64>, tensor<3x30x2xbf16>, tensor<2x65x9xf32>, tensor<130xi1>, tensor<40x16xi8>, tensor<64xbf16>, tensor<40xbf16>, tensor<3x5xf16>, tensor<2x6xf32>, tensor<90xf64>, tensor<4x12xi32>, tensor<7x3xi64>, tensor<7xi1>, tensor<2x10xf32>, tensor<7x8xi64>, tensor<6xi64>, tensor<3x5xi64>, tensor<f32>, tensor<5xi64>, tensor<6xi64>, tensor<3xi8>, tensor<2x40x24xf32>, tensor<3x50x7xbf16>, tensor<6x30xf64>, tensor<3x5000xf32>, tensor<2x1001xf16>, tensor<2x33x16xf32>, tensor<3x1x10xbf16>, tensor<2x37x12xf32>, tensor<2x1x12xf32>, tensor<2x37x16xbf16>, tensor<2x1x16xbf16>, tensor<3x40x24xf32>, tensor<4x6xbf16>, tensor<600x2xbf16>, tensor<2x5xi64>, tensor<3x16xf32>, tensor<3x8xbf16>, tensor<4x8xf32>, tensor<2x3x4x5xf32>, tensor<4096x64xf32>, tensor<5x3xf32>, tensor<3x5xi64>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<5x3xf32>, tensor<40x3x5xf32>, tensor<1x4194245xf32>
  }
}
