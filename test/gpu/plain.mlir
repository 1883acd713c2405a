// The regions of "Plain kernels" in docs/benchmarks/breadth.md:
//
//   fact-compile test/gpu/plain.mlir --target=h200 --until=bundle --bundle=out/plain
//   fact-tune out/plain --no-link

module @plain attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<128x512x1024xf32>, %x1_0: tensor<128x512x1024xf32>, %x2_0: tensor<4096x16384xf32>, %x3_0: tensor<4096x16384xf32>, %x4_0: tensor<4096x8192xi64>, %x5_0: tensor<128x512x1024xf32>, %x6_0: tensor<64x67108xf32>, %x7_0: tensor<128x512x1024xf32>, %x8_0: tensor<8192x16384xbf16>, %x9_0: tensor<8192x16384xbf16>, %x10_0: tensor<512x1000xf32>, %x10_1: tensor<1000x700xf32>, %x11_0: tensor<1x8192xbf16>, %x11_1: tensor<8192x8192xbf16>, %x12_0: tensor<1x8192xbf16>, %x12_1: tensor<8192x8192xbf16>, %x13_0: tensor<8x4096xf32>, %x13_1: tensor<4096x4096xf32>, %x14_0: tensor<4096x1xf32>, %x14_1: tensor<1x8192xf32>, %x15_0: tensor<4096x4096xf32>, %x16_0: tensor<4096x4096xf32>, %x17_0: tensor<16777216xf32>, %x18_0: tensor<1024x1024xf32>, %x19_0: tensor<64x128256xf32>, %x20_0: tensor<1000000xi64>, %x20_1: tensor<1000000x64xf32>, %x21_0: tensor<100000x64xbf16>, %x21_1: tensor<1000000xi64>, %x21_2: tensor<1000000x64xbf16>, %x22_0: tensor<10000000xf32>, %x22_1: tensor<1000000xi64>, %x22_2: tensor<1000000xf32>, %x23_0: tensor<1000000xi64>, %x24_0: tensor<4096x4096xf32>, %x24_1: tensor<65536xi64>, %x24_2: tensor<65536x4096xf32>, %x25_0: tensor<32x4096x1024xbf16>, %x25_1: tensor<1xi64>, %x25_2: tensor<32x1x1024xbf16>, %x26_0: tensor<32x4096x1024xbf16>, %x26_1: tensor<512xi64>, %x26_2: tensor<32x512x1024xbf16>, %x27_0: tensor<10000000xf32>, %x27_1: tensor<1000000xi64>, %x27_2: tensor<1000000xf32>, %x28_0: tensor<128x512x1024xbf16>, %x29_0: tensor<128x512x1024xf32>, %x30_0: tensor<16x512x8192xbf16>, %x30_1: tensor<1x512x1xbf16>, %x31_0: tensor<64x96x3136xf32>, %x31_1: tensor<1x96x1xf32>, %x32_0: tensor<128x512x1024xf32>, %x33_0: tensor<128x512x1024xbf16>, %x34_0: tensor<8191x16383xbf16>, %x35_0: tensor<64x256x3136xbf16>, %x36_0: tensor<8192x16384xbf16>, %x37_0: tensor<16x262144xbf16>, %x38_0: tensor<4096x64x7xf32>) -> (tensor<128x1024xf32>, tensor<128x1024xf32>, tensor<f32>, tensor<16384xf32>, tensor<4096xi64>, tensor<128x1024xi64>, tensor<64x67108xf32>, tensor<128x512x1024xf32>, tensor<8192xbf16>, tensor<16384xbf16>, tensor<512x700xf32>, tensor<1x8192xbf16>, tensor<1x8192xbf16>, tensor<8x4096xf32>, tensor<4096x8192xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<16777216xf32>, tensor<1024x1024xi64>, tensor<64x50xi64>, tensor<100000x64xf32>, tensor<100000x64xbf16>, tensor<10000000xf32>, tensor<100xi64>, tensor<4096x4096xf32>, tensor<32x4096x1024xbf16>, tensor<32x4096x1024xbf16>, tensor<10000000xf32>, tensor<128x512x1024xbf16>, tensor<128x512x1024xf32>, tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>, tensor<64x96x3136xf32>, tensor<64x1x3136xf32>, tensor<128x1x1024xf32>, tensor<128x1024xi64>, tensor<16383xbf16>, tensor<256xbf16>, tensor<bf16>, tensor<16x262144xbf16>, tensor<4096x64x7xf32>) {
    %r0 = fact.fused "reduction" ins(%x0_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<128x512x1024xf32>) -> tensor<128x1024xf32>
      fact.yield %1 : tensor<128x1024xf32>
    } : tensor<128x1024xf32>
    %r1 = fact.fused "reduction" ins(%x1_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.reduce max %a0 dims [1] : (tensor<128x512x1024xf32>) -> tensor<128x1024xf32>
      fact.yield %1 : tensor<128x1024xf32>
    } : tensor<128x1024xf32>
    %r2 = fact.fused "reduction" ins(%x2_0 : tensor<4096x16384xf32>) {
    ^bb0(%a0: tensor<4096x16384xf32>):
      %1 = fact.reduce mean %a0 dims [0, 1] : (tensor<4096x16384xf32>) -> tensor<f32>
      fact.yield %1 : tensor<f32>
    } : tensor<f32>
    %r3 = fact.fused "reduction" ins(%x3_0 : tensor<4096x16384xf32>) {
    ^bb0(%a0: tensor<4096x16384xf32>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<4096x16384xf32>) -> tensor<16384xf32>
      fact.yield %1 : tensor<16384xf32>
    } : tensor<16384xf32>
    %r4 = fact.fused "reduction" ins(%x4_0 : tensor<4096x8192xi64>) {
    ^bb0(%a0: tensor<4096x8192xi64>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<4096x8192xi64>) -> tensor<4096xi64>
      fact.yield %1 : tensor<4096xi64>
    } : tensor<4096xi64>
    %r5 = fact.fused "reduction" ins(%x5_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<128x512x1024xf32>) -> tensor<128x1024xi64>
      fact.yield %1 : tensor<128x1024xi64>
    } : tensor<128x1024xi64>
    %r6 = fact.fused "reduction" ins(%x6_0 : tensor<64x67108xf32>) {
    ^bb0(%a0: tensor<64x67108xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<64x67108xf32>
      fact.yield %1 : tensor<64x67108xf32>
    } : tensor<64x67108xf32>
    %r7 = fact.fused "reduction" ins(%x7_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<128x512x1024xf32>
      fact.yield %1 : tensor<128x512x1024xf32>
    } : tensor<128x512x1024xf32>
    %r8 = fact.fused "reduction" ins(%x8_0 : tensor<8192x16384xbf16>) {
    ^bb0(%a0: tensor<8192x16384xbf16>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<8192x16384xbf16>) -> tensor<8192xbf16>
      fact.yield %1 : tensor<8192xbf16>
    } : tensor<8192xbf16>
    %r9 = fact.fused "reduction" ins(%x9_0 : tensor<8192x16384xbf16>) {
    ^bb0(%a0: tensor<8192x16384xbf16>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<8192x16384xbf16>) -> tensor<16384xbf16>
      fact.yield %1 : tensor<16384xbf16>
    } : tensor<16384xbf16>
    %r10 = fact.fused "generic" ins(%x10_0, %x10_1 : tensor<512x1000xf32>, tensor<1000x700xf32>) {
    ^bb0(%a0: tensor<512x1000xf32>, %a1: tensor<1000x700xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<512x1000xf32>, tensor<1000x700xf32>) -> tensor<512x700xf32>
      fact.yield %1 : tensor<512x700xf32>
    } : tensor<512x700xf32>
    // A matrix times a vector, both ways, and a batch of eight; an outer product.
    %r11 = fact.fused "thin_gemm" ins(%x11_0, %x11_1 : tensor<1x8192xbf16>, tensor<8192x8192xbf16>) {
    ^bb0(%a0: tensor<1x8192xbf16>, %a1: tensor<8192x8192xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<1x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<1x8192xbf16>
      fact.yield %1 : tensor<1x8192xbf16>
    } : tensor<1x8192xbf16>
    %r12 = fact.fused "thin_gemm" ins(%x12_0, %x12_1 : tensor<1x8192xbf16>, tensor<8192x8192xbf16>) {
    ^bb0(%a0: tensor<1x8192xbf16>, %a1: tensor<8192x8192xbf16>):
      %1 = fact.matmul %a0, %a1 : (tensor<1x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<1x8192xbf16>
      fact.yield %1 : tensor<1x8192xbf16>
    } : tensor<1x8192xbf16>
    %r13 = fact.fused "thin_gemm" ins(%x13_0, %x13_1 : tensor<8x4096xf32>, tensor<4096x4096xf32>) {
    ^bb0(%a0: tensor<8x4096xf32>, %a1: tensor<4096x4096xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<8x4096xf32>, tensor<4096x4096xf32>) -> tensor<8x4096xf32>
      fact.yield %1 : tensor<8x4096xf32>
    } : tensor<8x4096xf32>
    %r14 = fact.fused "thin_gemm" ins(%x14_0, %x14_1 : tensor<4096x1xf32>, tensor<1x8192xf32>) {
    ^bb0(%a0: tensor<4096x1xf32>, %a1: tensor<1x8192xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<4096x1xf32>, tensor<1x8192xf32>) -> tensor<4096x8192xf32>
      fact.yield %1 : tensor<4096x8192xf32>
    } : tensor<4096x8192xf32>
    // Scans and sorts.
    %r15 = fact.fused "scan" ins(%x15_0 : tensor<4096x4096xf32>) {
    ^bb0(%a0: tensor<4096x4096xf32>):
      %1 = fact.scan sum %a0 dim 1 : tensor<4096x4096xf32>
      fact.yield %1 : tensor<4096x4096xf32>
    } : tensor<4096x4096xf32>
    %r16 = fact.fused "scan" ins(%x16_0 : tensor<4096x4096xf32>) {
    ^bb0(%a0: tensor<4096x4096xf32>):
      %1 = fact.scan sum %a0 dim 0 : tensor<4096x4096xf32>
      fact.yield %1 : tensor<4096x4096xf32>
    } : tensor<4096x4096xf32>
    %r17 = fact.fused "scan" ins(%x17_0 : tensor<16777216xf32>) {
    ^bb0(%a0: tensor<16777216xf32>):
      %1 = fact.scan sum %a0 dim 0 : tensor<16777216xf32>
      fact.yield %1 : tensor<16777216xf32>
    } : tensor<16777216xf32>
    %r18 = fact.fused "sort" ins(%x18_0 : tensor<1024x1024xf32>) {
    ^bb0(%a0: tensor<1024x1024xf32>):
      %1 = fact.argsort %a0 dim 1 : (tensor<1024x1024xf32>) -> tensor<1024x1024xi64>
      fact.yield %1 : tensor<1024x1024xi64>
    } : tensor<1024x1024xi64>
    %r19 = fact.fused "sort" ins(%x19_0 : tensor<64x128256xf32>) {
    ^bb0(%a0: tensor<64x128256xf32>):
      %1 = fact.argsort %a0 dim 1 descending count 50 : (tensor<64x128256xf32>) -> tensor<64x50xi64>
      fact.yield %1 : tensor<64x50xi64>
    } : tensor<64x50xi64>
    // Scatters: index_add of rows and of elements, a cache, elements that are replaced.
    %r20 = fact.fused "scatter" ins(%x20_0, %x20_1 : tensor<1000000xi64>, tensor<1000000x64xf32>) {
    ^bb0(%a0: tensor<1000000xi64>, %a1: tensor<1000000x64xf32>):
      %s = fact.constant dense<0.0> : tensor<100000x64xf32>
      %1 = fact.scatter sum %s, %a0, %a1 dim 0 : (tensor<100000x64xf32>, tensor<1000000xi64>, tensor<1000000x64xf32>) -> tensor<100000x64xf32>
      fact.yield %1 : tensor<100000x64xf32>
    } : tensor<100000x64xf32>
    %r21 = fact.fused "scatter" ins(%x21_0, %x21_1, %x21_2 : tensor<100000x64xbf16>, tensor<1000000xi64>, tensor<1000000x64xbf16>) {
    ^bb0(%a0: tensor<100000x64xbf16>, %a1: tensor<1000000xi64>, %a2: tensor<1000000x64xbf16>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<100000x64xbf16>, tensor<1000000xi64>, tensor<1000000x64xbf16>) -> tensor<100000x64xbf16>
      fact.yield %1 : tensor<100000x64xbf16>
    } : tensor<100000x64xbf16>
    %r22 = fact.fused "scatter" ins(%x22_0, %x22_1, %x22_2 : tensor<10000000xf32>, tensor<1000000xi64>, tensor<1000000xf32>) {
    ^bb0(%a0: tensor<10000000xf32>, %a1: tensor<1000000xi64>, %a2: tensor<1000000xf32>):
      %1 = fact.scatter sum %a0, %a1, %a2 dim 0 : (tensor<10000000xf32>, tensor<1000000xi64>, tensor<1000000xf32>) -> tensor<10000000xf32>
      fact.yield %1 : tensor<10000000xf32>
    } : tensor<10000000xf32>
    %r23 = fact.fused "scatter" ins(%x23_0 : tensor<1000000xi64>) {
    ^bb0(%a0: tensor<1000000xi64>):
      %s = fact.constant dense<0> : tensor<100xi64>
      %u = fact.constant dense<1> : tensor<1000000xi64>
      %1 = fact.scatter sum %s, %a0, %u dim 0 : (tensor<100xi64>, tensor<1000000xi64>, tensor<1000000xi64>) -> tensor<100xi64>
      fact.yield %1 : tensor<100xi64>
    } : tensor<100xi64>
    %r24 = fact.fused "scatter" ins(%x24_0, %x24_1, %x24_2 : tensor<4096x4096xf32>, tensor<65536xi64>, tensor<65536x4096xf32>) {
    ^bb0(%a0: tensor<4096x4096xf32>, %a1: tensor<65536xi64>, %a2: tensor<65536x4096xf32>):
      %1 = fact.scatter max %a0, %a1, %a2 dim 0 : (tensor<4096x4096xf32>, tensor<65536xi64>, tensor<65536x4096xf32>) -> tensor<4096x4096xf32>
      fact.yield %1 : tensor<4096x4096xf32>
    } : tensor<4096x4096xf32>
    %r25 = fact.fused "scatter" ins(%x25_0, %x25_1, %x25_2 : tensor<32x4096x1024xbf16>, tensor<1xi64>, tensor<32x1x1024xbf16>) {
    ^bb0(%a0: tensor<32x4096x1024xbf16>, %a1: tensor<1xi64>, %a2: tensor<32x1x1024xbf16>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<32x4096x1024xbf16>, tensor<1xi64>, tensor<32x1x1024xbf16>) -> tensor<32x4096x1024xbf16>
      fact.yield %1 : tensor<32x4096x1024xbf16>
    } : tensor<32x4096x1024xbf16>
    %r26 = fact.fused "scatter" ins(%x26_0, %x26_1, %x26_2 : tensor<32x4096x1024xbf16>, tensor<512xi64>, tensor<32x512x1024xbf16>) {
    ^bb0(%a0: tensor<32x4096x1024xbf16>, %a1: tensor<512xi64>, %a2: tensor<32x512x1024xbf16>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 1 : (tensor<32x4096x1024xbf16>, tensor<512xi64>, tensor<32x512x1024xbf16>) -> tensor<32x4096x1024xbf16>
      fact.yield %1 : tensor<32x4096x1024xbf16>
    } : tensor<32x4096x1024xbf16>
    %r27 = fact.fused "scatter" ins(%x27_0, %x27_1, %x27_2 : tensor<10000000xf32>, tensor<1000000xi64>, tensor<1000000xf32>) {
    ^bb0(%a0: tensor<10000000xf32>, %a1: tensor<1000000xi64>, %a2: tensor<1000000xf32>):
      %1 = fact.scatter set %a0, %a1, %a2 dim 0 : (tensor<10000000xf32>, tensor<1000000xi64>, tensor<1000000xf32>) -> tensor<10000000xf32>
      fact.yield %1 : tensor<10000000xf32>
    } : tensor<10000000xf32>
    // Reductions over the middle and the first, in one pass where it fits on the chip.
    %r28 = fact.fused "reduction" ins(%x28_0 : tensor<128x512x1024xbf16>) {
    ^bb0(%a0: tensor<128x512x1024xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<128x512x1024xbf16>
      fact.yield %1 : tensor<128x512x1024xbf16>
    } : tensor<128x512x1024xbf16>
    %r29 = fact.fused "reduction" ins(%x29_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<128x512x1024xf32>) -> tensor<128x1x1024xf32>
      %2 = fact.sub %a0, %1 : (tensor<128x512x1024xf32>, tensor<128x1x1024xf32>) -> tensor<128x512x1024xf32>
      %3 = fact.exp %2 : (tensor<128x512x1024xf32>) -> tensor<128x512x1024xf32>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<128x512x1024xf32>) -> tensor<128x1x1024xf32>
      %5 = fact.log %4 : (tensor<128x1x1024xf32>) -> tensor<128x1x1024xf32>
      %6 = fact.sub %2, %5 : (tensor<128x512x1024xf32>, tensor<128x1x1024xf32>) -> tensor<128x512x1024xf32>
      fact.yield %6 : tensor<128x512x1024xf32>
    } : tensor<128x512x1024xf32>
    %r30:2 = fact.fused "reduction" ins(%x30_0, %x30_1 : tensor<16x512x8192xbf16>, tensor<1x512x1xbf16>) {
    ^bb0(%a0: tensor<16x512x8192xbf16>, %a1: tensor<1x512x1xbf16>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<16x512x8192xbf16>) -> tensor<16x1x8192xbf16>
      %2 = fact.sub %a0, %1 : (tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>) -> tensor<16x512x8192xbf16>
      %3 = fact.mul %2, %2 : (tensor<16x512x8192xbf16>, tensor<16x512x8192xbf16>) -> tensor<16x512x8192xbf16>
      %4 = fact.reduce mean %3 dims [1] keep : (tensor<16x512x8192xbf16>) -> tensor<16x1x8192xbf16>
      %c = fact.constant dense<1.0e-5> : tensor<bf16>
      %5 = fact.add %4, %c : (tensor<16x1x8192xbf16>, tensor<bf16>) -> tensor<16x1x8192xbf16>
      %6 = fact.rsqrt %5 : (tensor<16x1x8192xbf16>) -> tensor<16x1x8192xbf16>
      %7 = fact.mul %2, %6 : (tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>) -> tensor<16x512x8192xbf16>
      %8 = fact.mul %7, %a1 : (tensor<16x512x8192xbf16>, tensor<1x512x1xbf16>) -> tensor<16x512x8192xbf16>
      fact.yield %8, %1 : tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>
    } : tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>
    %r31:2 = fact.fused "reduction" ins(%x31_0, %x31_1 : tensor<64x96x3136xf32>, tensor<1x96x1xf32>) {
    ^bb0(%a0: tensor<64x96x3136xf32>, %a1: tensor<1x96x1xf32>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<64x96x3136xf32>) -> tensor<64x1x3136xf32>
      %2 = fact.sub %a0, %1 : (tensor<64x96x3136xf32>, tensor<64x1x3136xf32>) -> tensor<64x96x3136xf32>
      %3 = fact.mul %2, %2 : (tensor<64x96x3136xf32>, tensor<64x96x3136xf32>) -> tensor<64x96x3136xf32>
      %4 = fact.reduce mean %3 dims [1] keep : (tensor<64x96x3136xf32>) -> tensor<64x1x3136xf32>
      %c = fact.constant dense<1.0e-5> : tensor<f32>
      %5 = fact.add %4, %c : (tensor<64x1x3136xf32>, tensor<f32>) -> tensor<64x1x3136xf32>
      %6 = fact.rsqrt %5 : (tensor<64x1x3136xf32>) -> tensor<64x1x3136xf32>
      %7 = fact.mul %2, %6 : (tensor<64x96x3136xf32>, tensor<64x1x3136xf32>) -> tensor<64x96x3136xf32>
      %8 = fact.mul %7, %a1 : (tensor<64x96x3136xf32>, tensor<1x96x1xf32>) -> tensor<64x96x3136xf32>
      fact.yield %8, %1 : tensor<64x96x3136xf32>, tensor<64x1x3136xf32>
    } : tensor<64x96x3136xf32>, tensor<64x1x3136xf32>
    %r32 = fact.fused "reduction" ins(%x32_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<128x512x1024xf32>) -> tensor<128x1x1024xf32>
      %2 = fact.sub %a0, %1 : (tensor<128x512x1024xf32>, tensor<128x1x1024xf32>) -> tensor<128x512x1024xf32>
      %3 = fact.exp %2 : (tensor<128x512x1024xf32>) -> tensor<128x512x1024xf32>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<128x512x1024xf32>) -> tensor<128x1x1024xf32>
      %5 = fact.log %4 : (tensor<128x1x1024xf32>) -> tensor<128x1x1024xf32>
      %6 = fact.add %5, %1 : (tensor<128x1x1024xf32>, tensor<128x1x1024xf32>) -> tensor<128x1x1024xf32>
      fact.yield %6 : tensor<128x1x1024xf32>
    } : tensor<128x1x1024xf32>
    %r33 = fact.fused "reduction" ins(%x33_0 : tensor<128x512x1024xbf16>) {
    ^bb0(%a0: tensor<128x512x1024xbf16>):
      %1 = fact.reduce argmin %a0 dims [1] : (tensor<128x512x1024xbf16>) -> tensor<128x1024xi64>
      fact.yield %1 : tensor<128x1024xi64>
    } : tensor<128x1024xi64>
    %r34 = fact.fused "reduction" ins(%x34_0 : tensor<8191x16383xbf16>) {
    ^bb0(%a0: tensor<8191x16383xbf16>):
      %1 = fact.reduce sum %a0 dims [0] : (tensor<8191x16383xbf16>) -> tensor<16383xbf16>
      fact.yield %1 : tensor<16383xbf16>
    } : tensor<16383xbf16>
    %r35 = fact.fused "reduction" ins(%x35_0 : tensor<64x256x3136xbf16>) {
    ^bb0(%a0: tensor<64x256x3136xbf16>):
      %1 = fact.reduce sum %a0 dims [0, 2] : (tensor<64x256x3136xbf16>) -> tensor<256xbf16>
      fact.yield %1 : tensor<256xbf16>
    } : tensor<256xbf16>
    %r36 = fact.fused "reduction" ins(%x36_0 : tensor<8192x16384xbf16>) {
    ^bb0(%a0: tensor<8192x16384xbf16>):
      %1 = fact.reduce mean %a0 dims [0, 1] : (tensor<8192x16384xbf16>) -> tensor<bf16>
      fact.yield %1 : tensor<bf16>
    } : tensor<bf16>
    %r37 = fact.fused "reduction" ins(%x37_0 : tensor<16x262144xbf16>) {
    ^bb0(%a0: tensor<16x262144xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<16x262144xbf16>
      fact.yield %1 : tensor<16x262144xbf16>
    } : tensor<16x262144xbf16>
    %r38 = fact.fused "reduction" ins(%x38_0 : tensor<4096x64x7xf32>) {
    ^bb0(%a0: tensor<4096x64x7xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<4096x64x7xf32>
      fact.yield %1 : tensor<4096x64x7xf32>
    } : tensor<4096x64x7xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30#0, %r30#1, %r31#0, %r31#1, %r32, %r33, %r34, %r35, %r36, %r37, %r38 : tensor<128x1024xf32>, tensor<128x1024xf32>, tensor<f32>, tensor<16384xf32>, tensor<4096xi64>, tensor<128x1024xi64>, tensor<64x67108xf32>, tensor<128x512x1024xf32>, tensor<8192xbf16>, tensor<16384xbf16>, tensor<512x700xf32>, tensor<1x8192xbf16>, tensor<1x8192xbf16>, tensor<8x4096xf32>, tensor<4096x8192xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<16777216xf32>, tensor<1024x1024xi64>, tensor<64x50xi64>, tensor<100000x64xf32>, tensor<100000x64xbf16>, tensor<10000000xf32>, tensor<100xi64>, tensor<4096x4096xf32>, tensor<32x4096x1024xbf16>, tensor<32x4096x1024xbf16>, tensor<10000000xf32>, tensor<128x512x1024xbf16>, tensor<128x512x1024xf32>, tensor<16x512x8192xbf16>, tensor<16x1x8192xbf16>, tensor<64x96x3136xf32>, tensor<64x1x3136xf32>, tensor<128x1x1024xf32>, tensor<128x1024xi64>, tensor<16383xbf16>, tensor<256xbf16>, tensor<bf16>, tensor<16x262144xbf16>, tensor<4096x64x7xf32>
  }
}
