// Regions that should run at the speed of memory: transposes, short rows, group and channel norms.
//
//   fact-compile test/gpu/bandwidth.mlir --target=h200 --until=bundle --bundle=out/bandwidth
//   fact-tune out/bandwidth --no-link --candidates 4

module @bandwidth attributes {fact.target = #fact.machine<"h200">} {
  func.func @main(%x0_0: tensor<64x256x56x56xbf16>, %x1_0: tensor<64x56x56x256xbf16>, %x2_0: tensor<64x256x56x56xf32>, %x3_0: tensor<256x3x224x224xbf16>, %x4_0: tensor<256x512x7x7xbf16>, %x5_0: tensor<8191x16383xbf16>, %x6_0: tensor<8191x8191xf32>, %x7_0: tensor<128x512x1024xbf16>, %x8_0: tensor<8192x8192xi64>, %x9_0: tensor<16384x16384xi8>, %x10_0: tensor<512x64x2048xf32>, %x11_0: tensor<16x32x2x2x256x256xbf16>, %x12_0: tensor<32x2048x1024xbf16>, %x12_1: tensor<32x1024x2048xbf16>, %x12_2: tensor<2048xbf16>, %x13_0: tensor<8388608x8xbf16>, %x14_0: tensor<2097152x32xbf16>, %x15_0: tensor<1048576x64xbf16>, %x16_0: tensor<524288x128xbf16>, %x17_0: tensor<6710886x10xf32>, %x18_0: tensor<1048576x64xf32>, %x19_0: tensor<871543x77xf32>, %x20_0: tensor<4096x512x49xbf16>, %x21_0: tensor<1048576x64xbf16>, %x21_1: tensor<64xbf16>, %x22_0: tensor<8192x8192xbf16>, %x22_1: tensor<8192xbf16>, %x22_2: tensor<8192xbf16>, %x23_0: tensor<8192x8192xbf16>, %x23_1: tensor<8192xbf16>, %x23_2: tensor<8192xbf16>, %x24_0: tensor<32x512x64x64xbf16>, %x24_1: tensor<512xbf16>, %x24_2: tensor<512xbf16>, %x25_0: tensor<64x256x56x56xf32>, %x25_1: tensor<256xf32>, %x25_2: tensor<256xf32>, %x26_0: tensor<64x96x56x56xbf16>, %x26_1: tensor<96xbf16>, %x27_0: tensor<64x384x28x28xf32>, %x27_1: tensor<384xf32>, %x28_0: tensor<64x64x256x256xbf16>, %x28_1: tensor<64xbf16>, %x29_0: tensor<256x96x7x7xbf16>, %x29_1: tensor<96xbf16>, %x30_0: tensor<128x2048x1023xbf16>, %x31_0: tensor<256x131072xbf16>, %x32_0: tensor<8192x4096xbf16>, %x33_0: tensor<8192x16384xf32>, %x34_0: tensor<16x21x512x512xbf16>, %x35_0: tensor<8x4096x32x128xbf16>, %x35_1: tensor<128xbf16>, %x36_0: tensor<16x21x512x512xf32>, %x37_0: tensor<16x21x512x512xbf16>, %x38_0: tensor<32x128x54x54xf32>, %x39_0: tensor<128x512x1024xf32>, %x40_0: tensor<16x21x512x512xf32>) -> (tensor<64x56x56x256xbf16>, tensor<64x256x56x56xbf16>, tensor<64x56x56x256xf32>, tensor<256x224x224x3xbf16>, tensor<256x7x7x512xbf16>, tensor<16383x8191xbf16>, tensor<8191x8191xf32>, tensor<128x1024x512xbf16>, tensor<8192x8192xi64>, tensor<16384x16384xi8>, tensor<2048x64x512xf32>, tensor<16x32x256x2x256x2xbf16>, tensor<32x1024x2048xbf16>, tensor<8388608x8xbf16>, tensor<2097152x32xbf16>, tensor<1048576x64xbf16>, tensor<524288x128xbf16>, tensor<6710886x10xf32>, tensor<1048576x64xf32>, tensor<871543x77xf32>, tensor<4096x512xbf16>, tensor<1048576x64xbf16>, tensor<8192x8192xbf16>, tensor<8192x8192xbf16>, tensor<32x512x64x64xbf16>, tensor<64x256x56x56xf32>, tensor<64x96x56x56xbf16>, tensor<64x384x28x28xf32>, tensor<64x64x256x256xbf16>, tensor<256x96x7x7xbf16>, tensor<128x1023xbf16>, tensor<256x131072xbf16>, tensor<8192x4096xbf16>, tensor<8192xf32>, tensor<16x21x512x512xbf16>, tensor<8x32x4096x128xbf16>, tensor<16x21x512x512xf32>, tensor<16x21x512x512xbf16>, tensor<32x128x54x54xf32>, tensor<128x512x1024xf32>, tensor<16x512x512xi64>) {
    // Transposing copies: NCHW to NHWC and back, few and odd channels, odd matrices, a reversed order, a pixel shuffle.
    %r0 = fact.fused "pointwise" ins(%x0_0 : tensor<64x256x56x56xbf16>) {
    ^bb0(%a0: tensor<64x256x56x56xbf16>):
      %1 = fact.permute %a0 [0, 2, 3, 1] : (tensor<64x256x56x56xbf16>) -> tensor<64x56x56x256xbf16>
      fact.yield %1 : tensor<64x56x56x256xbf16>
    } : tensor<64x56x56x256xbf16>
    %r1 = fact.fused "pointwise" ins(%x1_0 : tensor<64x56x56x256xbf16>) {
    ^bb0(%a0: tensor<64x56x56x256xbf16>):
      %1 = fact.permute %a0 [0, 3, 1, 2] : (tensor<64x56x56x256xbf16>) -> tensor<64x256x56x56xbf16>
      fact.yield %1 : tensor<64x256x56x56xbf16>
    } : tensor<64x256x56x56xbf16>
    %r2 = fact.fused "pointwise" ins(%x2_0 : tensor<64x256x56x56xf32>) {
    ^bb0(%a0: tensor<64x256x56x56xf32>):
      %1 = fact.permute %a0 [0, 2, 3, 1] : (tensor<64x256x56x56xf32>) -> tensor<64x56x56x256xf32>
      fact.yield %1 : tensor<64x56x56x256xf32>
    } : tensor<64x56x56x256xf32>
    %r3 = fact.fused "pointwise" ins(%x3_0 : tensor<256x3x224x224xbf16>) {
    ^bb0(%a0: tensor<256x3x224x224xbf16>):
      %1 = fact.permute %a0 [0, 2, 3, 1] : (tensor<256x3x224x224xbf16>) -> tensor<256x224x224x3xbf16>
      fact.yield %1 : tensor<256x224x224x3xbf16>
    } : tensor<256x224x224x3xbf16>
    %r4 = fact.fused "pointwise" ins(%x4_0 : tensor<256x512x7x7xbf16>) {
    ^bb0(%a0: tensor<256x512x7x7xbf16>):
      %1 = fact.permute %a0 [0, 2, 3, 1] : (tensor<256x512x7x7xbf16>) -> tensor<256x7x7x512xbf16>
      fact.yield %1 : tensor<256x7x7x512xbf16>
    } : tensor<256x7x7x512xbf16>
    %r5 = fact.fused "pointwise" ins(%x5_0 : tensor<8191x16383xbf16>) {
    ^bb0(%a0: tensor<8191x16383xbf16>):
      %1 = fact.permute %a0 [1, 0] : (tensor<8191x16383xbf16>) -> tensor<16383x8191xbf16>
      fact.yield %1 : tensor<16383x8191xbf16>
    } : tensor<16383x8191xbf16>
    %r6 = fact.fused "pointwise" ins(%x6_0 : tensor<8191x8191xf32>) {
    ^bb0(%a0: tensor<8191x8191xf32>):
      %1 = fact.permute %a0 [1, 0] : (tensor<8191x8191xf32>) -> tensor<8191x8191xf32>
      fact.yield %1 : tensor<8191x8191xf32>
    } : tensor<8191x8191xf32>
    %r7 = fact.fused "pointwise" ins(%x7_0 : tensor<128x512x1024xbf16>) {
    ^bb0(%a0: tensor<128x512x1024xbf16>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<128x512x1024xbf16>) -> tensor<128x1024x512xbf16>
      fact.yield %1 : tensor<128x1024x512xbf16>
    } : tensor<128x1024x512xbf16>
    %r8 = fact.fused "pointwise" ins(%x8_0 : tensor<8192x8192xi64>) {
    ^bb0(%a0: tensor<8192x8192xi64>):
      %1 = fact.permute %a0 [1, 0] : (tensor<8192x8192xi64>) -> tensor<8192x8192xi64>
      fact.yield %1 : tensor<8192x8192xi64>
    } : tensor<8192x8192xi64>
    %r9 = fact.fused "pointwise" ins(%x9_0 : tensor<16384x16384xi8>) {
    ^bb0(%a0: tensor<16384x16384xi8>):
      %1 = fact.permute %a0 [1, 0] : (tensor<16384x16384xi8>) -> tensor<16384x16384xi8>
      fact.yield %1 : tensor<16384x16384xi8>
    } : tensor<16384x16384xi8>
    %r10 = fact.fused "pointwise" ins(%x10_0 : tensor<512x64x2048xf32>) {
    ^bb0(%a0: tensor<512x64x2048xf32>):
      %1 = fact.permute %a0 [2, 1, 0] : (tensor<512x64x2048xf32>) -> tensor<2048x64x512xf32>
      fact.yield %1 : tensor<2048x64x512xf32>
    } : tensor<2048x64x512xf32>
    %r11 = fact.fused "pointwise" ins(%x11_0 : tensor<16x32x2x2x256x256xbf16>) {
    ^bb0(%a0: tensor<16x32x2x2x256x256xbf16>):
      %1 = fact.permute %a0 [0, 1, 4, 2, 5, 3] : (tensor<16x32x2x2x256x256xbf16>) -> tensor<16x32x256x2x256x2xbf16>
      fact.yield %1 : tensor<16x32x256x2x256x2xbf16>
    } : tensor<16x32x256x2x256x2xbf16>
    // A transposed operand beside one in place, and an activation.
    %r12 = fact.fused "pointwise" ins(%x12_0, %x12_1, %x12_2 : tensor<32x2048x1024xbf16>, tensor<32x1024x2048xbf16>, tensor<2048xbf16>) {
    ^bb0(%a0: tensor<32x2048x1024xbf16>, %a1: tensor<32x1024x2048xbf16>, %a2: tensor<2048xbf16>):
      %1 = fact.permute %a0 [0, 2, 1] : (tensor<32x2048x1024xbf16>) -> tensor<32x1024x2048xbf16>
      %2 = fact.add %1, %a1 : (tensor<32x1024x2048xbf16>, tensor<32x1024x2048xbf16>) -> tensor<32x1024x2048xbf16>
      %3 = fact.add %2, %a2 : (tensor<32x1024x2048xbf16>, tensor<2048xbf16>) -> tensor<32x1024x2048xbf16>
      %4 = fact.silu %3 : (tensor<32x1024x2048xbf16>) -> tensor<32x1024x2048xbf16>
      fact.yield %4 : tensor<32x1024x2048xbf16>
    } : tensor<32x1024x2048xbf16>
    // Short rows.
    %r13 = fact.fused "rowwise" ins(%x13_0 : tensor<8388608x8xbf16>) {
    ^bb0(%a0: tensor<8388608x8xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<8388608x8xbf16>
      fact.yield %1 : tensor<8388608x8xbf16>
    } : tensor<8388608x8xbf16>
    %r14 = fact.fused "rowwise" ins(%x14_0 : tensor<2097152x32xbf16>) {
    ^bb0(%a0: tensor<2097152x32xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<2097152x32xbf16>
      fact.yield %1 : tensor<2097152x32xbf16>
    } : tensor<2097152x32xbf16>
    %r15 = fact.fused "rowwise" ins(%x15_0 : tensor<1048576x64xbf16>) {
    ^bb0(%a0: tensor<1048576x64xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<1048576x64xbf16>
      fact.yield %1 : tensor<1048576x64xbf16>
    } : tensor<1048576x64xbf16>
    %r16 = fact.fused "rowwise" ins(%x16_0 : tensor<524288x128xbf16>) {
    ^bb0(%a0: tensor<524288x128xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<524288x128xbf16>
      fact.yield %1 : tensor<524288x128xbf16>
    } : tensor<524288x128xbf16>
    %r17 = fact.fused "rowwise" ins(%x17_0 : tensor<6710886x10xf32>) {
    ^bb0(%a0: tensor<6710886x10xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<6710886x10xf32>
      fact.yield %1 : tensor<6710886x10xf32>
    } : tensor<6710886x10xf32>
    %r18 = fact.fused "rowwise" ins(%x18_0 : tensor<1048576x64xf32>) {
    ^bb0(%a0: tensor<1048576x64xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<1048576x64xf32>
      fact.yield %1 : tensor<1048576x64xf32>
    } : tensor<1048576x64xf32>
    %r19 = fact.fused "rowwise" ins(%x19_0 : tensor<871543x77xf32>) {
    ^bb0(%a0: tensor<871543x77xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<871543x77xf32>
      fact.yield %1 : tensor<871543x77xf32>
    } : tensor<871543x77xf32>
    %r20 = fact.fused "rowwise" ins(%x20_0 : tensor<4096x512x49xbf16>) {
    ^bb0(%a0: tensor<4096x512x49xbf16>):
      %1 = fact.reduce mean %a0 dims [2] : (tensor<4096x512x49xbf16>) -> tensor<4096x512xbf16>
      fact.yield %1 : tensor<4096x512xbf16>
    } : tensor<4096x512xbf16>
    %r21 = fact.fused "rowwise" ins(%x21_0, %x21_1 : tensor<1048576x64xbf16>, tensor<64xbf16>) {
    ^bb0(%a0: tensor<1048576x64xbf16>, %a1: tensor<64xbf16>):
      %1 = fact.norm rms %a0 weight %a1 eps 1.0e-6 : (tensor<1048576x64xbf16>, tensor<64xbf16>) -> tensor<1048576x64xbf16>
      fact.yield %1 : tensor<1048576x64xbf16>
    } : tensor<1048576x64xbf16>
    // Group norms with weights by channel: of matrices, and of images with an activation.
    %r22 = fact.fused "rowwise" ins(%x22_0, %x22_1, %x22_2 : tensor<8192x8192xbf16>, tensor<8192xbf16>, tensor<8192xbf16>) {
    ^bb0(%a0: tensor<8192x8192xbf16>, %a1: tensor<8192xbf16>, %a2: tensor<8192xbf16>):
      %0 = fact.reshape %a0 : (tensor<8192x8192xbf16>) -> tensor<8192x512x16xbf16>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<8192x512x16xbf16>) -> tensor<8192x512x16xbf16>
      %2 = fact.reshape %1 : (tensor<8192x512x16xbf16>) -> tensor<8192x8192xbf16>
      %3 = fact.mul %2, %a1 : (tensor<8192x8192xbf16>, tensor<8192xbf16>) -> tensor<8192x8192xbf16>
      %4 = fact.add %3, %a2 : (tensor<8192x8192xbf16>, tensor<8192xbf16>) -> tensor<8192x8192xbf16>
      %5 = fact.silu %4 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
      fact.yield %5 : tensor<8192x8192xbf16>
    } : tensor<8192x8192xbf16>
    %r23 = fact.fused "rowwise" ins(%x23_0, %x23_1, %x23_2 : tensor<8192x8192xbf16>, tensor<8192xbf16>, tensor<8192xbf16>) {
    ^bb0(%a0: tensor<8192x8192xbf16>, %a1: tensor<8192xbf16>, %a2: tensor<8192xbf16>):
      %0 = fact.reshape %a0 : (tensor<8192x8192xbf16>) -> tensor<8192x16x512xbf16>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<8192x16x512xbf16>) -> tensor<8192x16x512xbf16>
      %2 = fact.reshape %1 : (tensor<8192x16x512xbf16>) -> tensor<8192x8192xbf16>
      %3 = fact.mul %2, %a1 : (tensor<8192x8192xbf16>, tensor<8192xbf16>) -> tensor<8192x8192xbf16>
      %4 = fact.add %3, %a2 : (tensor<8192x8192xbf16>, tensor<8192xbf16>) -> tensor<8192x8192xbf16>
      %5 = fact.silu %4 : (tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
      fact.yield %5 : tensor<8192x8192xbf16>
    } : tensor<8192x8192xbf16>
    %r24 = fact.fused "rowwise" ins(%x24_0, %x24_1, %x24_2 : tensor<32x512x64x64xbf16>, tensor<512xbf16>, tensor<512xbf16>) {
    ^bb0(%a0: tensor<32x512x64x64xbf16>, %a1: tensor<512xbf16>, %a2: tensor<512xbf16>):
      %0 = fact.reshape %a0 : (tensor<32x512x64x64xbf16>) -> tensor<32x32x65536xbf16>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<32x32x65536xbf16>) -> tensor<32x32x65536xbf16>
      %2 = fact.reshape %1 : (tensor<32x32x65536xbf16>) -> tensor<32x512x64x64xbf16>
      %w = fact.reshape %a1 : (tensor<512xbf16>) -> tensor<512x1x1xbf16>
      %b = fact.reshape %a2 : (tensor<512xbf16>) -> tensor<512x1x1xbf16>
      %3 = fact.mul %2, %w : (tensor<32x512x64x64xbf16>, tensor<512x1x1xbf16>) -> tensor<32x512x64x64xbf16>
      %4 = fact.add %3, %b : (tensor<32x512x64x64xbf16>, tensor<512x1x1xbf16>) -> tensor<32x512x64x64xbf16>
      %5 = fact.silu %4 : (tensor<32x512x64x64xbf16>) -> tensor<32x512x64x64xbf16>
      fact.yield %5 : tensor<32x512x64x64xbf16>
    } : tensor<32x512x64x64xbf16>
    %r25 = fact.fused "rowwise" ins(%x25_0, %x25_1, %x25_2 : tensor<64x256x56x56xf32>, tensor<256xf32>, tensor<256xf32>) {
    ^bb0(%a0: tensor<64x256x56x56xf32>, %a1: tensor<256xf32>, %a2: tensor<256xf32>):
      %0 = fact.reshape %a0 : (tensor<64x256x56x56xf32>) -> tensor<64x32x25088xf32>
      %1 = fact.norm layer %0 eps 1.0e-5 : (tensor<64x32x25088xf32>) -> tensor<64x32x25088xf32>
      %2 = fact.reshape %1 : (tensor<64x32x25088xf32>) -> tensor<64x256x56x56xf32>
      %w = fact.reshape %a1 : (tensor<256xf32>) -> tensor<256x1x1xf32>
      %b = fact.reshape %a2 : (tensor<256xf32>) -> tensor<256x1x1xf32>
      %3 = fact.mul %2, %w : (tensor<64x256x56x56xf32>, tensor<256x1x1xf32>) -> tensor<64x256x56x56xf32>
      %4 = fact.add %3, %b : (tensor<64x256x56x56xf32>, tensor<256x1x1xf32>) -> tensor<64x256x56x56xf32>
      %5 = fact.silu %4 : (tensor<64x256x56x56xf32>) -> tensor<64x256x56x56xf32>
      fact.yield %5 : tensor<64x256x56x56xf32>
    } : tensor<64x256x56x56xf32>
    // Norms over the channels of images, in the order of memory; sums over the middle, odd rows.
    %r26 = fact.fused "reduction" ins(%x26_0, %x26_1 : tensor<64x96x56x56xbf16>, tensor<96xbf16>) {
    ^bb0(%a0: tensor<64x96x56x56xbf16>, %a1: tensor<96xbf16>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<64x96x56x56xbf16>) -> tensor<64x56x56x96xbf16>
      %1 = fact.norm layer %0 weight %a1 eps 1.0e-5 : (tensor<64x56x56x96xbf16>, tensor<96xbf16>) -> tensor<64x56x56x96xbf16>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<64x56x56x96xbf16>) -> tensor<64x96x56x56xbf16>
      fact.yield %2 : tensor<64x96x56x56xbf16>
    } : tensor<64x96x56x56xbf16>
    %r27 = fact.fused "reduction" ins(%x27_0, %x27_1 : tensor<64x384x28x28xf32>, tensor<384xf32>) {
    ^bb0(%a0: tensor<64x384x28x28xf32>, %a1: tensor<384xf32>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<64x384x28x28xf32>) -> tensor<64x28x28x384xf32>
      %1 = fact.norm layer %0 weight %a1 eps 1.0e-5 : (tensor<64x28x28x384xf32>, tensor<384xf32>) -> tensor<64x28x28x384xf32>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<64x28x28x384xf32>) -> tensor<64x384x28x28xf32>
      fact.yield %2 : tensor<64x384x28x28xf32>
    } : tensor<64x384x28x28xf32>
    %r28 = fact.fused "reduction" ins(%x28_0, %x28_1 : tensor<64x64x256x256xbf16>, tensor<64xbf16>) {
    ^bb0(%a0: tensor<64x64x256x256xbf16>, %a1: tensor<64xbf16>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<64x64x256x256xbf16>) -> tensor<64x256x256x64xbf16>
      %1 = fact.norm rms %0 weight %a1 eps 1.0e-5 : (tensor<64x256x256x64xbf16>, tensor<64xbf16>) -> tensor<64x256x256x64xbf16>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<64x256x256x64xbf16>) -> tensor<64x64x256x256xbf16>
      fact.yield %2 : tensor<64x64x256x256xbf16>
    } : tensor<64x64x256x256xbf16>
    %r29 = fact.fused "reduction" ins(%x29_0, %x29_1 : tensor<256x96x7x7xbf16>, tensor<96xbf16>) {
    ^bb0(%a0: tensor<256x96x7x7xbf16>, %a1: tensor<96xbf16>):
      %0 = fact.permute %a0 [0, 2, 3, 1] : (tensor<256x96x7x7xbf16>) -> tensor<256x7x7x96xbf16>
      %1 = fact.norm layer %0 weight %a1 eps 1.0e-5 : (tensor<256x7x7x96xbf16>, tensor<96xbf16>) -> tensor<256x7x7x96xbf16>
      %2 = fact.permute %1 [0, 3, 1, 2] : (tensor<256x7x7x96xbf16>) -> tensor<256x96x7x7xbf16>
      fact.yield %2 : tensor<256x96x7x7xbf16>
    } : tensor<256x96x7x7xbf16>
    %r30 = fact.fused "reduction" ins(%x30_0 : tensor<128x2048x1023xbf16>) {
    ^bb0(%a0: tensor<128x2048x1023xbf16>):
      %1 = fact.reduce sum %a0 dims [1] : (tensor<128x2048x1023xbf16>) -> tensor<128x1023xbf16>
      fact.yield %1 : tensor<128x1023xbf16>
    } : tensor<128x1023xbf16>
    // Rows that do not fit on the chip.
    %r31 = fact.fused "reduction" ins(%x31_0 : tensor<256x131072xbf16>) {
    ^bb0(%a0: tensor<256x131072xbf16>):
      %1 = fact.norm rms %a0 eps 1.0e-5 : (tensor<256x131072xbf16>) -> tensor<256x131072xbf16>
      fact.yield %1 : tensor<256x131072xbf16>
    } : tensor<256x131072xbf16>
    // Several reductions of a row, a softmax over channels, rows of permuted heads.
    %r32 = fact.fused "reduction" ins(%x32_0 : tensor<8192x4096xbf16>) {
    ^bb0(%a0: tensor<8192x4096xbf16>):
      %1 = fact.reduce max %a0 dims [1] keep : (tensor<8192x4096xbf16>) -> tensor<8192x1xbf16>
      %2 = fact.sub %a0, %1 : (tensor<8192x4096xbf16>, tensor<8192x1xbf16>) -> tensor<8192x4096xbf16>
      %3 = fact.exp %2 : (tensor<8192x4096xbf16>) -> tensor<8192x4096xbf16>
      %4 = fact.reduce sum %3 dims [1] keep : (tensor<8192x4096xbf16>) -> tensor<8192x1xbf16>
      %5 = fact.log %4 : (tensor<8192x1xbf16>) -> tensor<8192x1xbf16>
      %6 = fact.sub %2, %5 : (tensor<8192x4096xbf16>, tensor<8192x1xbf16>) -> tensor<8192x4096xbf16>
      fact.yield %6 : tensor<8192x4096xbf16>
    } : tensor<8192x4096xbf16>
    %r33 = fact.fused "reduction" ins(%x33_0 : tensor<8192x16384xf32>) {
    ^bb0(%a0: tensor<8192x16384xf32>):
      %1 = fact.reduce mean %a0 dims [1] keep : (tensor<8192x16384xf32>) -> tensor<8192x1xf32>
      %2 = fact.sub %a0, %1 : (tensor<8192x16384xf32>, tensor<8192x1xf32>) -> tensor<8192x16384xf32>
      %3 = fact.mul %2, %2 : (tensor<8192x16384xf32>, tensor<8192x16384xf32>) -> tensor<8192x16384xf32>
      %4 = fact.reduce mean %3 dims [1] : (tensor<8192x16384xf32>) -> tensor<8192xf32>
      fact.yield %4 : tensor<8192xf32>
    } : tensor<8192xf32>
    %r34 = fact.fused "reduction" ins(%x34_0 : tensor<16x21x512x512xbf16>) {
    ^bb0(%a0: tensor<16x21x512x512xbf16>):
      %1 = fact.permute %a0 [0, 2, 3, 1] : (tensor<16x21x512x512xbf16>) -> tensor<16x512x512x21xbf16>
      %2 = fact.softmax %1 dim 3 : tensor<16x512x512x21xbf16>
      %3 = fact.permute %2 [0, 3, 1, 2] : (tensor<16x512x512x21xbf16>) -> tensor<16x21x512x512xbf16>
      fact.yield %3 : tensor<16x21x512x512xbf16>
    } : tensor<16x21x512x512xbf16>
    %r35 = fact.fused "rowwise" ins(%x35_0, %x35_1 : tensor<8x4096x32x128xbf16>, tensor<128xbf16>) {
    ^bb0(%a0: tensor<8x4096x32x128xbf16>, %a1: tensor<128xbf16>):
      %1 = fact.permute %a0 [0, 2, 1, 3] : (tensor<8x4096x32x128xbf16>) -> tensor<8x32x4096x128xbf16>
      %2 = fact.norm rms %1 weight %a1 eps 1.0e-6 : (tensor<8x32x4096x128xbf16>, tensor<128xbf16>) -> tensor<8x32x4096x128xbf16>
      fact.yield %2 : tensor<8x32x4096x128xbf16>
    } : tensor<8x32x4096x128xbf16>
    // Softmax over channels that come first, few and many; the class of each pixel.
    %r36 = fact.fused "reduction" ins(%x36_0 : tensor<16x21x512x512xf32>) {
    ^bb0(%a0: tensor<16x21x512x512xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<16x21x512x512xf32>
      fact.yield %1 : tensor<16x21x512x512xf32>
    } : tensor<16x21x512x512xf32>
    %r37 = fact.fused "reduction" ins(%x37_0 : tensor<16x21x512x512xbf16>) {
    ^bb0(%a0: tensor<16x21x512x512xbf16>):
      %1 = fact.softmax %a0 dim 1 : tensor<16x21x512x512xbf16>
      fact.yield %1 : tensor<16x21x512x512xbf16>
    } : tensor<16x21x512x512xbf16>
    %r38 = fact.fused "reduction" ins(%x38_0 : tensor<32x128x54x54xf32>) {
    ^bb0(%a0: tensor<32x128x54x54xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<32x128x54x54xf32>
      fact.yield %1 : tensor<32x128x54x54xf32>
    } : tensor<32x128x54x54xf32>
    %r39 = fact.fused "reduction" ins(%x39_0 : tensor<128x512x1024xf32>) {
    ^bb0(%a0: tensor<128x512x1024xf32>):
      %1 = fact.softmax %a0 dim 1 : tensor<128x512x1024xf32>
      fact.yield %1 : tensor<128x512x1024xf32>
    } : tensor<128x512x1024xf32>
    %r40 = fact.fused "reduction" ins(%x40_0 : tensor<16x21x512x512xf32>) {
    ^bb0(%a0: tensor<16x21x512x512xf32>):
      %1 = fact.reduce argmax %a0 dims [1] : (tensor<16x21x512x512xf32>) -> tensor<16x512x512xi64>
      fact.yield %1 : tensor<16x512x512xi64>
    } : tensor<16x512x512xi64>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27, %r28, %r29, %r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39, %r40 : tensor<64x56x56x256xbf16>, tensor<64x256x56x56xbf16>, tensor<64x56x56x256xf32>, tensor<256x224x224x3xbf16>, tensor<256x7x7x512xbf16>, tensor<16383x8191xbf16>, tensor<8191x8191xf32>, tensor<128x1024x512xbf16>, tensor<8192x8192xi64>, tensor<16384x16384xi8>, tensor<2048x64x512xf32>, tensor<16x32x256x2x256x2xbf16>, tensor<32x1024x2048xbf16>, tensor<8388608x8xbf16>, tensor<2097152x32xbf16>, tensor<1048576x64xbf16>, tensor<524288x128xbf16>, tensor<6710886x10xf32>, tensor<1048576x64xf32>, tensor<871543x77xf32>, tensor<4096x512xbf16>, tensor<1048576x64xbf16>, tensor<8192x8192xbf16>, tensor<8192x8192xbf16>, tensor<32x512x64x64xbf16>, tensor<64x256x56x56xf32>, tensor<64x96x56x56xbf16>, tensor<64x384x28x28xf32>, tensor<64x64x256x256xbf16>, tensor<256x96x7x7xbf16>, tensor<128x1023xbf16>, tensor<256x131072xbf16>, tensor<8192x4096xbf16>, tensor<8192xf32>, tensor<16x21x512x512xbf16>, tensor<8x32x4096x128xbf16>, tensor<16x21x512x512xf32>, tensor<16x21x512x512xbf16>, tensor<32x128x54x54xf32>, tensor<128x512x1024xf32>, tensor<16x512x512xi64>
  }
}
