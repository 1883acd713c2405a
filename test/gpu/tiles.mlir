// Small regions of transposing passes, short rows, group norms and reductions of one read; test_families.py lets
// fact-tune check their kernels against the references, and test_emulation.py does on a CPU.

module @tiles attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<40x70xi1>, %x1_0: tensor<2x128x192xi8>, %x2_0: tensor<2x128x192xbf16>, %x3_0: tensor<2x3x100xbf16>, %x4_0: tensor<2x100x3xf32>, %x5_0: tensor<40x70xi64>, %x6_0: tensor<9x10x11xbf16>, %x7_0: tensor<2x3x2x2x6x20xbf16>, %x8_0: tensor<40x70xf32>, %x9_0: tensor<2x37x53xbf16>, %x9_1: tensor<2x53x37xf32>, %x9_2: tensor<37xbf16>, %x9_3: tensor<2x37x53xi1>, %x9_4: tensor<53x1xf32>, %x10_0: tensor<2x64x96xbf16>, %x10_1: tensor<2x96x64xf32>, %x10_2: tensor<64xbf16>, %x10_3: tensor<2x64x96xi1>, %x10_4: tensor<96x1xf32>, %x11_0: tensor<5x64xbf16>, %x11_1: tensor<64xbf16>, %x11_2: tensor<64xbf16>, %x12_0: tensor<5x64xf32>, %x12_1: tensor<64xf32>, %x12_2: tensor<64xf32>, %x13_0: tensor<2x8x6x6xf32>, %x13_1: tensor<8xf32>, %x13_2: tensor<8xf32>, %x14_0: tensor<2x8x3x5xbf16>, %x14_1: tensor<8xbf16>, %x14_2: tensor<8xbf16>, %x15_0: tensor<300x7xf32>, %x16_0: tensor<70x33xbf16>, %x17_0: tensor<2x24x6x8xbf16>, %x17_1: tensor<24xbf16>, %x17_2: tensor<24xbf16>, %x18_0: tensor<2x13x5x7xf32>, %x18_1: tensor<13xf32>, %x18_2: tensor<13xf32>, %x19_0: tensor<2x16x4x4xf32>, %x20_0: tensor<9x256xbf16>, %x21_0: tensor<5x77xf32>, %x22_0: tensor<7x512xbf16>, %x23_0: tensor<33x64xbf16>, %x24_0: tensor<13x1000xbf16>, %x25_0: tensor<2x5x3x64xbf16>, %x25_1: tensor<64xbf16>, %x26_0: tensor<2x5x3x4x32xbf16>, %x26_1: tensor<2x4x5x32xbf16>, %x27_0: tensor<2x77x52xf32>, %x28_0: tensor<2x21x70xf32>, %x29_0: tensor<2x21x64xbf16>, %x30_0: tensor<3x29x24xbf16>, %x31_0: tensor<2x77x52xf32>) -> (tensor<70x40xi1>, tensor<2x192x128xi8>, tensor<2x192x128xbf16>, tensor<2x100x3xbf16>, tensor<2x3x100xf32>, tensor<70x40xi64>, tensor<11x10x9xbf16>, tensor<2x3x6x2x20x2xbf16>, tensor<35x40xf32>, tensor<2x53x37xf32>, tensor<2x53x37xbf16>, tensor<2x96x64xf32>, tensor<2x96x64xbf16>, tensor<5x64xbf16>, tensor<5x64xf32>, tensor<2x8x6x6xf32>, tensor<2x8x3x5xbf16>, tensor<300xf32>, tensor<70xi64>, tensor<2x24x6x8xbf16>, tensor<2x13x5x7xf32>, tensor<2x16x4x4xf32>, tensor<9x256xbf16>, tensor<5x77xf32>, tensor<7x512xbf16>, tensor<33xbf16>, tensor<33xbf16>, tensor<13xbf16>, tensor<13xi64>, tensor<2x3x5x64xbf16>, tensor<2x4x5x32xbf16>, tensor<2x77x52xf32>, tensor<2x21x70xf32>, tensor<2x21x64xbf16>, tensor<3x29x24xbf16>, tensor<2x52xi64>) {
    // Transposes of each element size, odd and even, few channels both ways.
    %r0 = fact.fused "pointwise" ins(%x0_0 : tensor<40x70xi1>) {
    ^bb0(%a0: tensor<40x70xi1>):
      %1 = fact.permute %a0 [1, 0] : (tensor<40x70xi1>) -> tensor<70x40xi1>
      fact.yield %1 : tensor<70x40xi1>
    } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<70x40xi1>
    %r1 = fact.fused "pointwise" ins(%x1_0 : tensor<2x128x192xi8>) {
    ^bb0(%a0: tensor<2x128x192xi8>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x128x192xi8>) -> tensor<2x192x128xi8>
      fact.yield %1 : tensor<2x192x128xi8>
    } schedule(#fact.cuda_tile<rows = 64, columns = 64, threads = 256>) : tensor<2x192x128xi8>
    %r2 = fact.fused "pointwise" ins(%x2_0 : tensor<2x128x192xbf16>) {
    ^bb0(%a0: tensor<2x128x192xbf16>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x128x192xbf16>) -> tensor<2x192x128xbf16>
      fact.yield %1 : tensor<2x192x128xbf16>
    } schedule(#fact.cuda_tile<rows = 64, columns = 64, threads = 256>) : tensor<2x192x128xbf16>
    %r3 = fact.fused "pointwise" ins(%x3_0 : tensor<2x3x100xbf16>) {
    ^bb0(%a0: tensor<2x3x100xbf16>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x3x100xbf16>) -> tensor<2x100x3xbf16>
      fact.yield %1 : tensor<2x100x3xbf16>
    } schedule(#fact.cuda_tile<rows = 32, columns = 64, threads = 128>) : tensor<2x100x3xbf16>
    %r4 = fact.fused "pointwise" ins(%x4_0 : tensor<2x100x3xf32>) {
    ^bb0(%a0: tensor<2x100x3xf32>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x100x3xf32>) -> tensor<2x3x100xf32>
      fact.yield %1 : tensor<2x3x100xf32>
    } schedule(#fact.cuda_tile<rows = 32, columns = 64, threads = 128>) : tensor<2x3x100xf32>
    %r5 = fact.fused "pointwise" ins(%x5_0 : tensor<40x70xi64>) {
    ^bb0(%a0: tensor<40x70xi64>):
      %1 = fact.permute %a0 [1, 0] : (tensor<40x70xi64>) -> tensor<70x40xi64>
      fact.yield %1 : tensor<70x40xi64>
    } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<70x40xi64>
    // A reversed order, a pixel shuffle, a slice, operands of both orders and two results.
    %r6 = fact.fused "pointwise" ins(%x6_0 : tensor<9x10x11xbf16>) {
    ^bb0(%a0: tensor<9x10x11xbf16>):
      %1 = fact.permute %a0 [2, 1, 0] : (tensor<9x10x11xbf16>) -> tensor<11x10x9xbf16>
      %2 = fact.relu %1 : (tensor<11x10x9xbf16>) -> tensor<11x10x9xbf16>
      fact.yield %2 : tensor<11x10x9xbf16>
    } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<11x10x9xbf16>
    %r7 = fact.fused "pointwise" ins(%x7_0 : tensor<2x3x2x2x6x20xbf16>) {
    ^bb0(%a0: tensor<2x3x2x2x6x20xbf16>):
      %1 = fact.permute %a0 [0, 1, 4, 2, 5, 3] : (tensor<2x3x2x2x6x20xbf16>) -> tensor<2x3x6x2x20x2xbf16>
      fact.yield %1 : tensor<2x3x6x2x20x2xbf16>
    } schedule(#fact.cuda_tile<rows = 32, columns = 64, threads = 128>) : tensor<2x3x6x2x20x2xbf16>
    %r8 = fact.fused "pointwise" ins(%x8_0 : tensor<40x70xf32>) {
    ^bb0(%a0: tensor<40x70xf32>):
      %0 = fact.slice %a0 dim 1 start 1 step 2 : (tensor<40x70xf32>) -> tensor<40x35xf32>
      %1 = fact.permute %0 [1, 0] : (tensor<40x35xf32>) -> tensor<35x40xf32>
      fact.yield %1 : tensor<35x40xf32>
    } schedule(#fact.cuda_tile<rows = 16, columns = 16, threads = 64>) : tensor<35x40xf32>
    %r9:2 = fact.fused "pointwise" ins(%x9_0, %x9_1, %x9_2, %x9_3, %x9_4 : tensor<2x37x53xbf16>, tensor<2x53x37xf32>, tensor<37xbf16>, tensor<2x37x53xi1>, tensor<53x1xf32>) {
    ^bb0(%a0: tensor<2x37x53xbf16>, %a1: tensor<2x53x37xf32>, %a2: tensor<37xbf16>, %a3: tensor<2x37x53xi1>, %a4: tensor<53x1xf32>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x37x53xbf16>) -> tensor<2x53x37xbf16>
      %2 = fact.cast %1 : (tensor<2x53x37xbf16>) -> tensor<2x53x37xf32>
      %3 = fact.add %2, %a1 : (tensor<2x53x37xf32>, tensor<2x53x37xf32>) -> tensor<2x53x37xf32>
      %4 = fact.cast %a2 : (tensor<37xbf16>) -> tensor<37xf32>
      %5 = fact.add %3, %4 : (tensor<2x53x37xf32>, tensor<37xf32>) -> tensor<2x53x37xf32>
      %6 = fact.permute %a3 [0, 2, 1] : (tensor<2x37x53xi1>) -> tensor<2x53x37xi1>
      %7 = fact.mul %5, %a4 : (tensor<2x53x37xf32>, tensor<53x1xf32>) -> tensor<2x53x37xf32>
      %8 = fact.select %6, %7, %5 : (tensor<2x53x37xi1>, tensor<2x53x37xf32>, tensor<2x53x37xf32>) -> tensor<2x53x37xf32>
      %9 = fact.cast %7 : (tensor<2x53x37xf32>) -> tensor<2x53x37xbf16>
      fact.yield %8, %9 : tensor<2x53x37xf32>, tensor<2x53x37xbf16>
    } schedule(#fact.cuda_tile<rows = 32, columns = 32, threads = 128>) : tensor<2x53x37xf32>, tensor<2x53x37xbf16>
    %r10:2 = fact.fused "pointwise" ins(%x10_0, %x10_1, %x10_2, %x10_3, %x10_4 : tensor<2x64x96xbf16>, tensor<2x96x64xf32>, tensor<64xbf16>, tensor<2x64x96xi1>, tensor<96x1xf32>) {
    ^bb0(%a0: tensor<2x64x96xbf16>, %a1: tensor<2x96x64xf32>, %a2: tensor<64xbf16>, %a3: tensor<2x64x96xi1>, %a4: tensor<96x1xf32>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<2x64x96xbf16>) -> tensor<2x96x64xbf16>
      %2 = fact.cast %1 : (tensor<2x96x64xbf16>) -> tensor<2x96x64xf32>
      %3 = fact.add %2, %a1 : (tensor<2x96x64xf32>, tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
      %4 = fact.cast %a2 : (tensor<64xbf16>) -> tensor<64xf32>
      %5 = fact.add %3, %4 : (tensor<2x96x64xf32>, tensor<64xf32>) -> tensor<2x96x64xf32>
      %6 = fact.permute %a3 [0, 2, 1] : (tensor<2x64x96xi1>) -> tensor<2x96x64xi1>
      %7 = fact.mul %5, %a4 : (tensor<2x96x64xf32>, tensor<96x1xf32>) -> tensor<2x96x64xf32>
      %8 = fact.select %6, %7, %5 : (tensor<2x96x64xi1>, tensor<2x96x64xf32>, tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
      %9 = fact.cast %7 : (tensor<2x96x64xf32>) -> tensor<2x96x64xbf16>
      fact.yield %8, %9 : tensor<2x96x64xf32>, tensor<2x96x64xbf16>
    } schedule(#fact.cuda_tile<rows = 32, columns = 32, threads = 128>) : tensor<2x96x64xf32>, tensor<2x96x64xbf16>
    // Group norms, short rows.
    %r11 = fact.fused "rowwise" ins(%x11_0, %x11_1, %x11_2 : tensor<5x64xbf16>, tensor<64xbf16>, tensor<64xbf16>) {
    ^bb0(%a0: tensor<5x64xbf16>, %a1: tensor<64xbf16>, %a2: tensor<64xbf16>):
      %0 = fact.reshape %a0 : (tensor<5x64xbf16>) -> tensor<5x8x8xbf16>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<5x8x8xbf16>) -> tensor<5x8x8xbf16>
      %2 = fact.reshape %1 : (tensor<5x8x8xbf16>) -> tensor<5x64xbf16>
      %3 = fact.mul %2, %a1 : (tensor<5x64xbf16>, tensor<64xbf16>) -> tensor<5x64xbf16>
      %4 = fact.add %3, %a2 : (tensor<5x64xbf16>, tensor<64xbf16>) -> tensor<5x64xbf16>
      %5 = fact.silu %4 : (tensor<5x64xbf16>) -> tensor<5x64xbf16>
      fact.yield %5 : tensor<5x64xbf16>
    } : tensor<5x64xbf16>
    %r12 = fact.fused "rowwise" ins(%x12_0, %x12_1, %x12_2 : tensor<5x64xf32>, tensor<64xf32>, tensor<64xf32>) {
    ^bb0(%a0: tensor<5x64xf32>, %a1: tensor<64xf32>, %a2: tensor<64xf32>):
      %0 = fact.reshape %a0 : (tensor<5x64xf32>) -> tensor<5x8x8xf32>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<5x8x8xf32>) -> tensor<5x8x8xf32>
      %2 = fact.reshape %1 : (tensor<5x8x8xf32>) -> tensor<5x64xf32>
      %3 = fact.mul %2, %a1 : (tensor<5x64xf32>, tensor<64xf32>) -> tensor<5x64xf32>
      %4 = fact.add %3, %a2 : (tensor<5x64xf32>, tensor<64xf32>) -> tensor<5x64xf32>
      %5 = fact.silu %4 : (tensor<5x64xf32>) -> tensor<5x64xf32>
      fact.yield %5 : tensor<5x64xf32>
    } schedule(#fact.cuda_row<threads = 1, rows = 64>) : tensor<5x64xf32>
    %r13 = fact.fused "rowwise" ins(%x13_0, %x13_1, %x13_2 : tensor<2x8x6x6xf32>, tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%a0: tensor<2x8x6x6xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>):
      %0 = fact.reshape %a0 : (tensor<2x8x6x6xf32>) -> tensor<2x4x72xf32>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<2x4x72xf32>) -> tensor<2x4x72xf32>
      %2 = fact.reshape %1 : (tensor<2x4x72xf32>) -> tensor<2x8x6x6xf32>
      %w = fact.reshape %a1 : (tensor<8xf32>) -> tensor<8x1x1xf32>
      %b = fact.reshape %a2 : (tensor<8xf32>) -> tensor<8x1x1xf32>
      %3 = fact.mul %2, %w : (tensor<2x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<2x8x6x6xf32>
      %4 = fact.add %3, %b : (tensor<2x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<2x8x6x6xf32>
      %5 = fact.silu %4 : (tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
      fact.yield %5 : tensor<2x8x6x6xf32>
    } : tensor<2x8x6x6xf32>
    %r14 = fact.fused "rowwise" ins(%x14_0, %x14_1, %x14_2 : tensor<2x8x3x5xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
    ^bb0(%a0: tensor<2x8x3x5xbf16>, %a1: tensor<8xbf16>, %a2: tensor<8xbf16>):
      %0 = fact.reshape %a0 : (tensor<2x8x3x5xbf16>) -> tensor<2x2x60xbf16>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<2x2x60xbf16>) -> tensor<2x2x60xbf16>
      %2 = fact.reshape %1 : (tensor<2x2x60xbf16>) -> tensor<2x8x3x5xbf16>
      %w = fact.reshape %a1 : (tensor<8xbf16>) -> tensor<8x1x1xbf16>
      %b = fact.reshape %a2 : (tensor<8xbf16>) -> tensor<8x1x1xbf16>
      %3 = fact.mul %2, %w : (tensor<2x8x3x5xbf16>, tensor<8x1x1xbf16>) -> tensor<2x8x3x5xbf16>
      %4 = fact.add %3, %b : (tensor<2x8x3x5xbf16>, tensor<8x1x1xbf16>) -> tensor<2x8x3x5xbf16>
      %5 = fact.silu %4 : (tensor<2x8x3x5xbf16>) -> tensor<2x8x3x5xbf16>
      fact.yield %5 : tensor<2x8x3x5xbf16>
    } : tensor<2x8x3x5xbf16>
    %r15 = fact.fused "rowwise" ins(%x15_0 : tensor<300x7xf32>) {
    ^bb0(%a0: tensor<300x7xf32>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<300x7xf32>) -> tensor<300xf32>
      fact.yield %1 : tensor<300xf32>
    } schedule(#fact.cuda_row<threads = 1, rows = 256>) : tensor<300xf32>
    %r16 = fact.fused "rowwise" ins(%x16_0 : tensor<70x33xbf16>) {
    ^bb0(%a0: tensor<70x33xbf16>):
      %1 = fact.reduce argmin %a0 dims [1] : (tensor<70x33xbf16>) -> tensor<70xi64>
      fact.yield %1 : tensor<70xi64>
    } schedule(#fact.cuda_row<threads = 16, rows = 4>) : tensor<70xi64>
    // Norms over channels, in the order of memory; several reductions of a row.
    %r17 = fact.fused "reduction" ins(%x17_0, %x17_1, %x17_2 : tensor<2x24x6x8xbf16>, tensor<24xbf16>, tensor<24xbf16>) {
    ^bb0(%a0: tensor<2x24x6x8xbf16>, %a1: tensor<24xbf16>, %a2: tensor<24xbf16>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<2x24x6x8xbf16>) -> tensor<2x6x8x24xbf16>
      %1 = fact.norm layer %0 weight %a1 bias %a2 eps 1.0e-5 : (tensor<2x6x8x24xbf16>, tensor<24xbf16>, tensor<24xbf16>) -> tensor<2x6x8x24xbf16>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<2x6x8x24xbf16>) -> tensor<2x24x6x8xbf16>
      fact.yield %2 : tensor<2x24x6x8xbf16>
    } : tensor<2x24x6x8xbf16>
    %r18 = fact.fused "reduction" ins(%x18_0, %x18_1, %x18_2 : tensor<2x13x5x7xf32>, tensor<13xf32>, tensor<13xf32>) {
    ^bb0(%a0: tensor<2x13x5x7xf32>, %a1: tensor<13xf32>, %a2: tensor<13xf32>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<2x13x5x7xf32>) -> tensor<2x5x7x13xf32>
      %1 = fact.norm layer %0 weight %a1 bias %a2 eps 1.0e-5 : (tensor<2x5x7x13xf32>, tensor<13xf32>, tensor<13xf32>) -> tensor<2x5x7x13xf32>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<2x5x7x13xf32>) -> tensor<2x13x5x7xf32>
      fact.yield %2 : tensor<2x13x5x7xf32>
    } : tensor<2x13x5x7xf32>
    %r19 = fact.fused "reduction" ins(%x19_0 : tensor<2x16x4x4xf32>) {
    ^bb0(%a0: tensor<2x16x4x4xf32>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<2x16x4x4xf32>) -> tensor<2x4x4x16xf32>
      %1 = fact.norm rms %0 eps 1.0e-5 : (tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<2x4x4x16xf32>) -> tensor<2x16x4x4xf32>
      fact.yield %2 : tensor<2x16x4x4xf32>
    } : tensor<2x16x4x4xf32>
    %r20 = fact.fused "reduction" ins(%x20_0 : tensor<9x256xbf16>) {
    ^bb0(%a0: tensor<9x256xbf16>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<9x256xbf16>) -> tensor<9x1xbf16>
      %2 = fact.sub %a0, %1 : (tensor<9x256xbf16>, tensor<9x1xbf16>) -> tensor<9x256xbf16>
      %3 = fact.exp %2 : (tensor<9x256xbf16>) -> tensor<9x256xbf16>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<9x256xbf16>) -> tensor<9x1xbf16>
      %5 = fact.log %4 : (tensor<9x1xbf16>) -> tensor<9x1xbf16>
      %6 = fact.sub %2, %5 : (tensor<9x256xbf16>, tensor<9x1xbf16>) -> tensor<9x256xbf16>
      fact.yield %6 : tensor<9x256xbf16>
    } : tensor<9x256xbf16>
    %r21 = fact.fused "reduction" ins(%x21_0 : tensor<5x77xf32>) {
    ^bb0(%a0: tensor<5x77xf32>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<5x77xf32>) -> tensor<5x1xf32>
      %2 = fact.sub %a0, %1 : (tensor<5x77xf32>, tensor<5x1xf32>) -> tensor<5x77xf32>
      %3 = fact.exp %2 : (tensor<5x77xf32>) -> tensor<5x77xf32>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<5x77xf32>) -> tensor<5x1xf32>
      %5 = fact.log %4 : (tensor<5x1xf32>) -> tensor<5x1xf32>
      %6 = fact.sub %2, %5 : (tensor<5x77xf32>, tensor<5x1xf32>) -> tensor<5x77xf32>
      fact.yield %6 : tensor<5x77xf32>
    } : tensor<5x77xf32>
    %r22 = fact.fused "reduction" ins(%x22_0 : tensor<7x512xbf16>) {
    ^bb0(%a0: tensor<7x512xbf16>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<7x512xbf16>) -> tensor<7x1xbf16>
      %2 = fact.sub %a0, %1 : (tensor<7x512xbf16>, tensor<7x1xbf16>) -> tensor<7x512xbf16>
      %3 = fact.exp %2 : (tensor<7x512xbf16>) -> tensor<7x512xbf16>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<7x512xbf16>) -> tensor<7x1xbf16>
      %5 = fact.log %4 : (tensor<7x1xbf16>) -> tensor<7x1xbf16>
      %6 = fact.sub %2, %5 : (tensor<7x512xbf16>, tensor<7x1xbf16>) -> tensor<7x512xbf16>
      fact.yield %6 : tensor<7x512xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = read>) : tensor<7x512xbf16>
    %r23:2 = fact.fused "reduction" ins(%x23_0 : tensor<33x64xbf16>) {
    ^bb0(%a0: tensor<33x64xbf16>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<33x64xbf16>) -> tensor<33x1xbf16>
      %2 = fact.sub %a0, %1 : (tensor<33x64xbf16>, tensor<33x1xbf16>) -> tensor<33x64xbf16>
      %3 = fact.mul %2, %2 : (tensor<33x64xbf16>, tensor<33x64xbf16>) -> tensor<33x64xbf16>
      %4 = fact.reduce mean %3 dims [1] : (tensor<33x64xbf16>) -> tensor<33xbf16>
      %5 = fact.reshape %1 : (tensor<33x1xbf16>) -> tensor<33xbf16>
      fact.yield %4, %5 : tensor<33xbf16>, tensor<33xbf16>
    } schedule(#fact.cuda_reduction<columns = 16, lanes = 2, splits = 1, operands = held>) : tensor<33xbf16>, tensor<33xbf16>
    %r24:2 = fact.fused "reduction" ins(%x24_0 : tensor<13x1000xbf16>) {
    ^bb0(%a0: tensor<13x1000xbf16>):
      %1 = fact.reduce max %a0 dims [1] : (tensor<13x1000xbf16>) -> tensor<13xbf16>
      %2 = fact.reduce argmax %a0 dims [1] : (tensor<13x1000xbf16>) -> tensor<13xi64>
      fact.yield %1, %2 : tensor<13xbf16>, tensor<13xi64>
    } schedule(#fact.cuda_reduction<columns = 2, lanes = 64, splits = 1, operands = read>) : tensor<13xbf16>, tensor<13xi64>
    // Rows of permuted and sliced heads.
    %r25 = fact.fused "rowwise" ins(%x25_0, %x25_1 : tensor<2x5x3x64xbf16>, tensor<64xbf16>) {
    ^bb0(%a0: tensor<2x5x3x64xbf16>, %a1: tensor<64xbf16>):
      %1 = fact.permute %a0 [0, 2, 1, 3] : (tensor<2x5x3x64xbf16>) -> tensor<2x3x5x64xbf16>
      %2 = fact.norm rms %1 weight %a1 eps 1.0e-5 : (tensor<2x3x5x64xbf16>, tensor<64xbf16>) -> tensor<2x3x5x64xbf16>
      fact.yield %2 : tensor<2x3x5x64xbf16>
    } : tensor<2x3x5x64xbf16>
    %r26 = fact.fused "rowwise" ins(%x26_0, %x26_1 : tensor<2x5x3x4x32xbf16>, tensor<2x4x5x32xbf16>) {
    ^bb0(%a0: tensor<2x5x3x4x32xbf16>, %a1: tensor<2x4x5x32xbf16>):
      %0 = fact.slice %a0 dim 2 start 1 : (tensor<2x5x3x4x32xbf16>) -> tensor<2x5x1x4x32xbf16>
      %1 = fact.reshape %0 : (tensor<2x5x1x4x32xbf16>) -> tensor<2x5x4x32xbf16>
      %2 = fact.permute %1 [0, 2, 1, 3] : (tensor<2x5x4x32xbf16>) -> tensor<2x4x5x32xbf16>
      %3 = fact.add %2, %a1 : (tensor<2x4x5x32xbf16>, tensor<2x4x5x32xbf16>) -> tensor<2x4x5x32xbf16>
      %4 = fact.softmax %3 dim 3 : tensor<2x4x5x32xbf16>
      fact.yield %4 : tensor<2x4x5x32xbf16>
    } : tensor<2x4x5x32xbf16>
    // Channels that come first: lanes of several warps, of one, and none; places of extremes.
    %r27 = fact.fused "reduction" ins(%x27_0 : tensor<2x77x52xf32>) {
    ^bb0(%a0: tensor<2x77x52xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x77x52xf32>
      fact.yield %1 : tensor<2x77x52xf32>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 64, splits = 1, operands = held>) : tensor<2x77x52xf32>
    %r28 = fact.fused "reduction" ins(%x28_0 : tensor<2x21x70xf32>) {
    ^bb0(%a0: tensor<2x21x70xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x21x70xf32>
      fact.yield %1 : tensor<2x21x70xf32>
    } schedule(#fact.cuda_reduction<columns = 32, lanes = 1, splits = 1, operands = held>) : tensor<2x21x70xf32>
    %r29 = fact.fused "reduction" ins(%x29_0 : tensor<2x21x64xbf16>) {
    ^bb0(%a0: tensor<2x21x64xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<2x21x64xbf16>
      fact.yield %1 : tensor<2x21x64xbf16>
    } schedule(#fact.cuda_reduction<columns = 32, lanes = 1, splits = 1, operands = held>) : tensor<2x21x64xbf16>
    %r30 = fact.fused "reduction" ins(%x30_0 : tensor<3x29x24xbf16>) {
    ^bb0(%a0: tensor<3x29x24xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<3x29x24xbf16>
      fact.yield %1 : tensor<3x29x24xbf16>
    } schedule(#fact.cuda_reduction<columns = 4, lanes = 8, splits = 1, operands = held>) : tensor<3x29x24xbf16>
    %r31 = fact.fused "reduction" ins(%x31_0 : tensor<2x77x52xf32>) {
    ^bb0(%a0: tensor<2x77x52xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<2x77x52xf32>) -> tensor<2x52xi64>
      fact.yield %1 : tensor<2x52xi64>
    } schedule(#fact.cuda_reduction<columns = 8, lanes = 16, splits = 2, operands = read>) : tensor<2x52xi64>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9#0, %r9#1, %r10#0, %r10#1, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23#0, %r23#1, %r24#0, %r24#1, %r25, %r26, %r27, %r28, %r29, %r30, %r31 : tensor<70x40xi1>, tensor<2x192x128xi8>, tensor<2x192x128xbf16>, tensor<2x100x3xbf16>, tensor<2x3x100xf32>, tensor<70x40xi64>, tensor<11x10x9xbf16>, tensor<2x3x6x2x20x2xbf16>, tensor<35x40xf32>, tensor<2x53x37xf32>, tensor<2x53x37xbf16>, tensor<2x96x64xf32>, tensor<2x96x64xbf16>, tensor<5x64xbf16>, tensor<5x64xf32>, tensor<2x8x6x6xf32>, tensor<2x8x3x5xbf16>, tensor<300xf32>, tensor<70xi64>, tensor<2x24x6x8xbf16>, tensor<2x13x5x7xf32>, tensor<2x16x4x4xf32>, tensor<9x256xbf16>, tensor<5x77xf32>, tensor<7x512xbf16>, tensor<33xbf16>, tensor<33xbf16>, tensor<13xbf16>, tensor<13xi64>, tensor<2x3x5x64xbf16>, tensor<2x4x5x32xbf16>, tensor<2x77x52xf32>, tensor<2x21x70xf32>, tensor<2x21x64xbf16>, tensor<3x29x24xbf16>, tensor<2x52xi64>
  }
}
