// Regions of sorts and selections; test_families.py lets fact-tune check their kernels against the references.

module @sorts attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0: tensor<5x1000xf32>, %x1: tensor<7x1000xbf16>, %x2: tensor<3x2000xi64>, %x3: tensor<9x31xi8>, %x4: tensor<300x7xi1>, %x5: tensor<2x300x37xf16>, %x6: tensor<2x100x5xf64>, %x7: tensor<2x5000xf32>, %x8: tensor<1x60001xbf16>, %x9: tensor<1x70001xf16>, %x10: tensor<2x70001xi32>, %x11: tensor<5x2000xf32>, %x12: tensor<37x100xbf16>, %x13: tensor<3x5001xf16>, %x14: tensor<2x3000xi64>, %x15: tensor<6x700xi1>, %x16: tensor<6x700xi8>, %x17: tensor<4x1500xf64>, %x18: tensor<5x4097xi32>, %x19: tensor<300x45xf32>, %x20: tensor<2x500x21xbf16>, %x21: tensor<2x40000xf32>, %x22: tensor<70001xbf16>, %x23: tensor<3001x6xf16>, %x24: tensor<1001xi64>, %x25: tensor<5x2000xf32>, %x26: tensor<90x33xbf16>, %x27: tensor<500x37xf32>, %x28: tensor<3x9001xi64>, %x29: tensor<30011xf32>, %x30: tensor<20003x5xbf16>, %x31: tensor<3x9001xi64>, %x32: tensor<40x50xf16>, %x33: tensor<3x20000xbf16>, %x34: tensor<4x1200x9xf32>, %x35: tensor<100003xf32>, %x36: tensor<3x4000x5xbf16>) -> (tensor<5x1000xi64>, tensor<7x1000xi64>, tensor<3x2000xi64>, tensor<9x31xi64>, tensor<300x7xi64>, tensor<2x300x37xi64>, tensor<2x100x5xi64>, tensor<2x5000xi64>, tensor<1x60001xi64>, tensor<1x70001xi64>, tensor<2x3000xi64>, tensor<5x10xi64>, tensor<37x8xi64>, tensor<3x100xi64>, tensor<2x33xi64>, tensor<6x300xi64>, tensor<6x1xi64>, tensor<4x7xi64>, tensor<5x512xi64>, tensor<3x45xi64>, tensor<2x17x21xi64>, tensor<2x50xi64>, tensor<100xi64>, tensor<5x6xi64>, tensor<167xi64>, tensor<5x1xi64>, tensor<90x1xi64>, tensor<1x37xi64>, tensor<3x1xi64>, tensor<1xi64>, tensor<1x5xi64>, tensor<3x1xi64>, tensor<40x20xi64>, tensor<3x64xi64>, tensor<4x1x9xi64>, tensor<1xi64>, tensor<3x5x5xi64>) {
    // Networks: a warp per row, several, of each size of keys.
    %r0 = fact.fused "sort" ins(%x0 : tensor<5x1000xf32>) {
    ^bb0(%a: tensor<5x1000xf32>):
      %1 = fact.argsort %a dim 1 : (tensor<5x1000xf32>) -> tensor<5x1000xi64>
      fact.yield %1 : tensor<5x1000xi64>
    } schedule(#fact.cuda_sort<tile = 1024, items = 32>) : tensor<5x1000xi64>
    %r1 = fact.fused "sort" ins(%x1 : tensor<7x1000xbf16>) {
    ^bb0(%a: tensor<7x1000xbf16>):
      %1 = fact.argsort %a dim 1 descending : (tensor<7x1000xbf16>) -> tensor<7x1000xi64>
      fact.yield %1 : tensor<7x1000xi64>
    } schedule(#fact.cuda_sort<tile = 1024, items = 8>) : tensor<7x1000xi64>
    %r2 = fact.fused "sort" ins(%x2 : tensor<3x2000xi64>) {
    ^bb0(%a: tensor<3x2000xi64>):
      %1 = fact.argsort %a dim 1 : (tensor<3x2000xi64>) -> tensor<3x2000xi64>
      fact.yield %1 : tensor<3x2000xi64>
    } schedule(#fact.cuda_sort<tile = 2048, items = 16>) : tensor<3x2000xi64>
    %r3 = fact.fused "sort" ins(%x3 : tensor<9x31xi8>) {
    ^bb0(%a: tensor<9x31xi8>):
      %1 = fact.argsort %a dim 1 : (tensor<9x31xi8>) -> tensor<9x31xi64>
      fact.yield %1 : tensor<9x31xi64>
    } schedule(#fact.cuda_sort<tile = 32, items = 4>) : tensor<9x31xi64>
    %r4 = fact.fused "sort" ins(%x4 : tensor<300x7xi1>) {
    ^bb0(%a: tensor<300x7xi1>):
      %1 = fact.argsort %a dim 1 descending : (tensor<300x7xi1>) -> tensor<300x7xi64>
      fact.yield %1 : tensor<300x7xi64>
    } schedule(#fact.cuda_sort<tile = 32, items = 32>) : tensor<300x7xi64>
    %r5 = fact.fused "sort" ins(%x5 : tensor<2x300x37xf16>) {
    ^bb0(%a: tensor<2x300x37xf16>):
      %1 = fact.argsort %a dim 1 : (tensor<2x300x37xf16>) -> tensor<2x300x37xi64>
      fact.yield %1 : tensor<2x300x37xi64>
    } schedule(#fact.cuda_sort<tile = 512, items = 16>) : tensor<2x300x37xi64>
    %r6 = fact.fused "sort" ins(%x6 : tensor<2x100x5xf64>) {
    ^bb0(%a: tensor<2x100x5xf64>):
      %1 = fact.argsort %a dim 1 : (tensor<2x100x5xf64>) -> tensor<2x100x5xi64>
      fact.yield %1 : tensor<2x100x5xi64>
    } schedule(#fact.cuda_sort<tile = 128, items = 8>) : tensor<2x100x5xi64>
    // Merged runs.
    %r7 = fact.fused "sort" ins(%x7 : tensor<2x5000xf32>) {
    ^bb0(%a: tensor<2x5000xf32>):
      %1 = fact.argsort %a dim 1 : (tensor<2x5000xf32>) -> tensor<2x5000xi64>
      fact.yield %1 : tensor<2x5000xi64>
    } schedule(#fact.cuda_sort<tile = 2048, items = 8>) : tensor<2x5000xi64>
    %r8 = fact.fused "sort" ins(%x8 : tensor<1x60001xbf16>) {
    ^bb0(%a: tensor<1x60001xbf16>):
      %1 = fact.argsort %a dim 1 descending : (tensor<1x60001xbf16>) -> tensor<1x60001xi64>
      fact.yield %1 : tensor<1x60001xi64>
    } schedule(#fact.cuda_sort<tile = 32768, items = 32>) : tensor<1x60001xi64>
    %r9 = fact.fused "sort" ins(%x9 : tensor<1x70001xf16>) {
    ^bb0(%a: tensor<1x70001xf16>):
      %1 = fact.argsort %a dim 1 : (tensor<1x70001xf16>) -> tensor<1x70001xi64>
      fact.yield %1 : tensor<1x70001xi64>
    } schedule(#fact.cuda_sort<tile = 16384, items = 16>) : tensor<1x70001xi64>
    %r10 = fact.fused "sort" ins(%x10 : tensor<2x70001xi32>) {
    ^bb0(%a: tensor<2x70001xi32>):
      %1 = fact.argsort %a dim 1 count 3000 : (tensor<2x70001xi32>) -> tensor<2x3000xi64>
      fact.yield %1 : tensor<2x3000xi64>
    } schedule(#fact.cuda_sort<tile = 4096, items = 16>) : tensor<2x3000xi64>
    // Selections: rows that are held, that are read again, several per block.
    %r11 = fact.fused "sort" ins(%x11 : tensor<5x2000xf32>) {
    ^bb0(%a: tensor<5x2000xf32>):
      %1 = fact.argsort %a dim 1 descending count 10 : (tensor<5x2000xf32>) -> tensor<5x10xi64>
      fact.yield %1 : tensor<5x10xi64>
    } schedule(#fact.cuda_select<threads = 128, rows = 1, splits = 1>) : tensor<5x10xi64>
    %r12 = fact.fused "sort" ins(%x12 : tensor<37x100xbf16>) {
    ^bb0(%a: tensor<37x100xbf16>):
      %1 = fact.argsort %a dim 1 count 8 : (tensor<37x100xbf16>) -> tensor<37x8xi64>
      fact.yield %1 : tensor<37x8xi64>
    } schedule(#fact.cuda_select<threads = 8, rows = 16, splits = 1>) : tensor<37x8xi64>
    %r13 = fact.fused "sort" ins(%x13 : tensor<3x5001xf16>) {
    ^bb0(%a: tensor<3x5001xf16>):
      %1 = fact.argsort %a dim 1 descending count 100 : (tensor<3x5001xf16>) -> tensor<3x100xi64>
      fact.yield %1 : tensor<3x100xi64>
    } schedule(#fact.cuda_select<threads = 64, rows = 2, splits = 1>) : tensor<3x100xi64>
    %r14 = fact.fused "sort" ins(%x14 : tensor<2x3000xi64>) {
    ^bb0(%a: tensor<2x3000xi64>):
      %1 = fact.argsort %a dim 1 count 33 : (tensor<2x3000xi64>) -> tensor<2x33xi64>
      fact.yield %1 : tensor<2x33xi64>
    } schedule(#fact.cuda_select<threads = 256, rows = 1, splits = 1>) : tensor<2x33xi64>
    %r15 = fact.fused "sort" ins(%x15 : tensor<6x700xi1>) {
    ^bb0(%a: tensor<6x700xi1>):
      %1 = fact.argsort %a dim 1 descending count 300 : (tensor<6x700xi1>) -> tensor<6x300xi64>
      fact.yield %1 : tensor<6x300xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 4, splits = 1>) : tensor<6x300xi64>
    %r16 = fact.fused "sort" ins(%x16 : tensor<6x700xi8>) {
    ^bb0(%a: tensor<6x700xi8>):
      %1 = fact.argsort %a dim 1 count 1 : (tensor<6x700xi8>) -> tensor<6x1xi64>
      fact.yield %1 : tensor<6x1xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 4, splits = 1>) : tensor<6x1xi64>
    %r17 = fact.fused "sort" ins(%x17 : tensor<4x1500xf64>) {
    ^bb0(%a: tensor<4x1500xf64>):
      %1 = fact.argsort %a dim 1 descending count 7 : (tensor<4x1500xf64>) -> tensor<4x7xi64>
      fact.yield %1 : tensor<4x7xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 1, splits = 1>) : tensor<4x7xi64>
    %r18 = fact.fused "sort" ins(%x18 : tensor<5x4097xi32>) {
    ^bb0(%a: tensor<5x4097xi32>):
      %1 = fact.argsort %a dim 1 count 512 : (tensor<5x4097xi32>) -> tensor<5x512xi64>
      fact.yield %1 : tensor<5x512xi64>
    } schedule(#fact.cuda_select<threads = 1024, rows = 1, splits = 1>) : tensor<5x512xi64>
    // Across memory.
    %r19 = fact.fused "sort" ins(%x19 : tensor<300x45xf32>) {
    ^bb0(%a: tensor<300x45xf32>):
      %1 = fact.argsort %a dim 0 count 3 : (tensor<300x45xf32>) -> tensor<3x45xi64>
      fact.yield %1 : tensor<3x45xi64>
    } schedule(#fact.cuda_select<threads = 16, rows = 8, splits = 1>) : tensor<3x45xi64>
    %r20 = fact.fused "sort" ins(%x20 : tensor<2x500x21xbf16>) {
    ^bb0(%a: tensor<2x500x21xbf16>):
      %1 = fact.argsort %a dim 1 descending count 17 : (tensor<2x500x21xbf16>) -> tensor<2x17x21xi64>
      fact.yield %1 : tensor<2x17x21xi64>
    } schedule(#fact.cuda_select<threads = 64, rows = 16, splits = 1>) : tensor<2x17x21xi64>
    // Parts of rows, the last of which may be short.
    %r21 = fact.fused "sort" ins(%x21 : tensor<2x40000xf32>) {
    ^bb0(%a: tensor<2x40000xf32>):
      %1 = fact.argsort %a dim 1 descending count 50 : (tensor<2x40000xf32>) -> tensor<2x50xi64>
      fact.yield %1 : tensor<2x50xi64>
    } schedule(#fact.cuda_select<threads = 256, rows = 1, splits = 7>) : tensor<2x50xi64>
    %r22 = fact.fused "sort" ins(%x22 : tensor<70001xbf16>) {
    ^bb0(%a: tensor<70001xbf16>):
      %1 = fact.argsort %a dim 0 count 100 : (tensor<70001xbf16>) -> tensor<100xi64>
      fact.yield %1 : tensor<100xi64>
    } schedule(#fact.cuda_select<threads = 128, rows = 1, splits = 16>) : tensor<100xi64>
    %r23 = fact.fused "sort" ins(%x23 : tensor<3001x6xf16>) {
    ^bb0(%a: tensor<3001x6xf16>):
      %1 = fact.argsort %a dim 0 descending count 5 : (tensor<3001x6xf16>) -> tensor<5x6xi64>
      fact.yield %1 : tensor<5x6xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 8, splits = 5>) : tensor<5x6xi64>
    %r24 = fact.fused "sort" ins(%x24 : tensor<1001xi64>) {
    ^bb0(%a: tensor<1001xi64>):
      %1 = fact.argsort %a dim 0 count 167 : (tensor<1001xi64>) -> tensor<167xi64>
      fact.yield %1 : tensor<167xi64>
    } schedule(#fact.cuda_select<threads = 64, rows = 1, splits = 6>) : tensor<167xi64>
    // The last place alone.
    %r25 = fact.fused "sort" ins(%x25 : tensor<5x2000xf32>) {
    ^bb0(%a: tensor<5x2000xf32>):
      %1 = fact.argsort %a dim 1 count 1000 : (tensor<5x2000xf32>) -> tensor<5x1000xi64>
      %2 = fact.slice %1 dim 1 start 999 : (tensor<5x1000xi64>) -> tensor<5x1xi64>
      fact.yield %2 : tensor<5x1xi64>
    } schedule(#fact.cuda_select<threads = 256, rows = 1, splits = 1>) : tensor<5x1xi64>
    %r26 = fact.fused "sort" ins(%x26 : tensor<90x33xbf16>) {
    ^bb0(%a: tensor<90x33xbf16>):
      %1 = fact.argsort %a dim 1 count 17 : (tensor<90x33xbf16>) -> tensor<90x17xi64>
      %2 = fact.slice %1 dim 1 start 16 : (tensor<90x17xi64>) -> tensor<90x1xi64>
      fact.yield %2 : tensor<90x1xi64>
    } schedule(#fact.cuda_select<threads = 8, rows = 16, splits = 1>) : tensor<90x1xi64>
    %r27 = fact.fused "sort" ins(%x27 : tensor<500x37xf32>) {
    ^bb0(%a: tensor<500x37xf32>):
      %1 = fact.argsort %a dim 0 descending count 250 : (tensor<500x37xf32>) -> tensor<250x37xi64>
      %2 = fact.slice %1 dim 0 start 249 : (tensor<250x37xi64>) -> tensor<1x37xi64>
      fact.yield %2 : tensor<1x37xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 8, splits = 1>) : tensor<1x37xi64>
    %r28 = fact.fused "sort" ins(%x28 : tensor<3x9001xi64>) {
    ^bb0(%a: tensor<3x9001xi64>):
      %1 = fact.argsort %a dim 1 count 4501 : (tensor<3x9001xi64>) -> tensor<3x4501xi64>
      %2 = fact.slice %1 dim 1 start 4500 : (tensor<3x4501xi64>) -> tensor<3x1xi64>
      fact.yield %2 : tensor<3x1xi64>
    } schedule(#fact.cuda_select<threads = 128, rows = 1, splits = 1>) : tensor<3x1xi64>
    %r29 = fact.fused "sort" ins(%x29 : tensor<30011xf32>) {
    ^bb0(%a: tensor<30011xf32>):
      %1 = fact.argsort %a dim 0 descending count 20 : (tensor<30011xf32>) -> tensor<20xi64>
      %2 = fact.slice %1 dim 0 start 19 : (tensor<20xi64>) -> tensor<1xi64>
      fact.yield %2 : tensor<1xi64>
    } schedule(#fact.cuda_select<threads = 128, rows = 1, splits = 9>) : tensor<1xi64>
    %r30 = fact.fused "sort" ins(%x30 : tensor<20003x5xbf16>) {
    ^bb0(%a: tensor<20003x5xbf16>):
      %1 = fact.argsort %a dim 0 count 10000 : (tensor<20003x5xbf16>) -> tensor<10000x5xi64>
      %2 = fact.slice %1 dim 0 start 9999 : (tensor<10000x5xi64>) -> tensor<1x5xi64>
      fact.yield %2 : tensor<1x5xi64>
    } schedule(#fact.cuda_select<threads = 32, rows = 8, splits = 7>) : tensor<1x5xi64>
    %r31 = fact.fused "sort" ins(%x31 : tensor<3x9001xi64>) {
    ^bb0(%a: tensor<3x9001xi64>):
      %1 = fact.argsort %a dim 1 count 4501 : (tensor<3x9001xi64>) -> tensor<3x4501xi64>
      %2 = fact.slice %1 dim 1 start 4500 : (tensor<3x4501xi64>) -> tensor<3x1xi64>
      fact.yield %2 : tensor<3x1xi64>
    } schedule(#fact.cuda_select<threads = 64, rows = 2, splits = 4>) : tensor<3x1xi64>
    // By prediction.
    %r32 = fact.fused "sort" ins(%x32 : tensor<40x50xf16>) {
    ^bb0(%a: tensor<40x50xf16>):
      %1 = fact.argsort %a dim 1 count 20 : (tensor<40x50xf16>) -> tensor<40x20xi64>
      fact.yield %1 : tensor<40x20xi64>
    } : tensor<40x20xi64>
    %r33 = fact.fused "sort" ins(%x33 : tensor<3x20000xbf16>) {
    ^bb0(%a: tensor<3x20000xbf16>):
      %1 = fact.argsort %a dim 1 descending count 64 : (tensor<3x20000xbf16>) -> tensor<3x64xi64>
      fact.yield %1 : tensor<3x64xi64>
    } : tensor<3x64xi64>
    %r34 = fact.fused "sort" ins(%x34 : tensor<4x1200x9xf32>) {
    ^bb0(%a: tensor<4x1200x9xf32>):
      %1 = fact.argsort %a dim 1 count 600 : (tensor<4x1200x9xf32>) -> tensor<4x600x9xi64>
      %2 = fact.slice %1 dim 1 start 599 : (tensor<4x600x9xi64>) -> tensor<4x1x9xi64>
      fact.yield %2 : tensor<4x1x9xi64>
    } : tensor<4x1x9xi64>
    %r35 = fact.fused "sort" ins(%x35 : tensor<100003xf32>) {
    ^bb0(%a: tensor<100003xf32>):
      %1 = fact.argsort %a dim 0 count 50001 : (tensor<100003xf32>) -> tensor<50001xi64>
      %2 = fact.slice %1 dim 0 start 50000 : (tensor<50001xi64>) -> tensor<1xi64>
      fact.yield %2 : tensor<1xi64>
    } : tensor<1xi64>
    %r36 = fact.fused "sort" ins(%x36 : tensor<3x4000x5xbf16>) {
    ^bb0(%a: tensor<3x4000x5xbf16>):
      %1 = fact.argsort %a dim 1 count 5 : (tensor<3x4000x5xbf16>) -> tensor<3x5x5xi64>
      fact.yield %1 : tensor<3x5x5xi64>
    } : tensor<3x5x5xi64>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36 : tensor<5x1000xi64>, tensor<7x1000xi64>, tensor<3x2000xi64>, tensor<9x31xi64>, tensor<300x7xi64>, tensor<2x300x37xi64>, tensor<2x100x5xi64>, tensor<2x5000xi64>, tensor<1x60001xi64>, tensor<1x70001xi64>, tensor<2x3000xi64>, tensor<5x10xi64>, tensor<37x8xi64>, tensor<3x100xi64>, tensor<2x33xi64>, tensor<6x300xi64>, tensor<6x1xi64>, tensor<4x7xi64>, tensor<5x512xi64>, tensor<3x45xi64>, tensor<2x17x21xi64>, tensor<2x50xi64>, tensor<100xi64>, tensor<5x6xi64>, tensor<167xi64>, tensor<5x1xi64>, tensor<90x1xi64>, tensor<1x37xi64>, tensor<3x1xi64>, tensor<1xi64>, tensor<1x5xi64>, tensor<3x1xi64>, tensor<40x20xi64>, tensor<3x64xi64>, tensor<4x1x9xi64>, tensor<1xi64>, tensor<3x5x5xi64>
  }
}
