// Regions of the families for compute capability 8.0 and later, which run on an H200 too;
// test_families.py lets fact-tune check their kernels against the references.

module @sm80 attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<4x130x97xbf16>, %x0_1: tensor<131x97xbf16>, %x0_2: tensor<131xbf16>, %x0_3: tensor<4x130x131xbf16>, %x1_0: tensor<4x130x100xf16>, %x1_1: tensor<132x100xf16>, %x1_2: tensor<132xf16>, %x1_3: tensor<4x130x132xf16>, %x2_0: tensor<4x130x264xbf16>, %x2_1: tensor<328x264xbf16>, %x2_2: tensor<328xbf16>, %x2_3: tensor<4x130x328xbf16>, %x3_0: tensor<4x130x97xf32>, %x3_1: tensor<131x97xf32>, %x3_2: tensor<131xf32>, %x3_3: tensor<4x130x131xf32>, %x4_0: tensor<4x130x97xf32>, %x4_1: tensor<131x97xf32>, %x4_2: tensor<131xf32>, %x4_3: tensor<4x130x131xf32>, %x5_0: tensor<4x130x264xf32>, %x5_1: tensor<328x264xf32>, %x5_2: tensor<328xf32>, %x5_3: tensor<4x130x328xf32>, %x6_0: tensor<4x130x264xf32>, %x6_1: tensor<328x264xf32>, %x6_2: tensor<328xf32>, %x6_3: tensor<4x130x328xf32>, %x7_0: tensor<3x97x200xbf16>, %x7_1: tensor<97x135xbf16>, %x8_0: tensor<3x97x200xf32>, %x8_1: tensor<97x135xf32>, %x9_0: tensor<3x97x200xf32>, %x9_1: tensor<97x135xf32>, %x10_0: tensor<6x65x41xbf16>, %x10_1: tensor<6x41x67xbf16>, %x10_2: tensor<65x67xi1>, %x10_3: tensor<6x1x67xi64>, %x10_4: tensor<6x65x67xbf16>, %x11_0: tensor<70x90xf32>, %x11_1: tensor<90x50xf32>, %x11_2: tensor<50xf32>, %x12_0: tensor<72x96xf16>, %x12_1: tensor<96x56xf16>, %x13_0: tensor<72x194xbf16>, %x13_1: tensor<56x97xbf16>, %x14_0: tensor<4x1x31x20xbf16>, %x14_1: tensor<5x20x7xbf16>, %x15_0: tensor<2x70x4x36xf16>, %x15_1: tensor<2x70x4x36xf16>, %x15_2: tensor<2x1x70x70xf16>, %x16_0: tensor<2x4x70x60xf32>, %x16_1: tensor<2x60x4x30xf32>, %x17_0: tensor<1x4099xbf16>, %x17_1: tensor<4099x33xbf16>, %x17_2: tensor<33xbf16>, %x18_0: tensor<1x4099xf32>, %x18_1: tensor<4099x33xf32>, %x18_2: tensor<33xf32>, %x19_0: tensor<1x4099xf32>, %x19_1: tensor<4099x33xf32>, %x19_2: tensor<33xf32>, %x20_0: tensor<333x1025xbf16>, %x20_1: tensor<1025x1xbf16>, %x21_0: tensor<33x1xf32>, %x21_1: tensor<1x45xf32>, %x22_0: tensor<72x2056xbf16>, %x22_1: tensor<72x2056xbf16>, %x23_0: tensor<130x97xbf16>, %x23_1: tensor<97x75xbf16>, %x23_2: tensor<97x75xbf16>, %x23_3: tensor<75xbf16>, %x24_0: tensor<130x97xf32>, %x24_1: tensor<97x75xf32>, %x24_2: tensor<97x75xf32>, %x24_3: tensor<75xf32>, %x25_0: tensor<130x97xf32>, %x25_1: tensor<97x75xf32>, %x25_2: tensor<97x75xf32>, %x25_3: tensor<75xf32>, %x26_0: tensor<4x130x97xf32>, %x26_1: tensor<131x97xf32>, %x26_2: tensor<131xf32>, %x26_3: tensor<4x130x131xf32>, %x27_0: tensor<4x130x264xf32>, %x27_1: tensor<328x264xf32>, %x28_0: tensor<3x97x200xf32>, %x28_1: tensor<97x135xf32>, %x29_0: tensor<3x200x97xf32>, %x29_1: tensor<97x135xf32>, %x30_0: tensor<72x194xf32>, %x30_1: tensor<97x56xf32>, %x31_0: tensor<2x4x70x60xf32>, %x31_1: tensor<2x60x4x30xf32>, %x32_0: tensor<72x2055xf32>, %x32_1: tensor<70x2055xf32>, %x33_0: tensor<13x4099xf32>, %x33_1: tensor<4099x133xf32>, %x33_2: tensor<133xf32>, %x34_0: tensor<130x97xf32>, %x34_1: tensor<97x97xf32>, %x34_2: tensor<97x97xf32>, %x34_3: tensor<97xf32>) -> (tensor<4x130x131xbf16>, tensor<4x130x132xf16>, tensor<4x130x328xbf16>, tensor<4x130x131xf32>, tensor<4x130x131xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<3x200x135xbf16>, tensor<3x200x135xf32>, tensor<3x200x135xf32>, tensor<6x65x67xbf16>, tensor<70x50xf32>, tensor<70x50xi1>, tensor<56x72xf16>, tensor<72x56xbf16>, tensor<4x5x31x7xbf16>, tensor<2x4x70x70xf16>, tensor<2x70x4x30xf32>, tensor<1x33xbf16>, tensor<1x33xf32>, tensor<1x33xf32>, tensor<333x1xbf16>, tensor<33x45xf32>, tensor<72x72xbf16>, tensor<130x75xbf16>, tensor<130x75xf32>, tensor<130x75xf32>, tensor<4x130x131xf32>, tensor<4x130x328xf32>, tensor<3x200x135xf32>, tensor<3x200x135xf32>, tensor<56x72xf32>, tensor<2x70x4x30xf32>, tensor<72x70xf32>, tensor<13x133xf32>, tensor<130x97xf32>) {
    // Rows of no multiple of four bytes, of eight and of sixteen.
    %r0 = fact.fused "gemm_epilogue" ins(%x0_0, %x0_1, %x0_2, %x0_3 : tensor<4x130x97xbf16>, tensor<131x97xbf16>, tensor<131xbf16>, tensor<4x130x131xbf16>) {
    ^bb0(%a0: tensor<4x130x97xbf16>, %a1: tensor<131x97xbf16>, %a2: tensor<131xbf16>, %a3: tensor<4x130x131xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x97xbf16>, tensor<131x97xbf16>) -> tensor<4x130x131xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x131xbf16>, tensor<131xbf16>) -> tensor<4x130x131xbf16>
      %3 = fact.gelu %2 : (tensor<4x130x131xbf16>) -> tensor<4x130x131xbf16>
      %4 = fact.add %3, %a3 : (tensor<4x130x131xbf16>, tensor<4x130x131xbf16>) -> tensor<4x130x131xbf16>
      fact.yield %4 : tensor<4x130x131xbf16>
    } : tensor<4x130x131xbf16>
    %r1 = fact.fused "gemm_epilogue" ins(%x1_0, %x1_1, %x1_2, %x1_3 : tensor<4x130x100xf16>, tensor<132x100xf16>, tensor<132xf16>, tensor<4x130x132xf16>) {
    ^bb0(%a0: tensor<4x130x100xf16>, %a1: tensor<132x100xf16>, %a2: tensor<132xf16>, %a3: tensor<4x130x132xf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x100xf16>, tensor<132x100xf16>) -> tensor<4x130x132xf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x132xf16>, tensor<132xf16>) -> tensor<4x130x132xf16>
      %3 = fact.gelu %2 : (tensor<4x130x132xf16>) -> tensor<4x130x132xf16>
      %4 = fact.add %3, %a3 : (tensor<4x130x132xf16>, tensor<4x130x132xf16>) -> tensor<4x130x132xf16>
      fact.yield %4 : tensor<4x130x132xf16>
    } : tensor<4x130x132xf16>
    %r2 = fact.fused "gemm_epilogue" ins(%x2_0, %x2_1, %x2_2, %x2_3 : tensor<4x130x264xbf16>, tensor<328x264xbf16>, tensor<328xbf16>, tensor<4x130x328xbf16>) {
    ^bb0(%a0: tensor<4x130x264xbf16>, %a1: tensor<328x264xbf16>, %a2: tensor<328xbf16>, %a3: tensor<4x130x328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x264xbf16>, tensor<328x264xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.gelu %2 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xbf16>, tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      fact.yield %4 : tensor<4x130x328xbf16>
    } space(#fact.sm80_gemm_space<tile = [128x128x32, 128x64x32, 64x128x64], warps = [2x4, 4x2, 2x2], stages = [3, 4], split_k = [1], math = [mma]>) : tensor<4x130x328xbf16>
    // Strict f32 and TF32.
    %r3 = fact.fused "gemm_epilogue" ins(%x3_0, %x3_1, %x3_2, %x3_3 : tensor<4x130x97xf32>, tensor<131x97xf32>, tensor<131xf32>, tensor<4x130x131xf32>) {
    ^bb0(%a0: tensor<4x130x97xf32>, %a1: tensor<131x97xf32>, %a2: tensor<131xf32>, %a3: tensor<4x130x131xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x97xf32>, tensor<131x97xf32>) -> tensor<4x130x131xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x131xf32>, tensor<131xf32>) -> tensor<4x130x131xf32>
      %3 = fact.gelu %2 : (tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x131xf32>, tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      fact.yield %4 : tensor<4x130x131xf32>
    } : tensor<4x130x131xf32>
    %r4 = fact.fused "gemm_epilogue" ins(%x4_0, %x4_1, %x4_2, %x4_3 : tensor<4x130x97xf32>, tensor<131x97xf32>, tensor<131xf32>, tensor<4x130x131xf32>) {
    ^bb0(%a0: tensor<4x130x97xf32>, %a1: tensor<131x97xf32>, %a2: tensor<131xf32>, %a3: tensor<4x130x131xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x97xf32>, tensor<131x97xf32>) -> tensor<4x130x131xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x131xf32>, tensor<131xf32>) -> tensor<4x130x131xf32>
      %3 = fact.gelu %2 : (tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x131xf32>, tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      fact.yield %4 : tensor<4x130x131xf32>
    } : tensor<4x130x131xf32>
    %r5 = fact.fused "gemm_epilogue" ins(%x5_0, %x5_1, %x5_2, %x5_3 : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<328xf32>, tensor<4x130x328xf32>) {
    ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<328xf32>, %a3: tensor<4x130x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.gelu %2 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %4 : tensor<4x130x328xf32>
    } space(#fact.sm80_gemm_space<tile = [128x64x32, 64x64x32], warps = [4x2, 2x2], stages = [3], split_k = [1], math = [mma]>) : tensor<4x130x328xf32>
    %r6 = fact.fused "gemm_epilogue" ins(%x6_0, %x6_1, %x6_2, %x6_3 : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<328xf32>, tensor<4x130x328xf32>) {
    ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<328xf32>, %a3: tensor<4x130x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.gelu %2 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %4 : tensor<4x130x328xf32>
    } space(#fact.sm80_gemm_space<tile = [128x128x16, 64x64x32], warps = [2x4, 2x2], stages = [3, 4], split_k = [1], math = [mma]>) : tensor<4x130x328xf32>
    // Both factors along M and N.
    %r7 = fact.fused "gemm_epilogue" ins(%x7_0, %x7_1 : tensor<3x97x200xbf16>, tensor<97x135xbf16>) {
    ^bb0(%a0: tensor<3x97x200xbf16>, %a1: tensor<97x135xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<3x97x200xbf16>, tensor<97x135xbf16>) -> tensor<3x200x135xbf16>
      %2 = fact.relu %1 : (tensor<3x200x135xbf16>) -> tensor<3x200x135xbf16>
      fact.yield %2 : tensor<3x200x135xbf16>
    } : tensor<3x200x135xbf16>
    %r8 = fact.fused "gemm_epilogue" ins(%x8_0, %x8_1 : tensor<3x97x200xf32>, tensor<97x135xf32>) {
    ^bb0(%a0: tensor<3x97x200xf32>, %a1: tensor<97x135xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<3x97x200xf32>, tensor<97x135xf32>) -> tensor<3x200x135xf32>
      %2 = fact.relu %1 : (tensor<3x200x135xf32>) -> tensor<3x200x135xf32>
      fact.yield %2 : tensor<3x200x135xf32>
    } : tensor<3x200x135xf32>
    %r9 = fact.fused "gemm_epilogue" ins(%x9_0, %x9_1 : tensor<3x97x200xf32>, tensor<97x135xf32>) {
    ^bb0(%a0: tensor<3x97x200xf32>, %a1: tensor<97x135xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a tf32 : (tensor<3x97x200xf32>, tensor<97x135xf32>) -> tensor<3x200x135xf32>
      %2 = fact.relu %1 : (tensor<3x200x135xf32>) -> tensor<3x200x135xf32>
      fact.yield %2 : tensor<3x200x135xf32>
    } : tensor<3x200x135xf32>
    // A mask of booleans, an operand of integers.
    %r10 = fact.fused "gemm_epilogue" ins(%x10_0, %x10_1, %x10_2, %x10_3, %x10_4 : tensor<6x65x41xbf16>, tensor<6x41x67xbf16>, tensor<65x67xi1>, tensor<6x1x67xi64>, tensor<6x65x67xbf16>) {
    ^bb0(%a0: tensor<6x65x41xbf16>, %a1: tensor<6x41x67xbf16>, %a2: tensor<65x67xi1>, %a3: tensor<6x1x67xi64>, %a4: tensor<6x65x67xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<6x65x41xbf16>, tensor<6x41x67xbf16>) -> tensor<6x65x67xbf16>
      %2 = fact.select %a2, %1, %a4 : (tensor<65x67xi1>, tensor<6x65x67xbf16>, tensor<6x65x67xbf16>) -> tensor<6x65x67xbf16>
      %3 = fact.cast %a3 : (tensor<6x1x67xi64>) -> tensor<6x1x67xbf16>
      %4 = fact.add %2, %3 : (tensor<6x65x67xbf16>, tensor<6x1x67xbf16>) -> tensor<6x65x67xbf16>
      fact.yield %4 : tensor<6x65x67xbf16>
    } : tensor<6x65x67xbf16>
    // Two results, one of booleans.
    %r11:2 = fact.fused "gemm_epilogue" ins(%x11_0, %x11_1, %x11_2 : tensor<70x90xf32>, tensor<90x50xf32>, tensor<50xf32>) {
    ^bb0(%a0: tensor<70x90xf32>, %a1: tensor<90x50xf32>, %a2: tensor<50xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<70x90xf32>, tensor<90x50xf32>) -> tensor<70x50xf32>
      %2 = fact.add %1, %a2 : (tensor<70x50xf32>, tensor<50xf32>) -> tensor<70x50xf32>
      %3 = fact.compare gt %2, %a2 : (tensor<70x50xf32>, tensor<50xf32>) -> tensor<70x50xi1>
      fact.yield %2, %3 : tensor<70x50xf32>, tensor<70x50xi1>
    } : tensor<70x50xf32>, tensor<70x50xi1>
    // A result that lies in columns.
    %r12 = fact.fused "gemm_epilogue" ins(%x12_0, %x12_1 : tensor<72x96xf16>, tensor<96x56xf16>) {
    ^bb0(%a0: tensor<72x96xf16>, %a1: tensor<96x56xf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<72x96xf16>, tensor<96x56xf16>) -> tensor<72x56xf16>
      %2 = fact.sigmoid %1 : (tensor<72x56xf16>) -> tensor<72x56xf16>
      %3 = fact.permute %2 [1, 0] : (tensor<72x56xf16>) -> tensor<56x72xf16>
      fact.yield %3 : tensor<56x72xf16>
    } : tensor<56x72xf16>
    // Every second element.
    %r13 = fact.fused "gemm_epilogue" ins(%x13_0, %x13_1 : tensor<72x194xbf16>, tensor<56x97xbf16>) {
    ^bb0(%a0: tensor<72x194xbf16>, %a1: tensor<56x97xbf16>):
      %0 = fact.slice %a0 dim 1 start 1 step 2 : (tensor<72x194xbf16>) -> tensor<72x97xbf16>
      %1 = fact.matmul %0, %a1 transpose_b : (tensor<72x97xbf16>, tensor<56x97xbf16>) -> tensor<72x56xbf16>
      %2 = fact.relu %1 : (tensor<72x56xbf16>) -> tensor<72x56xbf16>
      fact.yield %2 : tensor<72x56xbf16>
    } : tensor<72x56xbf16>
    // Batches that broadcast in two dimensions, and those of permuted heads.
    %r14 = fact.fused "gemm_epilogue" ins(%x14_0, %x14_1 : tensor<4x1x31x20xbf16>, tensor<5x20x7xbf16>) {
    ^bb0(%a0: tensor<4x1x31x20xbf16>, %a1: tensor<5x20x7xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<4x1x31x20xbf16>, tensor<5x20x7xbf16>) -> tensor<4x5x31x7xbf16>
      %2 = fact.relu %1 : (tensor<4x5x31x7xbf16>) -> tensor<4x5x31x7xbf16>
      fact.yield %2 : tensor<4x5x31x7xbf16>
    } : tensor<4x5x31x7xbf16>
    %r15 = fact.fused "gemm_epilogue" ins(%x15_0, %x15_1, %x15_2 : tensor<2x70x4x36xf16>, tensor<2x70x4x36xf16>, tensor<2x1x70x70xf16>) {
    ^bb0(%a0: tensor<2x70x4x36xf16>, %a1: tensor<2x70x4x36xf16>, %a2: tensor<2x1x70x70xf16>):
      %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<2x70x4x36xf16>) -> tensor<2x4x70x36xf16>
      %1 = fact.permute %a1 [0, 2, 1, 3] : (tensor<2x70x4x36xf16>) -> tensor<2x4x70x36xf16>
      %2 = fact.matmul %0, %1 transpose_b : (tensor<2x4x70x36xf16>, tensor<2x4x70x36xf16>) -> tensor<2x4x70x70xf16>
      %3 = fact.add %2, %a2 : (tensor<2x4x70x70xf16>, tensor<2x1x70x70xf16>) -> tensor<2x4x70x70xf16>
      fact.yield %3 : tensor<2x4x70x70xf16>
    } : tensor<2x4x70x70xf16>
    %r16 = fact.fused "gemm_epilogue" ins(%x16_0, %x16_1 : tensor<2x4x70x60xf32>, tensor<2x60x4x30xf32>) {
    ^bb0(%a0: tensor<2x4x70x60xf32>, %a1: tensor<2x60x4x30xf32>):
      %0 = fact.permute %a1 [0, 2, 1, 3] : (tensor<2x60x4x30xf32>) -> tensor<2x4x60x30xf32>
      %1 = fact.matmul %a0, %0 : (tensor<2x4x70x60xf32>, tensor<2x4x60x30xf32>) -> tensor<2x4x70x30xf32>
      %2 = fact.permute %1 [0, 2, 1, 3] : (tensor<2x4x70x30xf32>) -> tensor<2x70x4x30xf32>
      fact.yield %2 : tensor<2x70x4x30xf32>
    } : tensor<2x70x4x30xf32>
    // Few rows, few columns, and long sums.
    %r17 = fact.fused "gemm_epilogue" ins(%x17_0, %x17_1, %x17_2 : tensor<1x4099xbf16>, tensor<4099x33xbf16>, tensor<33xbf16>) {
    ^bb0(%a0: tensor<1x4099xbf16>, %a1: tensor<4099x33xbf16>, %a2: tensor<33xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x4099xbf16>, tensor<4099x33xbf16>) -> tensor<1x33xbf16>
      %2 = fact.add %1, %a2 : (tensor<1x33xbf16>, tensor<33xbf16>) -> tensor<1x33xbf16>
      fact.yield %2 : tensor<1x33xbf16>
    } : tensor<1x33xbf16>
    %r18 = fact.fused "gemm_epilogue" ins(%x18_0, %x18_1, %x18_2 : tensor<1x4099xf32>, tensor<4099x33xf32>, tensor<33xf32>) {
    ^bb0(%a0: tensor<1x4099xf32>, %a1: tensor<4099x33xf32>, %a2: tensor<33xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x4099xf32>, tensor<4099x33xf32>) -> tensor<1x33xf32>
      %2 = fact.add %1, %a2 : (tensor<1x33xf32>, tensor<33xf32>) -> tensor<1x33xf32>
      fact.yield %2 : tensor<1x33xf32>
    } : tensor<1x33xf32>
    %r19 = fact.fused "gemm_epilogue" ins(%x19_0, %x19_1, %x19_2 : tensor<1x4099xf32>, tensor<4099x33xf32>, tensor<33xf32>) {
    ^bb0(%a0: tensor<1x4099xf32>, %a1: tensor<4099x33xf32>, %a2: tensor<33xf32>):
      %1 = fact.matmul %a0, %a1 tf32 : (tensor<1x4099xf32>, tensor<4099x33xf32>) -> tensor<1x33xf32>
      %2 = fact.add %1, %a2 : (tensor<1x33xf32>, tensor<33xf32>) -> tensor<1x33xf32>
      fact.yield %2 : tensor<1x33xf32>
    } : tensor<1x33xf32>
    %r20 = fact.fused "gemm_epilogue" ins(%x20_0, %x20_1 : tensor<333x1025xbf16>, tensor<1025x1xbf16>) {
    ^bb0(%a0: tensor<333x1025xbf16>, %a1: tensor<1025x1xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<333x1025xbf16>, tensor<1025x1xbf16>) -> tensor<333x1xbf16>
      %2 = fact.tanh %1 : (tensor<333x1xbf16>) -> tensor<333x1xbf16>
      fact.yield %2 : tensor<333x1xbf16>
    } : tensor<333x1xbf16>
    %r21 = fact.fused "gemm_epilogue" ins(%x21_0, %x21_1 : tensor<33x1xf32>, tensor<1x45xf32>) {
    ^bb0(%a0: tensor<33x1xf32>, %a1: tensor<1x45xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<33x1xf32>, tensor<1x45xf32>) -> tensor<33x45xf32>
      %2 = fact.tanh %1 : (tensor<33x45xf32>) -> tensor<33x45xf32>
      fact.yield %2 : tensor<33x45xf32>
    } : tensor<33x45xf32>
    %r22 = fact.fused "gemm_epilogue" ins(%x22_0, %x22_1 : tensor<72x2056xbf16>, tensor<72x2056xbf16>) {
    ^bb0(%a0: tensor<72x2056xbf16>, %a1: tensor<72x2056xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<72x2056xbf16>, tensor<72x2056xbf16>) -> tensor<72x72xbf16>
      %2 = fact.relu %1 : (tensor<72x72xbf16>) -> tensor<72x72xbf16>
      fact.yield %2 : tensor<72x72xbf16>
    } space(#fact.sm80_gemm_space<tile = [64x64x64, 32x64x64], warps = [2x2, 1x2], stages = [3], split_k = [2, 8], math = [mma]>) : tensor<72x72xbf16>
    // Two products, combined.
    %r23 = fact.fused "gated_gemm" ins(%x23_0, %x23_1, %x23_2, %x23_3 : tensor<130x97xbf16>, tensor<97x75xbf16>, tensor<97x75xbf16>, tensor<75xbf16>) {
    ^bb0(%a0: tensor<130x97xbf16>, %a1: tensor<97x75xbf16>, %a2: tensor<97x75xbf16>, %a3: tensor<75xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<130x97xbf16>, tensor<97x75xbf16>) -> tensor<130x75xbf16>
      %2 = fact.matmul %a0, %a2 : (tensor<130x97xbf16>, tensor<97x75xbf16>) -> tensor<130x75xbf16>
      %3 = fact.silu %1 : (tensor<130x75xbf16>) -> tensor<130x75xbf16>
      %4 = fact.mul %3, %2 : (tensor<130x75xbf16>, tensor<130x75xbf16>) -> tensor<130x75xbf16>
      %5 = fact.add %4, %a3 : (tensor<130x75xbf16>, tensor<75xbf16>) -> tensor<130x75xbf16>
      fact.yield %5 : tensor<130x75xbf16>
    } : tensor<130x75xbf16>
    %r24 = fact.fused "gated_gemm" ins(%x24_0, %x24_1, %x24_2, %x24_3 : tensor<130x97xf32>, tensor<97x75xf32>, tensor<97x75xf32>, tensor<75xf32>) {
    ^bb0(%a0: tensor<130x97xf32>, %a1: tensor<97x75xf32>, %a2: tensor<97x75xf32>, %a3: tensor<75xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<130x97xf32>, tensor<97x75xf32>) -> tensor<130x75xf32>
      %2 = fact.matmul %a0, %a2 : (tensor<130x97xf32>, tensor<97x75xf32>) -> tensor<130x75xf32>
      %3 = fact.silu %1 : (tensor<130x75xf32>) -> tensor<130x75xf32>
      %4 = fact.mul %3, %2 : (tensor<130x75xf32>, tensor<130x75xf32>) -> tensor<130x75xf32>
      %5 = fact.add %4, %a3 : (tensor<130x75xf32>, tensor<75xf32>) -> tensor<130x75xf32>
      fact.yield %5 : tensor<130x75xf32>
    } : tensor<130x75xf32>
    %r25 = fact.fused "gated_gemm" ins(%x25_0, %x25_1, %x25_2, %x25_3 : tensor<130x97xf32>, tensor<97x75xf32>, tensor<97x75xf32>, tensor<75xf32>) {
    ^bb0(%a0: tensor<130x97xf32>, %a1: tensor<97x75xf32>, %a2: tensor<97x75xf32>, %a3: tensor<75xf32>):
      %1 = fact.matmul %a0, %a1 tf32 : (tensor<130x97xf32>, tensor<97x75xf32>) -> tensor<130x75xf32>
      %2 = fact.matmul %a0, %a2 tf32 : (tensor<130x97xf32>, tensor<97x75xf32>) -> tensor<130x75xf32>
      %3 = fact.silu %1 : (tensor<130x75xf32>) -> tensor<130x75xf32>
      %4 = fact.mul %3, %2 : (tensor<130x75xf32>, tensor<130x75xf32>) -> tensor<130x75xf32>
      %5 = fact.add %4, %a3 : (tensor<130x75xf32>, tensor<75xf32>) -> tensor<130x75xf32>
      fact.yield %5 : tensor<130x75xf32>
    } : tensor<130x75xf32>
    // Strict f32 on the f32 units: rows along K, of any alignment.
    %r26 = fact.fused "gemm_epilogue" ins(%x26_0, %x26_1, %x26_2, %x26_3 : tensor<4x130x97xf32>, tensor<131x97xf32>, tensor<131xf32>, tensor<4x130x131xf32>) {
    ^bb0(%a0: tensor<4x130x97xf32>, %a1: tensor<131x97xf32>, %a2: tensor<131xf32>, %a3: tensor<4x130x131xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x97xf32>, tensor<131x97xf32>) -> tensor<4x130x131xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x131xf32>, tensor<131xf32>) -> tensor<4x130x131xf32>
      %3 = fact.gelu %2 : (tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x131xf32>, tensor<4x130x131xf32>) -> tensor<4x130x131xf32>
      fact.yield %4 : tensor<4x130x131xf32>
    } space(#fact.sm80_gemm_space<tile = [64x64x32, 64x128x16], warps = [2x2, 1x4], stages = [3], split_k = [1], math = [simt]>) : tensor<4x130x131xf32>
    %r27 = fact.fused "gemm_epilogue" ins(%x27_0, %x27_1 : tensor<4x130x264xf32>, tensor<328x264xf32>) {
    ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.relu %1 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %2 : tensor<4x130x328xf32>
    } space(#fact.sm80_gemm_space<tile = [128x128x16, 128x64x32], warps = [2x4, 4x2], stages = [3, 4], split_k = [1], math = [simt]>) : tensor<4x130x328xf32>
    // Both factors along M and N, one of each.
    %r28 = fact.fused "gemm_epilogue" ins(%x28_0, %x28_1 : tensor<3x97x200xf32>, tensor<97x135xf32>) {
    ^bb0(%a0: tensor<3x97x200xf32>, %a1: tensor<97x135xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<3x97x200xf32>, tensor<97x135xf32>) -> tensor<3x200x135xf32>
      %2 = fact.relu %1 : (tensor<3x200x135xf32>) -> tensor<3x200x135xf32>
      fact.yield %2 : tensor<3x200x135xf32>
    } space(#fact.sm80_gemm_space<tile = [64x64x16, 128x128x16], warps = [2x2, 4x2], stages = [3], split_k = [1], math = [simt]>) : tensor<3x200x135xf32>
    %r29 = fact.fused "gemm_epilogue" ins(%x29_0, %x29_1 : tensor<3x200x97xf32>, tensor<97x135xf32>) {
    ^bb0(%a0: tensor<3x200x97xf32>, %a1: tensor<97x135xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<3x200x97xf32>, tensor<97x135xf32>) -> tensor<3x200x135xf32>
      %2 = fact.tanh %1 : (tensor<3x200x135xf32>) -> tensor<3x200x135xf32>
      fact.yield %2 : tensor<3x200x135xf32>
    } space(#fact.sm80_gemm_space<tile = [128x64x16, 32x64x32], warps = [4x2, 1x2], stages = [3], split_k = [1], math = [simt]>) : tensor<3x200x135xf32>
    // Every second element; a result that lies in columns.
    %r30 = fact.fused "gemm_epilogue" ins(%x30_0, %x30_1 : tensor<72x194xf32>, tensor<97x56xf32>) {
    ^bb0(%a0: tensor<72x194xf32>, %a1: tensor<97x56xf32>):
      %1 = fact.slice %a0 dim 1 start 1 step 2 : (tensor<72x194xf32>) -> tensor<72x97xf32>
      %2 = fact.matmul %1, %a1 : (tensor<72x97xf32>, tensor<97x56xf32>) -> tensor<72x56xf32>
      %3 = fact.permute %2 [1, 0] : (tensor<72x56xf32>) -> tensor<56x72xf32>
      fact.yield %3 : tensor<56x72xf32>
    } space(#fact.sm80_gemm_space<tile = [32x64x16, 64x32x32], warps = [1x2, 2x1], stages = [3], split_k = [1], math = [simt]>) : tensor<56x72xf32>
    // Permuted heads.
    %r31 = fact.fused "gemm_epilogue" ins(%x31_0, %x31_1 : tensor<2x4x70x60xf32>, tensor<2x60x4x30xf32>) {
    ^bb0(%a0: tensor<2x4x70x60xf32>, %a1: tensor<2x60x4x30xf32>):
      %1 = fact.permute %a1 [0, 2, 1, 3] : (tensor<2x60x4x30xf32>) -> tensor<2x4x60x30xf32>
      %2 = fact.matmul %a0, %1 : (tensor<2x4x70x60xf32>, tensor<2x4x60x30xf32>) -> tensor<2x4x70x30xf32>
      %3 = fact.permute %2 [0, 2, 1, 3] : (tensor<2x4x70x30xf32>) -> tensor<2x70x4x30xf32>
      fact.yield %3 : tensor<2x70x4x30xf32>
    } space(#fact.sm80_gemm_space<tile = [64x32x32, 128x32x16], warps = [2x1, 4x1], stages = [2], split_k = [1], math = [simt]>) : tensor<2x70x4x30xf32>
    // Blocks that divide K, for many rows and for few.
    %r32 = fact.fused "gemm_epilogue" ins(%x32_0, %x32_1 : tensor<72x2055xf32>, tensor<70x2055xf32>) {
    ^bb0(%a0: tensor<72x2055xf32>, %a1: tensor<70x2055xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<72x2055xf32>, tensor<70x2055xf32>) -> tensor<72x70xf32>
      %2 = fact.relu %1 : (tensor<72x70xf32>) -> tensor<72x70xf32>
      fact.yield %2 : tensor<72x70xf32>
    } space(#fact.sm80_gemm_space<tile = [64x64x32, 32x64x64], warps = [2x2, 1x2], stages = [3], split_k = [3, 8], math = [simt]>) : tensor<72x70xf32>
    %r33 = fact.fused "gemm_epilogue" ins(%x33_0, %x33_1, %x33_2 : tensor<13x4099xf32>, tensor<4099x133xf32>, tensor<133xf32>) {
    ^bb0(%a0: tensor<13x4099xf32>, %a1: tensor<4099x133xf32>, %a2: tensor<133xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<13x4099xf32>, tensor<4099x133xf32>) -> tensor<13x133xf32>
      %2 = fact.add %1, %a2 : (tensor<13x133xf32>, tensor<133xf32>) -> tensor<13x133xf32>
      fact.yield %2 : tensor<13x133xf32>
    } space(#fact.sm80_gemm_space<tile = [16x128x32, 16x64x64], warps = [1x4, 1x2], stages = [4], split_k = [1, 7], math = [simt]>) : tensor<13x133xf32>
    // Two products, combined, of factors in two layouts.
    %r34 = fact.fused "gated_gemm" ins(%x34_0, %x34_1, %x34_2, %x34_3 : tensor<130x97xf32>, tensor<97x97xf32>, tensor<97x97xf32>, tensor<97xf32>) {
    ^bb0(%a0: tensor<130x97xf32>, %a1: tensor<97x97xf32>, %a2: tensor<97x97xf32>, %a3: tensor<97xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<130x97xf32>, tensor<97x97xf32>) -> tensor<130x97xf32>
      %2 = fact.matmul %a0, %a2 transpose_b : (tensor<130x97xf32>, tensor<97x97xf32>) -> tensor<130x97xf32>
      %3 = fact.silu %1 : (tensor<130x97xf32>) -> tensor<130x97xf32>
      %4 = fact.mul %3, %2 : (tensor<130x97xf32>, tensor<130x97xf32>) -> tensor<130x97xf32>
      %5 = fact.add %4, %a3 : (tensor<130x97xf32>, tensor<97xf32>) -> tensor<130x97xf32>
      fact.yield %5 : tensor<130x97xf32>
    } space(#fact.sm80_gemm_space<tile = [64x64x16, 128x64x32], warps = [2x2, 4x2], stages = [3], split_k = [1, 2], math = [simt]>) : tensor<130x97xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11#0, %r11#1, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34 : tensor<4x130x131xbf16>, tensor<4x130x132xf16>, tensor<4x130x328xbf16>, tensor<4x130x131xf32>, tensor<4x130x131xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<3x200x135xbf16>, tensor<3x200x135xf32>, tensor<3x200x135xf32>, tensor<6x65x67xbf16>, tensor<70x50xf32>, tensor<70x50xi1>, tensor<56x72xf16>, tensor<72x56xbf16>, tensor<4x5x31x7xbf16>, tensor<2x4x70x70xf16>, tensor<2x70x4x30xf32>, tensor<1x33xbf16>, tensor<1x33xf32>, tensor<1x33xf32>, tensor<333x1xbf16>, tensor<33x45xf32>, tensor<72x72xbf16>, tensor<130x75xbf16>, tensor<130x75xf32>, tensor<130x75xf32>, tensor<4x130x131xf32>, tensor<4x130x328xf32>, tensor<3x200x135xf32>, tensor<3x200x135xf32>, tensor<56x72xf32>, tensor<2x70x4x30xf32>, tensor<72x70xf32>, tensor<13x133xf32>, tensor<130x97xf32>
  }
}
