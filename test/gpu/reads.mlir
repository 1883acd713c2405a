// Pointwise kernels that read through padding, concatenations and gathers; test_families.py lets fact-tune check
// them against the references.

module @reads attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<33x56xf32>, %x1_0: tensor<32x55xf32>, %x2_0: tensor<32x55xbf16>, %x3_0: tensor<8x45xf16>, %x4_0: tensor<3x5x14x14xf32>, %x5_0: tensor<2x5x13x11xbf16>, %x6_0: tensor<2x4x6x6xf32>, %x6_1: tensor<2x4x8x8xf32>, %x7_0: tensor<9x30xf32>, %x8_0: tensor<4x9xi64>, %x9_0: tensor<130x72xbf16>, %x9_1: tensor<130x136xbf16>, %x10_0: tensor<64x5xbf16>, %x10_1: tensor<64x3xbf16>, %x10_2: tensor<64x17xbf16>, %x11_0: tensor<1001xf32>, %x11_1: tensor<33xf32>, %x12_0: tensor<2x3x20xf32>, %x12_1: tensor<2x6x20xf32>, %x13_0: tensor<12x40xf32>, %x14_0: tensor<21x8xbf16>, %x14_1: tensor<21x8xbf16>, %x15_0: tensor<4x12x14xf32>, %x16_0: tensor<16x10xf32>, %x16_1: tensor<16x6xf32>, %x17_0: tensor<6x8x4xf32>, %x18_0: tensor<5x7x9xf32>, %x18_1: tensor<5x7x3xf32>, %x19_0: tensor<5x6x9xf32>, %x19_1: tensor<5x6x3xf32>, %x20_0: tensor<3x9x10xf32>, %x20_1: tensor<13xi64>, %x20_2: tensor<12xi64>, %x21_0: tensor<2x3x7x9xbf16>, %x21_1: tensor<14x1xi64>, %x21_2: tensor<14x1xi64>, %x21_3: tensor<18xi64>, %x21_4: tensor<18xi64>, %x21_5: tensor<14x1xbf16>, %x21_6: tensor<18xbf16>, %x22_0: tensor<50x16xbf16>, %x22_1: tensor<20xi64>, %x22_2: tensor<2x7xi64>, %x22_3: tensor<7x16xbf16>, %x23_0: tensor<40x24xf32>, %x23_1: tensor<6xi64>, %x23_2: tensor<1x24xf32>, %x24_0: tensor<40x7xf32>, %x24_1: tensor<6xi64>, %x24_2: tensor<6x5xf32>, %x25_0: tensor<5x33xf32>, %x25_1: tensor<20xi64>, %x26_0: tensor<5x33xi32>, %x26_1: tensor<20xi32>, %x27_0: tensor<64x7xbf16>, %x27_1: tensor<7xbf16>, %x28_0: tensor<64x3xf32>, %x28_1: tensor<64x1xf32>, %x29_0: tensor<9x5xf32>, %x29_1: tensor<5xf32>) -> (tensor<33x58xf32>, tensor<32x57xf32>, tensor<32x57xbf16>, tensor<8x47xf16>, tensor<3x5x16x16xf32>, tensor<2x5x16x15xbf16>, tensor<2x4x8x8xf32>, tensor<9x33xf32>, tensor<9x33xf32>, tensor<6x13xi64>, tensor<130x208xbf16>, tensor<64x25xbf16>, tensor<2035xf32>, tensor<2x12x20xf32>, tensor<12x40xf32>, tensor<21x8x3xbf16>, tensor<4x16x16xf32>, tensor<16x12xf32>, tensor<6x11x4xf32>, tensor<7x5x12xf32>, tensor<30x12xf32>, tensor<3x13x12xf32>, tensor<2x3x14x18xbf16>, tensor<2x7x16xbf16>, tensor<7x24xf32>, tensor<6x12xf32>, tensor<5x23xf32>, tensor<5x20xi32>, tensor<64x7xbf16>, tensor<64x3xf32>, tensor<9x5xf32>) {
    // Zeros around rows: vectors of rows, and across the ends of odd rows.
    %r0 = fact.fused "pointwise" ins(%x0_0 : tensor<33x56xf32>) {
    ^bb0(%a0: tensor<33x56xf32>):
      %1 = fact.constant dense<0.0> : tensor<33x1xf32>
      %2 = fact.constant dense<0.0> : tensor<33x1xf32>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<33x1xf32>, tensor<33x56xf32>, tensor<33x1xf32>) -> tensor<33x58xf32>
      fact.yield %3 : tensor<33x58xf32>
    } : tensor<33x58xf32>
    %r1 = fact.fused "pointwise" ins(%x1_0 : tensor<32x55xf32>) {
    ^bb0(%a0: tensor<32x55xf32>):
      %1 = fact.constant dense<0.0> : tensor<32x1xf32>
      %2 = fact.constant dense<0.0> : tensor<32x1xf32>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<32x1xf32>, tensor<32x55xf32>, tensor<32x1xf32>) -> tensor<32x57xf32>
      fact.yield %3 : tensor<32x57xf32>
    } : tensor<32x57xf32>
    %r2 = fact.fused "pointwise" ins(%x2_0 : tensor<32x55xbf16>) {
    ^bb0(%a0: tensor<32x55xbf16>):
      %1 = fact.constant dense<0.0> : tensor<32x2xbf16>
      %2 = fact.concat %1, %a0 dim 1 : (tensor<32x2xbf16>, tensor<32x55xbf16>) -> tensor<32x57xbf16>
      fact.yield %2 : tensor<32x57xbf16>
    } : tensor<32x57xbf16>
    %r3 = fact.fused "concat" ins(%x3_0 : tensor<8x45xf16>) {
    ^bb0(%a0: tensor<8x45xf16>):
      %1 = fact.constant dense<0.0> : tensor<8x2xf16>
      %2 = fact.concat %a0, %1 dim 1 : (tensor<8x45xf16>, tensor<8x2xf16>) -> tensor<8x47xf16>
      fact.yield %2 : tensor<8x47xf16>
    } : tensor<8x47xf16>
    // Images between zeros, with pointwise ops before and after.
    %r4 = fact.fused "pointwise" ins(%x4_0 : tensor<3x5x14x14xf32>) {
    ^bb0(%a0: tensor<3x5x14x14xf32>):
      %1 = fact.constant dense<0.0> : tensor<3x5x14x1xf32>
      %2 = fact.constant dense<0.0> : tensor<3x5x14x1xf32>
      %3 = fact.concat %1, %a0, %2 dim 3 : (tensor<3x5x14x1xf32>, tensor<3x5x14x14xf32>, tensor<3x5x14x1xf32>) -> tensor<3x5x14x16xf32>
      %4 = fact.constant dense<0.0> : tensor<3x5x1x16xf32>
      %5 = fact.constant dense<0.0> : tensor<3x5x1x16xf32>
      %6 = fact.concat %4, %3, %5 dim 2 : (tensor<3x5x1x16xf32>, tensor<3x5x14x16xf32>, tensor<3x5x1x16xf32>) -> tensor<3x5x16x16xf32>
      fact.yield %6 : tensor<3x5x16x16xf32>
    } : tensor<3x5x16x16xf32>
    %r5 = fact.fused "pointwise" ins(%x5_0 : tensor<2x5x13x11xbf16>) {
    ^bb0(%a0: tensor<2x5x13x11xbf16>):
      %1 = fact.constant dense<0.0> : tensor<2x5x13x2xbf16>
      %2 = fact.constant dense<0.0> : tensor<2x5x13x2xbf16>
      %3 = fact.concat %1, %a0, %2 dim 3 : (tensor<2x5x13x2xbf16>, tensor<2x5x13x11xbf16>, tensor<2x5x13x2xbf16>) -> tensor<2x5x13x15xbf16>
      %4 = fact.constant dense<0.0> : tensor<2x5x1x15xbf16>
      %5 = fact.constant dense<0.0> : tensor<2x5x2x15xbf16>
      %6 = fact.concat %4, %3, %5 dim 2 : (tensor<2x5x1x15xbf16>, tensor<2x5x13x15xbf16>, tensor<2x5x2x15xbf16>) -> tensor<2x5x16x15xbf16>
      %7 = fact.relu %6 : (tensor<2x5x16x15xbf16>) -> tensor<2x5x16x15xbf16>
      fact.yield %7 : tensor<2x5x16x15xbf16>
    } : tensor<2x5x16x15xbf16>
    %r6 = fact.fused "pointwise" ins(%x6_0, %x6_1 : tensor<2x4x6x6xf32>, tensor<2x4x8x8xf32>) {
    ^bb0(%a0: tensor<2x4x6x6xf32>, %a1: tensor<2x4x8x8xf32>):
      %1 = fact.sigmoid %a0 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
      %2 = fact.constant dense<0.0> : tensor<2x4x6x1xf32>
      %3 = fact.constant dense<0.0> : tensor<2x4x6x1xf32>
      %4 = fact.concat %2, %1, %3 dim 3 : (tensor<2x4x6x1xf32>, tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x8xf32>
      %5 = fact.constant dense<0.0> : tensor<2x4x1x8xf32>
      %6 = fact.constant dense<0.0> : tensor<2x4x1x8xf32>
      %7 = fact.concat %5, %4, %6 dim 2 : (tensor<2x4x1x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x1x8xf32>) -> tensor<2x4x8x8xf32>
      %8 = fact.add %7, %a1 : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
      fact.yield %8 : tensor<2x4x8x8xf32>
    } : tensor<2x4x8x8xf32>
    // A number other than zero, and a second result.
    %r7:2 = fact.fused "pointwise" ins(%x7_0 : tensor<9x30xf32>) {
    ^bb0(%a0: tensor<9x30xf32>):
      %1 = fact.constant dense<2.5> : tensor<9x1xf32>
      %2 = fact.constant dense<2.5> : tensor<9x2xf32>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<9x1xf32>, tensor<9x30xf32>, tensor<9x2xf32>) -> tensor<9x33xf32>
      %4 = fact.relu %3 : (tensor<9x33xf32>) -> tensor<9x33xf32>
      fact.yield %3, %4 : tensor<9x33xf32>, tensor<9x33xf32>
    } : tensor<9x33xf32>, tensor<9x33xf32>
    %r8 = fact.fused "pointwise" ins(%x8_0 : tensor<4x9xi64>) {
    ^bb0(%a0: tensor<4x9xi64>):
      %1 = fact.constant dense<7> : tensor<4x3xi64>
      %2 = fact.constant dense<7> : tensor<4x1xi64>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<4x3xi64>, tensor<4x9xi64>, tensor<4x1xi64>) -> tensor<4x13xi64>
      %4 = fact.constant dense<0> : tensor<1x13xi64>
      %5 = fact.constant dense<0> : tensor<1x13xi64>
      %6 = fact.concat %4, %3, %5 dim 0 : (tensor<1x13xi64>, tensor<4x13xi64>, tensor<1x13xi64>) -> tensor<6x13xi64>
      fact.yield %6 : tensor<6x13xi64>
    } : tensor<6x13xi64>
    // Parts whose vectors are whole, and parts that lie anywhere.
    %r9 = fact.fused "pointwise" ins(%x9_0, %x9_1 : tensor<130x72xbf16>, tensor<130x136xbf16>) {
    ^bb0(%a0: tensor<130x72xbf16>, %a1: tensor<130x136xbf16>):
      %1 = fact.concat %a0, %a1 dim 1 : (tensor<130x72xbf16>, tensor<130x136xbf16>) -> tensor<130x208xbf16>
      %2 = fact.relu %1 : (tensor<130x208xbf16>) -> tensor<130x208xbf16>
      fact.yield %2 : tensor<130x208xbf16>
    } : tensor<130x208xbf16>
    %r10 = fact.fused "pointwise" ins(%x10_0, %x10_1, %x10_2 : tensor<64x5xbf16>, tensor<64x3xbf16>, tensor<64x17xbf16>) {
    ^bb0(%a0: tensor<64x5xbf16>, %a1: tensor<64x3xbf16>, %a2: tensor<64x17xbf16>):
      %1 = fact.neg %a1 : (tensor<64x3xbf16>) -> tensor<64x3xbf16>
      %2 = fact.concat %a0, %1, %a2 dim 1 : (tensor<64x5xbf16>, tensor<64x3xbf16>, tensor<64x17xbf16>) -> tensor<64x25xbf16>
      fact.yield %2 : tensor<64x25xbf16>
    } : tensor<64x25xbf16>
    %r11 = fact.fused "pointwise" ins(%x11_0, %x11_1 : tensor<1001xf32>, tensor<33xf32>) {
    ^bb0(%a0: tensor<1001xf32>, %a1: tensor<33xf32>):
      %1 = fact.mul %a1, %a1 : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
      %2 = fact.concat %a0, %1, %a0 dim 0 : (tensor<1001xf32>, tensor<33xf32>, tensor<1001xf32>) -> tensor<2035xf32>
      fact.yield %2 : tensor<2035xf32>
    } : tensor<2035xf32>
    %r12 = fact.fused "pointwise" ins(%x12_0, %x12_1 : tensor<2x3x20xf32>, tensor<2x6x20xf32>) {
    ^bb0(%a0: tensor<2x3x20xf32>, %a1: tensor<2x6x20xf32>):
      %1 = fact.concat %a0, %a1, %a0 dim 1 : (tensor<2x3x20xf32>, tensor<2x6x20xf32>, tensor<2x3x20xf32>) -> tensor<2x12x20xf32>
      %2 = fact.concat %a1, %a0, %a0 dim 1 : (tensor<2x6x20xf32>, tensor<2x3x20xf32>, tensor<2x3x20xf32>) -> tensor<2x12x20xf32>
      %3 = fact.mul %1, %2 : (tensor<2x12x20xf32>, tensor<2x12x20xf32>) -> tensor<2x12x20xf32>
      fact.yield %3 : tensor<2x12x20xf32>
    } : tensor<2x12x20xf32>
    // A roll, a stack, and a circular pad.
    %r13 = fact.fused "pointwise" ins(%x13_0 : tensor<12x40xf32>) {
    ^bb0(%a0: tensor<12x40xf32>):
      %1 = fact.slice %a0 dim 1 start 37 : (tensor<12x40xf32>) -> tensor<12x3xf32>
      %2 = fact.slice %a0 dim 1 start 0 : (tensor<12x40xf32>) -> tensor<12x37xf32>
      %3 = fact.concat %1, %2 dim 1 : (tensor<12x3xf32>, tensor<12x37xf32>) -> tensor<12x40xf32>
      %4 = fact.add %3, %a0 : (tensor<12x40xf32>, tensor<12x40xf32>) -> tensor<12x40xf32>
      fact.yield %4 : tensor<12x40xf32>
    } : tensor<12x40xf32>
    %r14 = fact.fused "pointwise" ins(%x14_0, %x14_1 : tensor<21x8xbf16>, tensor<21x8xbf16>) {
    ^bb0(%a0: tensor<21x8xbf16>, %a1: tensor<21x8xbf16>):
      %1 = fact.reshape %a0 : (tensor<21x8xbf16>) -> tensor<21x8x1xbf16>
      %2 = fact.reshape %a1 : (tensor<21x8xbf16>) -> tensor<21x8x1xbf16>
      %3 = fact.neg %a0 : (tensor<21x8xbf16>) -> tensor<21x8xbf16>
      %4 = fact.reshape %3 : (tensor<21x8xbf16>) -> tensor<21x8x1xbf16>
      %5 = fact.concat %1, %2, %4 dim 2 : (tensor<21x8x1xbf16>, tensor<21x8x1xbf16>, tensor<21x8x1xbf16>) -> tensor<21x8x3xbf16>
      fact.yield %5 : tensor<21x8x3xbf16>
    } : tensor<21x8x3xbf16>
    %r15 = fact.fused "pointwise" ins(%x15_0 : tensor<4x12x14xf32>) {
    ^bb0(%a0: tensor<4x12x14xf32>):
      %1 = fact.slice %a0 dim 2 start 13 : (tensor<4x12x14xf32>) -> tensor<4x12x1xf32>
      %2 = fact.slice %a0 dim 2 start 0 : (tensor<4x12x14xf32>) -> tensor<4x12x1xf32>
      %3 = fact.concat %1, %a0, %2 dim 2 : (tensor<4x12x1xf32>, tensor<4x12x14xf32>, tensor<4x12x1xf32>) -> tensor<4x12x16xf32>
      %4 = fact.slice %3 dim 1 start 10 : (tensor<4x12x16xf32>) -> tensor<4x2x16xf32>
      %5 = fact.slice %3 dim 1 start 0 : (tensor<4x12x16xf32>) -> tensor<4x2x16xf32>
      %6 = fact.concat %4, %3, %5 dim 1 : (tensor<4x2x16xf32>, tensor<4x12x16xf32>, tensor<4x2x16xf32>) -> tensor<4x16x16xf32>
      fact.yield %6 : tensor<4x16x16xf32>
    } : tensor<4x16x16xf32>
    // Slices of concatenations: parts that no element is in, and one alone.
    %r16 = fact.fused "pointwise" ins(%x16_0, %x16_1 : tensor<16x10xf32>, tensor<16x6xf32>) {
    ^bb0(%a0: tensor<16x10xf32>, %a1: tensor<16x6xf32>):
      %1 = fact.concat %a0, %a1, %a0 dim 1 : (tensor<16x10xf32>, tensor<16x6xf32>, tensor<16x10xf32>) -> tensor<16x26xf32>
      %2 = fact.slice %1 dim 1 start 11 : (tensor<16x26xf32>) -> tensor<16x12xf32>
      %3 = fact.slice %1 dim 1 start 0 : (tensor<16x26xf32>) -> tensor<16x12xf32>
      %4 = fact.add %2, %3 : (tensor<16x12xf32>, tensor<16x12xf32>) -> tensor<16x12xf32>
      fact.yield %4 : tensor<16x12xf32>
    } : tensor<16x12xf32>
    %r17 = fact.fused "pointwise" ins(%x17_0 : tensor<6x8x4xf32>) {
    ^bb0(%a0: tensor<6x8x4xf32>):
      %1 = fact.constant dense<0.0> : tensor<6x2x4xf32>
      %2 = fact.constant dense<0.0> : tensor<6x2x4xf32>
      %3 = fact.concat %1, %a0, %2 dim 1 : (tensor<6x2x4xf32>, tensor<6x8x4xf32>, tensor<6x2x4xf32>) -> tensor<6x12x4xf32>
      %4 = fact.slice %3 dim 1 start 1 : (tensor<6x12x4xf32>) -> tensor<6x11x4xf32>
      fact.yield %4 : tensor<6x11x4xf32>
    } : tensor<6x11x4xf32>
    // Views after a concatenation.
    %r18 = fact.fused "pointwise" ins(%x18_0, %x18_1 : tensor<5x7x9xf32>, tensor<5x7x3xf32>) {
    ^bb0(%a0: tensor<5x7x9xf32>, %a1: tensor<5x7x3xf32>):
      %1 = fact.concat %a0, %a1 dim 2 : (tensor<5x7x9xf32>, tensor<5x7x3xf32>) -> tensor<5x7x12xf32>
      %2 = fact.permute %1 [1, 0, 2] : (tensor<5x7x12xf32>) -> tensor<7x5x12xf32>
      fact.yield %2 : tensor<7x5x12xf32>
    } : tensor<7x5x12xf32>
    %r19 = fact.fused "pointwise" ins(%x19_0, %x19_1 : tensor<5x6x9xf32>, tensor<5x6x3xf32>) {
    ^bb0(%a0: tensor<5x6x9xf32>, %a1: tensor<5x6x3xf32>):
      %1 = fact.concat %a0, %a1 dim 2 : (tensor<5x6x9xf32>, tensor<5x6x3xf32>) -> tensor<5x6x12xf32>
      %2 = fact.reshape %1 : (tensor<5x6x12xf32>) -> tensor<30x12xf32>
      %3 = fact.relu %2 : (tensor<30x12xf32>) -> tensor<30x12xf32>
      fact.yield %3 : tensor<30x12xf32>
    } : tensor<30x12xf32>
    // Gathers of gathers: reflection.
    %r20 = fact.fused "pointwise" ins(%x20_0, %x20_1, %x20_2 : tensor<3x9x10xf32>, tensor<13xi64>, tensor<12xi64>) {
    ^bb0(%a0: tensor<3x9x10xf32>, %a1: tensor<13xi64>, %a2: tensor<12xi64>):
      %1 = fact.gather %a0, %a1 dim 1 : (tensor<3x9x10xf32>, tensor<13xi64>) -> tensor<3x13x10xf32>
      %2 = fact.gather %1, %a2 dim 2 : (tensor<3x13x10xf32>, tensor<12xi64>) -> tensor<3x13x12xf32>
      fact.yield %2 : tensor<3x13x12xf32>
    } : tensor<3x13x12xf32>
    // A resize: four gathers by indices that are computed.
    %r21 = fact.fused "pointwise" ins(%x21_0, %x21_1, %x21_2, %x21_3, %x21_4, %x21_5, %x21_6 : tensor<2x3x7x9xbf16>, tensor<14x1xi64>, tensor<14x1xi64>, tensor<18xi64>, tensor<18xi64>, tensor<14x1xbf16>, tensor<18xbf16>) {
    ^bb0(%a0: tensor<2x3x7x9xbf16>, %a1: tensor<14x1xi64>, %a2: tensor<14x1xi64>, %a3: tensor<18xi64>, %a4: tensor<18xi64>, %a5: tensor<14x1xbf16>, %a6: tensor<18xbf16>):
      %1 = fact.reshape %a0 : (tensor<2x3x7x9xbf16>) -> tensor<2x3x63xbf16>
      %2 = fact.constant dense<9> : tensor<i64>
      %3 = fact.mul %a1, %2 : (tensor<14x1xi64>, tensor<i64>) -> tensor<14x1xi64>
      %4 = fact.add %3, %a3 : (tensor<14x1xi64>, tensor<18xi64>) -> tensor<14x18xi64>
      %5 = fact.gather %1, %4 dim 2 : (tensor<2x3x63xbf16>, tensor<14x18xi64>) -> tensor<2x3x14x18xbf16>
      %6 = fact.mul %a1, %2 : (tensor<14x1xi64>, tensor<i64>) -> tensor<14x1xi64>
      %7 = fact.add %6, %a4 : (tensor<14x1xi64>, tensor<18xi64>) -> tensor<14x18xi64>
      %8 = fact.gather %1, %7 dim 2 : (tensor<2x3x63xbf16>, tensor<14x18xi64>) -> tensor<2x3x14x18xbf16>
      %9 = fact.mul %a2, %2 : (tensor<14x1xi64>, tensor<i64>) -> tensor<14x1xi64>
      %10 = fact.add %9, %a3 : (tensor<14x1xi64>, tensor<18xi64>) -> tensor<14x18xi64>
      %11 = fact.gather %1, %10 dim 2 : (tensor<2x3x63xbf16>, tensor<14x18xi64>) -> tensor<2x3x14x18xbf16>
      %12 = fact.mul %a2, %2 : (tensor<14x1xi64>, tensor<i64>) -> tensor<14x1xi64>
      %13 = fact.add %12, %a4 : (tensor<14x1xi64>, tensor<18xi64>) -> tensor<14x18xi64>
      %14 = fact.gather %1, %13 dim 2 : (tensor<2x3x63xbf16>, tensor<14x18xi64>) -> tensor<2x3x14x18xbf16>
      %15 = fact.sub %8, %5 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      %16 = fact.mul %15, %a6 : (tensor<2x3x14x18xbf16>, tensor<18xbf16>) -> tensor<2x3x14x18xbf16>
      %17 = fact.add %5, %16 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      %18 = fact.sub %14, %11 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      %19 = fact.mul %18, %a6 : (tensor<2x3x14x18xbf16>, tensor<18xbf16>) -> tensor<2x3x14x18xbf16>
      %20 = fact.add %11, %19 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      %21 = fact.sub %20, %17 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      %22 = fact.mul %21, %a5 : (tensor<2x3x14x18xbf16>, tensor<14x1xbf16>) -> tensor<2x3x14x18xbf16>
      %23 = fact.add %17, %22 : (tensor<2x3x14x18xbf16>, tensor<2x3x14x18xbf16>) -> tensor<2x3x14x18xbf16>
      fact.yield %23 : tensor<2x3x14x18xbf16>
    } : tensor<2x3x14x18xbf16>
    // Rows by indices that a table has, and positions.
    %r22 = fact.fused "pointwise" ins(%x22_0, %x22_1, %x22_2, %x22_3 : tensor<50x16xbf16>, tensor<20xi64>, tensor<2x7xi64>, tensor<7x16xbf16>) {
    ^bb0(%a0: tensor<50x16xbf16>, %a1: tensor<20xi64>, %a2: tensor<2x7xi64>, %a3: tensor<7x16xbf16>):
      %1 = fact.gather %a1, %a2 dim 0 : (tensor<20xi64>, tensor<2x7xi64>) -> tensor<2x7xi64>
      %2 = fact.gather %a0, %1 dim 0 : (tensor<50x16xbf16>, tensor<2x7xi64>) -> tensor<2x7x16xbf16>
      %3 = fact.add %2, %a3 : (tensor<2x7x16xbf16>, tensor<7x16xbf16>) -> tensor<2x7x16xbf16>
      fact.yield %3 : tensor<2x7x16xbf16>
    } : tensor<2x7x16xbf16>
    // A class token before rows of a table.
    %r23 = fact.fused "pointwise" ins(%x23_0, %x23_1, %x23_2 : tensor<40x24xf32>, tensor<6xi64>, tensor<1x24xf32>) {
    ^bb0(%a0: tensor<40x24xf32>, %a1: tensor<6xi64>, %a2: tensor<1x24xf32>):
      %1 = fact.gather %a0, %a1 dim 0 : (tensor<40x24xf32>, tensor<6xi64>) -> tensor<6x24xf32>
      %2 = fact.concat %a2, %1 dim 0 : (tensor<1x24xf32>, tensor<6x24xf32>) -> tensor<7x24xf32>
      %3 = fact.relu %2 : (tensor<7x24xf32>) -> tensor<7x24xf32>
      fact.yield %3 : tensor<7x24xf32>
    } : tensor<7x24xf32>
    %r24 = fact.fused "pointwise" ins(%x24_0, %x24_1, %x24_2 : tensor<40x7xf32>, tensor<6xi64>, tensor<6x5xf32>) {
    ^bb0(%a0: tensor<40x7xf32>, %a1: tensor<6xi64>, %a2: tensor<6x5xf32>):
      %1 = fact.gather %a0, %a1 dim 0 : (tensor<40x7xf32>, tensor<6xi64>) -> tensor<6x7xf32>
      %2 = fact.concat %a2, %1 dim 1 : (tensor<6x5xf32>, tensor<6x7xf32>) -> tensor<6x12xf32>
      fact.yield %2 : tensor<6x12xf32>
    } : tensor<6x12xf32>
    %r25 = fact.fused "pointwise" ins(%x25_0, %x25_1 : tensor<5x33xf32>, tensor<20xi64>) {
    ^bb0(%a0: tensor<5x33xf32>, %a1: tensor<20xi64>):
      %1 = fact.gather %a0, %a1 dim 1 : (tensor<5x33xf32>, tensor<20xi64>) -> tensor<5x20xf32>
      %2 = fact.constant dense<0.0> : tensor<5x1xf32>
      %3 = fact.constant dense<0.0> : tensor<5x2xf32>
      %4 = fact.concat %2, %1, %3 dim 1 : (tensor<5x1xf32>, tensor<5x20xf32>, tensor<5x2xf32>) -> tensor<5x23xf32>
      fact.yield %4 : tensor<5x23xf32>
    } : tensor<5x23xf32>
    %r26 = fact.fused "pointwise" ins(%x26_0, %x26_1 : tensor<5x33xi32>, tensor<20xi32>) {
    ^bb0(%a0: tensor<5x33xi32>, %a1: tensor<20xi32>):
      %1 = fact.gather %a0, %a1 dim 1 : (tensor<5x33xi32>, tensor<20xi32>) -> tensor<5x20xi32>
      fact.yield %1 : tensor<5x20xi32>
    } : tensor<5x20xi32>
    // Short rows and a vector for all of them.
    %r27 = fact.fused "pointwise" ins(%x27_0, %x27_1 : tensor<64x7xbf16>, tensor<7xbf16>) {
    ^bb0(%a0: tensor<64x7xbf16>, %a1: tensor<7xbf16>):
      %1 = fact.add %a0, %a1 : (tensor<64x7xbf16>, tensor<7xbf16>) -> tensor<64x7xbf16>
      fact.yield %1 : tensor<64x7xbf16>
    } : tensor<64x7xbf16>
    %r28 = fact.fused "pointwise" ins(%x28_0, %x28_1 : tensor<64x3xf32>, tensor<64x1xf32>) {
    ^bb0(%a0: tensor<64x3xf32>, %a1: tensor<64x1xf32>):
      %1 = fact.mul %a0, %a1 : (tensor<64x3xf32>, tensor<64x1xf32>) -> tensor<64x3xf32>
      fact.yield %1 : tensor<64x3xf32>
    } : tensor<64x3xf32>
    %r29 = fact.fused "pointwise" ins(%x29_0, %x29_1 : tensor<9x5xf32>, tensor<5xf32>) {
    ^bb0(%a0: tensor<9x5xf32>, %a1: tensor<5xf32>):
      %1 = fact.mul %a0, %a1 : (tensor<9x5xf32>, tensor<5xf32>) -> tensor<9x5xf32>
      fact.yield %1 : tensor<9x5xf32>
    } : tensor<9x5xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7#0, %r7#1, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29 : tensor<33x58xf32>, tensor<32x57xf32>, tensor<32x57xbf16>, tensor<8x47xf16>, tensor<3x5x16x16xf32>, tensor<2x5x16x15xbf16>, tensor<2x4x8x8xf32>, tensor<9x33xf32>, tensor<9x33xf32>, tensor<6x13xi64>, tensor<130x208xbf16>, tensor<64x25xbf16>, tensor<2035xf32>, tensor<2x12x20xf32>, tensor<12x40xf32>, tensor<21x8x3xbf16>, tensor<4x16x16xf32>, tensor<16x12xf32>, tensor<6x11x4xf32>, tensor<7x5x12xf32>, tensor<30x12xf32>, tensor<3x13x12xf32>, tensor<2x3x14x18xbf16>, tensor<2x7x16xbf16>, tensor<7x24xf32>, tensor<6x12xf32>, tensor<5x23xf32>, tensor<5x20xi32>, tensor<64x7xbf16>, tensor<64x3xf32>, tensor<9x5xf32>
  }
}
