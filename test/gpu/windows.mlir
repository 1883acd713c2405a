// Pools and depthwise convolutions; test_families.py lets fact-tune check their kernels against
// the references.

module @windows attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @b8_3 : tensor<14x16xbf16>
  fact.weight @f4 : tensor<12x1x1x3x3xf32>
  fact.weight @b9_4 : tensor<12x1x1xf32>
  fact.weight @f5 : tensor<3x3x24xf32>
  fact.weight @b9_5 : tensor<24xf32>
  fact.weight @f6 : tensor<7x7x40xbf16>
  fact.weight @b9_6 : tensor<40xbf16>
  fact.weight @f7 : tensor<10x1x1x5x5xf16>
  fact.weight @f8 : tensor<6x1x1x3x3xf32>
  fact.weight @f9 : tensor<9x2x1x4xbf16>
  fact.weight @s13 : tensor<12xf32>
  fact.weight @t13 : tensor<12xf32>
  fact.weight @f15 : tensor<8x1x1x3x3xf32>
  func.func @main(%x0: tensor<2x5x13x16xf32>, %x1: tensor<2x5x13x15xf32>, %x2: tensor<3x7x12x32xbf16>, %x3: tensor<2x6x14x16xbf16>, %x4: tensor<2x12x20x24xf32>, %rb10_4: tensor<2x12x20x24xf32>, %x5: tensor<2x20x23x24xf32>, %x6: tensor<2x9x11x40xbf16>, %x7: tensor<3x10x17x19xf16>, %x8: tensor<2x6x15x20xf32>, %x9: tensor<2x9x1x64xbf16>, %x10: tensor<3x5x400xf32>, %x11: tensor<2x5x6x10x12xf32>, %x12: tensor<2x7x9x8x16xf16>, %x13: tensor<2x9x16x12xf32>, %x14: tensor<2x13x14x6xf32>, %x15: tensor<2x8x12x16xf32>) -> (tensor<2x5x7x8xf32>, tensor<2x5x7x8xf32>, tensor<3x7x6x16xbf16>, tensor<2x6x14x16xbf16>, tensor<2x12x20x24xf32>, tensor<2x20x23x24xf32>, tensor<2x20x23x24xf32>, tensor<2x9x11x40xbf16>, tensor<3x10x9x10xf16>, tensor<2x6x15x20xf32>, tensor<2x9x2x64xbf16>, tensor<3x5x400xf32>, tensor<2x5x3x5x6xf32>, tensor<2x3x5x4x16xf16>, tensor<2x5x8x12xf32>, tensor<2x5x5x6xf32>, tensor<2x12x16x8xf32>) {
    // Max pool, columns in vectors; a rest of rows.
    %r0 = fact.fused "windows" ins(%x0 : tensor<2x5x13x16xf32>) {
    ^bb0(%x: tensor<2x5x13x16xf32>):
      %v1 = fact.constant dense<0xFF800000> : tensor<2x5x1x16xf32>
      %v2 = fact.constant dense<0xFF800000> : tensor<2x5x1x16xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x5x1x16xf32>, tensor<2x5x13x16xf32>, tensor<2x5x1x16xf32>) -> tensor<2x5x15x16xf32>
      %v4 = fact.constant dense<0xFF800000> : tensor<2x5x15x1xf32>
      %v5 = fact.constant dense<0xFF800000> : tensor<2x5x15x1xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x5x15x1xf32>, tensor<2x5x15x16xf32>, tensor<2x5x15x1xf32>) -> tensor<2x5x15x18xf32>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<2x5x15x18xf32>) -> tensor<2x5x7x8x3x3xf32>
      %v8 = fact.reduce max %v7 dims [4, 5] : (tensor<2x5x7x8x3x3xf32>) -> tensor<2x5x7x8xf32>
      %v9 = fact.relu %v8 : (tensor<2x5x7x8xf32>) -> tensor<2x5x7x8xf32>
      fact.yield %v9 : tensor<2x5x7x8xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [4], rows = [4]>) : tensor<2x5x7x8xf32>
    // The same at an odd width, without vectors.
    %r1 = fact.fused "windows" ins(%x1 : tensor<2x5x13x15xf32>) {
    ^bb0(%x: tensor<2x5x13x15xf32>):
      %v1 = fact.constant dense<0xFF800000> : tensor<2x5x1x15xf32>
      %v2 = fact.constant dense<0xFF800000> : tensor<2x5x1x15xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x5x1x15xf32>, tensor<2x5x13x15xf32>, tensor<2x5x1x15xf32>) -> tensor<2x5x15x15xf32>
      %v4 = fact.constant dense<0xFF800000> : tensor<2x5x15x1xf32>
      %v5 = fact.constant dense<0xFF800000> : tensor<2x5x15x1xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x5x15x1xf32>, tensor<2x5x15x15xf32>, tensor<2x5x15x1xf32>) -> tensor<2x5x15x17xf32>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<2x5x15x17xf32>) -> tensor<2x5x7x8x3x3xf32>
      %v8 = fact.reduce max %v7 dims [4, 5] : (tensor<2x5x7x8x3x3xf32>) -> tensor<2x5x7x8xf32>
      fact.yield %v8 : tensor<2x5x7x8xf32>
    } space(#fact.cuda_windows_space<threads = [256], vector = [1], columns = [4], rows = [2]>) : tensor<2x5x7x8xf32>
    // Blocks of 2 x 2 in bf16.
    %r2 = fact.fused "windows" ins(%x2 : tensor<3x7x12x32xbf16>) {
    ^bb0(%x: tensor<3x7x12x32xbf16>):
      %v1 = fact.windows %x dim 2 kernel [2, 2] strides [2, 2] dilations [1, 1] : (tensor<3x7x12x32xbf16>) -> tensor<3x7x6x16x2x2xbf16>
      %v2 = fact.reduce max %v1 dims [4, 5] : (tensor<3x7x6x16x2x2xbf16>) -> tensor<3x7x6x16xbf16>
      fact.yield %v2 : tensor<3x7x6x16xbf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [8], columns = [4], rows = [2]>) : tensor<3x7x6x16xbf16>
    // Average pool with a factor per position.
    %b8_3 = fact.get_weight @b8_3 : tensor<14x16xbf16>
    %r3 = fact.fused "windows" ins(%x3, %b8_3 : tensor<2x6x14x16xbf16>, tensor<14x16xbf16>) {
    ^bb0(%x: tensor<2x6x14x16xbf16>, %b8: tensor<14x16xbf16>):
      %v1 = fact.constant dense<0.0> : tensor<2x6x1x16xbf16>
      %v2 = fact.constant dense<0.0> : tensor<2x6x1x16xbf16>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x6x1x16xbf16>, tensor<2x6x14x16xbf16>, tensor<2x6x1x16xbf16>) -> tensor<2x6x16x16xbf16>
      %v4 = fact.constant dense<0.0> : tensor<2x6x16x1xbf16>
      %v5 = fact.constant dense<0.0> : tensor<2x6x16x1xbf16>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x6x16x1xbf16>, tensor<2x6x16x16xbf16>, tensor<2x6x16x1xbf16>) -> tensor<2x6x16x18xbf16>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x6x16x18xbf16>) -> tensor<2x6x14x16x3x3xbf16>
      %v8 = fact.reduce sum %v7 dims [4, 5] : (tensor<2x6x14x16x3x3xbf16>) -> tensor<2x6x14x16xbf16>
      %v9 = fact.div %v8, %b8 : (tensor<2x6x14x16xbf16>, tensor<14x16xbf16>) -> tensor<2x6x14x16xbf16>
      fact.yield %v9 : tensor<2x6x14x16xbf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [8], columns = [8], rows = [4]>) : tensor<2x6x14x16xbf16>
    // Depthwise 3 x 3 with bias, residual and activation.
    %f4 = fact.get_weight @f4 : tensor<12x1x1x3x3xf32>
    %b9_4 = fact.get_weight @b9_4 : tensor<12x1x1xf32>
    %r4 = fact.fused "windows" ins(%x4, %f4, %b9_4, %rb10_4 : tensor<2x12x20x24xf32>, tensor<12x1x1x3x3xf32>, tensor<12x1x1xf32>, tensor<2x12x20x24xf32>) {
    ^bb0(%x: tensor<2x12x20x24xf32>, %f: tensor<12x1x1x3x3xf32>, %b9: tensor<12x1x1xf32>, %rb10: tensor<2x12x20x24xf32>):
      %v1 = fact.constant dense<0.0> : tensor<2x12x1x24xf32>
      %v2 = fact.constant dense<0.0> : tensor<2x12x1x24xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x12x1x24xf32>, tensor<2x12x20x24xf32>, tensor<2x12x1x24xf32>) -> tensor<2x12x22x24xf32>
      %v4 = fact.constant dense<0.0> : tensor<2x12x22x1xf32>
      %v5 = fact.constant dense<0.0> : tensor<2x12x22x1xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x12x22x1xf32>, tensor<2x12x22x24xf32>, tensor<2x12x22x1xf32>) -> tensor<2x12x22x26xf32>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x12x22x26xf32>) -> tensor<2x12x20x24x3x3xf32>
      %v8 = fact.mul %v7, %f : (tensor<2x12x20x24x3x3xf32>, tensor<12x1x1x3x3xf32>) -> tensor<2x12x20x24x3x3xf32>
      %v9 = fact.reduce sum %v8 dims [4, 5] : (tensor<2x12x20x24x3x3xf32>) -> tensor<2x12x20x24xf32>
      %v10 = fact.add %v9, %b9 : (tensor<2x12x20x24xf32>, tensor<12x1x1xf32>) -> tensor<2x12x20x24xf32>
      %v11 = fact.add %v10, %rb10 : (tensor<2x12x20x24xf32>, tensor<2x12x20x24xf32>) -> tensor<2x12x20x24xf32>
      %v12 = fact.relu %v11 : (tensor<2x12x20x24xf32>) -> tensor<2x12x20x24xf32>
      fact.yield %v12 : tensor<2x12x20x24xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [4], rows = [8]>) : tensor<2x12x20x24xf32>
    // The same with channels last; two results.
    %f5 = fact.get_weight @f5 : tensor<3x3x24xf32>
    %b9_5 = fact.get_weight @b9_5 : tensor<24xf32>
    %r5:2 = fact.fused "windows" ins(%x5, %f5, %b9_5 : tensor<2x20x23x24xf32>, tensor<3x3x24xf32>, tensor<24xf32>) {
    ^bb0(%x: tensor<2x20x23x24xf32>, %f: tensor<3x3x24xf32>, %b9: tensor<24xf32>):
      %v1 = fact.constant dense<0.0> : tensor<2x1x23x24xf32>
      %v2 = fact.constant dense<0.0> : tensor<2x1x23x24xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 1 : (tensor<2x1x23x24xf32>, tensor<2x20x23x24xf32>, tensor<2x1x23x24xf32>) -> tensor<2x22x23x24xf32>
      %v4 = fact.constant dense<0.0> : tensor<2x22x1x24xf32>
      %v5 = fact.constant dense<0.0> : tensor<2x22x1x24xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 2 : (tensor<2x22x1x24xf32>, tensor<2x22x23x24xf32>, tensor<2x22x1x24xf32>) -> tensor<2x22x25x24xf32>
      %v7 = fact.windows %v6 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x22x25x24xf32>) -> tensor<2x20x23x3x3x24xf32>
      %v8 = fact.mul %v7, %f : (tensor<2x20x23x3x3x24xf32>, tensor<3x3x24xf32>) -> tensor<2x20x23x3x3x24xf32>
      %v9 = fact.reduce sum %v8 dims [3, 4] : (tensor<2x20x23x3x3x24xf32>) -> tensor<2x20x23x24xf32>
      %v10 = fact.add %v9, %b9 : (tensor<2x20x23x24xf32>, tensor<24xf32>) -> tensor<2x20x23x24xf32>
      %v11 = fact.silu %v10 : (tensor<2x20x23x24xf32>) -> tensor<2x20x23x24xf32>
      fact.yield %v11, %v10 : tensor<2x20x23x24xf32>, tensor<2x20x23x24xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [2], rows = [4]>) : tensor<2x20x23x24xf32>, tensor<2x20x23x24xf32>
    // Depthwise 7 x 7, channels last: one row of taps after the other.
    %f6 = fact.get_weight @f6 : tensor<7x7x40xbf16>
    %b9_6 = fact.get_weight @b9_6 : tensor<40xbf16>
    %r6 = fact.fused "windows" ins(%x6, %f6, %b9_6 : tensor<2x9x11x40xbf16>, tensor<7x7x40xbf16>, tensor<40xbf16>) {
    ^bb0(%x: tensor<2x9x11x40xbf16>, %f: tensor<7x7x40xbf16>, %b9: tensor<40xbf16>):
      %v1 = fact.constant dense<0.0> : tensor<2x3x11x40xbf16>
      %v2 = fact.constant dense<0.0> : tensor<2x3x11x40xbf16>
      %v3 = fact.concat %v1, %x, %v2 dim 1 : (tensor<2x3x11x40xbf16>, tensor<2x9x11x40xbf16>, tensor<2x3x11x40xbf16>) -> tensor<2x15x11x40xbf16>
      %v4 = fact.constant dense<0.0> : tensor<2x15x3x40xbf16>
      %v5 = fact.constant dense<0.0> : tensor<2x15x3x40xbf16>
      %v6 = fact.concat %v4, %v3, %v5 dim 2 : (tensor<2x15x3x40xbf16>, tensor<2x15x11x40xbf16>, tensor<2x15x3x40xbf16>) -> tensor<2x15x17x40xbf16>
      %v7 = fact.windows %v6 dim 1 kernel [7, 7] strides [1, 1] dilations [1, 1] : (tensor<2x15x17x40xbf16>) -> tensor<2x9x11x7x7x40xbf16>
      %v8 = fact.mul %v7, %f : (tensor<2x9x11x7x7x40xbf16>, tensor<7x7x40xbf16>) -> tensor<2x9x11x7x7x40xbf16>
      %v9 = fact.reduce sum %v8 dims [3, 4] : (tensor<2x9x11x7x7x40xbf16>) -> tensor<2x9x11x40xbf16>
      %v10 = fact.add %v9, %b9 : (tensor<2x9x11x40xbf16>, tensor<40xbf16>) -> tensor<2x9x11x40xbf16>
      fact.yield %v10 : tensor<2x9x11x40xbf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [8], columns = [2], rows = [2]>) : tensor<2x9x11x40xbf16>
    // Depthwise 5 x 5 at stride 2 and an odd width, in f16.
    %f7 = fact.get_weight @f7 : tensor<10x1x1x5x5xf16>
    %r7 = fact.fused "windows" ins(%x7, %f7 : tensor<3x10x17x19xf16>, tensor<10x1x1x5x5xf16>) {
    ^bb0(%x: tensor<3x10x17x19xf16>, %f: tensor<10x1x1x5x5xf16>):
      %v1 = fact.constant dense<0.0> : tensor<3x10x2x19xf16>
      %v2 = fact.constant dense<0.0> : tensor<3x10x2x19xf16>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<3x10x2x19xf16>, tensor<3x10x17x19xf16>, tensor<3x10x2x19xf16>) -> tensor<3x10x21x19xf16>
      %v4 = fact.constant dense<0.0> : tensor<3x10x21x2xf16>
      %v5 = fact.constant dense<0.0> : tensor<3x10x21x2xf16>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<3x10x21x2xf16>, tensor<3x10x21x19xf16>, tensor<3x10x21x2xf16>) -> tensor<3x10x21x23xf16>
      %v7 = fact.windows %v6 dim 2 kernel [5, 5] strides [2, 2] dilations [1, 1] : (tensor<3x10x21x23xf16>) -> tensor<3x10x9x10x5x5xf16>
      %v8 = fact.mul %v7, %f : (tensor<3x10x9x10x5x5xf16>, tensor<10x1x1x5x5xf16>) -> tensor<3x10x9x10x5x5xf16>
      %v9 = fact.reduce sum %v8 dims [4, 5] : (tensor<3x10x9x10x5x5xf16>) -> tensor<3x10x9x10xf16>
      %v10 = fact.tanh %v9 : (tensor<3x10x9x10xf16>) -> tensor<3x10x9x10xf16>
      fact.yield %v10 : tensor<3x10x9x10xf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [1], columns = [2], rows = [2]>) : tensor<3x10x9x10xf16>
    // Depthwise 3 x 3 with dilation 2.
    %f8 = fact.get_weight @f8 : tensor<6x1x1x3x3xf32>
    %r8 = fact.fused "windows" ins(%x8, %f8 : tensor<2x6x15x20xf32>, tensor<6x1x1x3x3xf32>) {
    ^bb0(%x: tensor<2x6x15x20xf32>, %f: tensor<6x1x1x3x3xf32>):
      %v1 = fact.constant dense<0.0> : tensor<2x6x2x20xf32>
      %v2 = fact.constant dense<0.0> : tensor<2x6x2x20xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x6x2x20xf32>, tensor<2x6x15x20xf32>, tensor<2x6x2x20xf32>) -> tensor<2x6x19x20xf32>
      %v4 = fact.constant dense<0.0> : tensor<2x6x19x2xf32>
      %v5 = fact.constant dense<0.0> : tensor<2x6x19x2xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x6x19x2xf32>, tensor<2x6x19x20xf32>, tensor<2x6x19x2xf32>) -> tensor<2x6x19x24xf32>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [1, 1] dilations [2, 2] : (tensor<2x6x19x24xf32>) -> tensor<2x6x15x20x3x3xf32>
      %v8 = fact.mul %v7, %f : (tensor<2x6x15x20x3x3xf32>, tensor<6x1x1x3x3xf32>) -> tensor<2x6x15x20x3x3xf32>
      %v9 = fact.reduce sum %v8 dims [4, 5] : (tensor<2x6x15x20x3x3xf32>) -> tensor<2x6x15x20xf32>
      fact.yield %v9 : tensor<2x6x15x20xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [4], rows = [2]>) : tensor<2x6x15x20xf32>
    // Causal, one dimension, two filters per channel.
    %f9 = fact.get_weight @f9 : tensor<9x2x1x4xbf16>
    %r9 = fact.fused "windows" ins(%x9, %f9 : tensor<2x9x1x64xbf16>, tensor<9x2x1x4xbf16>) {
    ^bb0(%x: tensor<2x9x1x64xbf16>, %f: tensor<9x2x1x4xbf16>):
      %v1 = fact.constant dense<0.0> : tensor<2x9x1x3xbf16>
      %v2 = fact.concat %v1, %x dim 3 : (tensor<2x9x1x3xbf16>, tensor<2x9x1x64xbf16>) -> tensor<2x9x1x67xbf16>
      %v3 = fact.windows %v2 dim 3 kernel [4] strides [1] dilations [1] : (tensor<2x9x1x67xbf16>) -> tensor<2x9x1x64x4xbf16>
      %v4 = fact.mul %v3, %f : (tensor<2x9x1x64x4xbf16>, tensor<9x2x1x4xbf16>) -> tensor<2x9x2x64x4xbf16>
      %v5 = fact.reduce sum %v4 dims [4] : (tensor<2x9x2x64x4xbf16>) -> tensor<2x9x2x64xbf16>
      %v6 = fact.silu %v5 : (tensor<2x9x2x64xbf16>) -> tensor<2x9x2x64xbf16>
      fact.yield %v6 : tensor<2x9x2x64xbf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [4], rows = [1]>) : tensor<2x9x2x64xbf16>
    // Long windows: one tap after the other.
    %r10 = fact.fused "windows" ins(%x10 : tensor<3x5x400xf32>) {
    ^bb0(%x: tensor<3x5x400xf32>):
      %v1 = fact.constant dense<0.0> : tensor<3x5x50xf32>
      %v2 = fact.constant dense<0.0> : tensor<3x5x50xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<3x5x50xf32>, tensor<3x5x400xf32>, tensor<3x5x50xf32>) -> tensor<3x5x500xf32>
      %v4 = fact.windows %v3 dim 2 kernel [101] strides [1] dilations [1] : (tensor<3x5x500xf32>) -> tensor<3x5x400x101xf32>
      %v5 = fact.reduce mean %v4 dims [3] : (tensor<3x5x400x101xf32>) -> tensor<3x5x400xf32>
      fact.yield %v5 : tensor<3x5x400xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [1], columns = [4], rows = [1]>) : tensor<3x5x400xf32>
    // Blocks of 2 x 2 x 2.
    %r11 = fact.fused "windows" ins(%x11 : tensor<2x5x6x10x12xf32>) {
    ^bb0(%x: tensor<2x5x6x10x12xf32>):
      %v1 = fact.windows %x dim 2 kernel [2, 2, 2] strides [2, 2, 2] dilations [1, 1, 1] : (tensor<2x5x6x10x12xf32>) -> tensor<2x5x3x5x6x2x2x2xf32>
      %v2 = fact.reduce mean %v1 dims [5, 6, 7] : (tensor<2x5x3x5x6x2x2x2xf32>) -> tensor<2x5x3x5x6xf32>
      fact.yield %v2 : tensor<2x5x3x5x6xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [2], rows = [2]>) : tensor<2x5x3x5x6xf32>
    // Three dimensions, channels last, padding on one side.
    %r12 = fact.fused "windows" ins(%x12 : tensor<2x7x9x8x16xf16>) {
    ^bb0(%x: tensor<2x7x9x8x16xf16>):
      %v1 = fact.constant dense<0xFC00> : tensor<2x1x9x8x16xf16>
      %v2 = fact.concat %v1, %x dim 1 : (tensor<2x1x9x8x16xf16>, tensor<2x7x9x8x16xf16>) -> tensor<2x8x9x8x16xf16>
      %v3 = fact.constant dense<0xFC00> : tensor<2x8x1x8x16xf16>
      %v4 = fact.constant dense<0xFC00> : tensor<2x8x1x8x16xf16>
      %v5 = fact.concat %v3, %v2, %v4 dim 2 : (tensor<2x8x1x8x16xf16>, tensor<2x8x9x8x16xf16>, tensor<2x8x1x8x16xf16>) -> tensor<2x8x11x8x16xf16>
      %v6 = fact.constant dense<0xFC00> : tensor<2x8x11x1x16xf16>
      %v7 = fact.concat %v5, %v6 dim 3 : (tensor<2x8x11x8x16xf16>, tensor<2x8x11x1x16xf16>) -> tensor<2x8x11x9x16xf16>
      %v8 = fact.windows %v7 dim 1 kernel [3, 3, 3] strides [2, 2, 2] dilations [1, 1, 1] : (tensor<2x8x11x9x16xf16>) -> tensor<2x3x5x4x3x3x3x16xf16>
      %v9 = fact.reduce max %v8 dims [4, 5, 6] : (tensor<2x3x5x4x3x3x3x16xf16>) -> tensor<2x3x5x4x16xf16>
      fact.yield %v9 : tensor<2x3x5x4x16xf16>
    } space(#fact.cuda_windows_space<threads = [128], vector = [8], columns = [1], rows = [2]>) : tensor<2x3x5x4x16xf16>
    // Pointwise ops before the padding.
    %s13 = fact.get_weight @s13 : tensor<12xf32>
    %t13 = fact.get_weight @t13 : tensor<12xf32>
    %r13 = fact.fused "windows" ins(%x13, %s13, %t13 : tensor<2x9x16x12xf32>, tensor<12xf32>, tensor<12xf32>) {
    ^bb0(%x: tensor<2x9x16x12xf32>, %s: tensor<12xf32>, %t: tensor<12xf32>):
      %v1 = fact.mul %x, %s : (tensor<2x9x16x12xf32>, tensor<12xf32>) -> tensor<2x9x16x12xf32>
      %v2 = fact.add %v1, %t : (tensor<2x9x16x12xf32>, tensor<12xf32>) -> tensor<2x9x16x12xf32>
      %v3 = fact.relu %v2 : (tensor<2x9x16x12xf32>) -> tensor<2x9x16x12xf32>
      %v4 = fact.constant dense<0xFF800000> : tensor<2x1x16x12xf32>
      %v5 = fact.constant dense<0xFF800000> : tensor<2x1x16x12xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 1 : (tensor<2x1x16x12xf32>, tensor<2x9x16x12xf32>, tensor<2x1x16x12xf32>) -> tensor<2x11x16x12xf32>
      %v7 = fact.constant dense<0xFF800000> : tensor<2x11x1x12xf32>
      %v8 = fact.constant dense<0xFF800000> : tensor<2x11x1x12xf32>
      %v9 = fact.concat %v7, %v6, %v8 dim 2 : (tensor<2x11x1x12xf32>, tensor<2x11x16x12xf32>, tensor<2x11x1x12xf32>) -> tensor<2x11x18x12xf32>
      %v10 = fact.windows %v9 dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<2x11x18x12xf32>) -> tensor<2x5x8x3x3x12xf32>
      %v11 = fact.reduce max %v10 dims [3, 4] : (tensor<2x5x8x3x3x12xf32>) -> tensor<2x5x8x12xf32>
      fact.yield %v11 : tensor<2x5x8x12xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [2], rows = [1]>) : tensor<2x5x8x12xf32>
    // Windows with gaps between them, minima, padding that counts.
    %r14 = fact.fused "windows" ins(%x14 : tensor<2x13x14x6xf32>) {
    ^bb0(%x: tensor<2x13x14x6xf32>):
      %v1 = fact.constant dense<0.5> : tensor<2x1x14x6xf32>
      %v2 = fact.concat %v1, %x dim 1 : (tensor<2x1x14x6xf32>, tensor<2x13x14x6xf32>) -> tensor<2x14x14x6xf32>
      %v3 = fact.constant dense<0.5> : tensor<2x14x2x6xf32>
      %v4 = fact.concat %v2, %v3 dim 2 : (tensor<2x14x14x6xf32>, tensor<2x14x2x6xf32>) -> tensor<2x14x16x6xf32>
      %v5 = fact.windows %v4 dim 1 kernel [2, 2] strides [3, 3] dilations [1, 1] : (tensor<2x14x16x6xf32>) -> tensor<2x5x5x2x2x6xf32>
      %v6 = fact.reduce min %v5 dims [3, 4] : (tensor<2x5x5x2x2x6xf32>) -> tensor<2x5x5x6xf32>
      fact.yield %v6 : tensor<2x5x5x6xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [2], columns = [2], rows = [4]>) : tensor<2x5x5x6xf32>
    // Results in another order than the images.
    %f15 = fact.get_weight @f15 : tensor<8x1x1x3x3xf32>
    %r15 = fact.fused "windows" ins(%x15, %f15 : tensor<2x8x12x16xf32>, tensor<8x1x1x3x3xf32>) {
    ^bb0(%x: tensor<2x8x12x16xf32>, %f: tensor<8x1x1x3x3xf32>):
      %v1 = fact.constant dense<0.0> : tensor<2x8x1x16xf32>
      %v2 = fact.constant dense<0.0> : tensor<2x8x1x16xf32>
      %v3 = fact.concat %v1, %x, %v2 dim 2 : (tensor<2x8x1x16xf32>, tensor<2x8x12x16xf32>, tensor<2x8x1x16xf32>) -> tensor<2x8x14x16xf32>
      %v4 = fact.constant dense<0.0> : tensor<2x8x14x1xf32>
      %v5 = fact.constant dense<0.0> : tensor<2x8x14x1xf32>
      %v6 = fact.concat %v4, %v3, %v5 dim 3 : (tensor<2x8x14x1xf32>, tensor<2x8x14x16xf32>, tensor<2x8x14x1xf32>) -> tensor<2x8x14x18xf32>
      %v7 = fact.windows %v6 dim 2 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x14x18xf32>) -> tensor<2x8x12x16x3x3xf32>
      %v8 = fact.mul %v7, %f : (tensor<2x8x12x16x3x3xf32>, tensor<8x1x1x3x3xf32>) -> tensor<2x8x12x16x3x3xf32>
      %v9 = fact.reduce sum %v8 dims [4, 5] : (tensor<2x8x12x16x3x3xf32>) -> tensor<2x8x12x16xf32>
      %v10 = fact.permute %v9 [0, 2, 3, 1] : (tensor<2x8x12x16xf32>) -> tensor<2x12x16x8xf32>
      fact.yield %v10 : tensor<2x12x16x8xf32>
    } space(#fact.cuda_windows_space<threads = [128], vector = [4], columns = [4], rows = [2]>) : tensor<2x12x16x8xf32>
    return %r0, %r1, %r2, %r3, %r4, %r5#0, %r5#1, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15 : tensor<2x5x7x8xf32>, tensor<2x5x7x8xf32>, tensor<3x7x6x16xbf16>, tensor<2x6x14x16xbf16>, tensor<2x12x20x24xf32>, tensor<2x20x23x24xf32>, tensor<2x20x23x24xf32>, tensor<2x9x11x40xbf16>, tensor<3x10x9x10xf16>, tensor<2x6x15x20xf32>, tensor<2x9x2x64xbf16>, tensor<3x5x400xf32>, tensor<2x5x3x5x6xf32>, tensor<2x3x5x4x16xf16>, tensor<2x5x8x12xf32>, tensor<2x5x5x6xf32>, tensor<2x12x16x8xf32>
  }
}
