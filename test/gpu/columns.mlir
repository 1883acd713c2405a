// Results and operands of products that lie column by column, as images with their channels first
// do; test_families.py lets fact-tune check their kernels against the references.

module @columns attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @w0 : tensor<100x648xbf16>
  fact.weight @b0 : tensor<100xbf16>
  fact.weight @w1 : tensor<50x324xf32>
  fact.weight @b1 : tensor<50xf32>
  fact.weight @w2 : tensor<136x320xf16>
  fact.weight @w3 : tensor<42x96xbf16>
  fact.weight @b3 : tensor<42xbf16>
  fact.weight @w4 : tensor<42x96xf32>
  fact.weight @b4 : tensor<42xf32>
  fact.weight @w5 : tensor<42x96xf32>
  fact.weight @b5 : tensor<42xf32>
  fact.weight @w6 : tensor<40x96xbf16>
  fact.weight @w7 : tensor<40x96xbf16>
  fact.weight @w8 : tensor<40x96xbf16>
  fact.weight @w9 : tensor<40x96xbf16>
  func.func @main(%x0: tensor<3x28x32x72xbf16>, %x1: tensor<5x27x28x36xf32>, %d1: tensor<5x50x27x28xf32>, %x2: tensor<4x504x64xf16>, %x3: tensor<3x96x264xbf16>, %x4: tensor<3x96x264xf32>, %x5: tensor<3x96x264xf32>, %x6: tensor<3x96x264xbf16>, %c6: tensor<3x40x264xbf16>, %d6: tensor<3x40x264xf32>, %y6: tensor<3x264x40xbf16>, %x7: tensor<3x96x264xbf16>, %c7: tensor<3x40x264xbf16>, %x8: tensor<3x96x264xbf16>, %c8: tensor<3x264x40xbf16>, %x9: tensor<3x96x264xbf16>) -> (tensor<3x100x28x32xbf16>, tensor<5x50x27x28xf32>, tensor<4x136x504xf16>, tensor<3x42x264xbf16>, tensor<3x42x264xf32>, tensor<3x42x264xf32>, tensor<3x40x264xbf16>, tensor<3x264x40xbf16>, tensor<3x40x264xbf16>, tensor<3x40x264xbf16>, tensor<3x264x40xbf16>, tensor<3x261x40xbf16>) {
    // Channels first, with filters that fill no 16 bytes.
    %w0 = fact.get_weight @w0 : tensor<100x648xbf16>
    %b0 = fact.get_weight @b0 : tensor<100xbf16>
    %r0 = fact.fused "gemm_epilogue" ins(%x0, %w0, %b0 : tensor<3x28x32x72xbf16>, tensor<100x648xbf16>, tensor<100xbf16>) {
    ^bb0(%x: tensor<3x28x32x72xbf16>, %w: tensor<100x648xbf16>, %b: tensor<100xbf16>):
      %z0 = fact.constant dense<0.0> : tensor<3x1x32x72xbf16>
      %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<3x1x32x72xbf16>, tensor<3x28x32x72xbf16>, tensor<3x1x32x72xbf16>) -> tensor<3x30x32x72xbf16>
      %z1 = fact.constant dense<0.0> : tensor<3x30x1x72xbf16>
      %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<3x30x1x72xbf16>, tensor<3x30x32x72xbf16>, tensor<3x30x1x72xbf16>) -> tensor<3x30x34x72xbf16>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<3x30x34x72xbf16>) -> tensor<3x28x32x3x3x72xbf16>
      %a = fact.reshape %v : (tensor<3x28x32x3x3x72xbf16>) -> tensor<3x28x32x648xbf16>
      %m = fact.matmul %a, %w transpose_b : (tensor<3x28x32x648xbf16>, tensor<100x648xbf16>) -> tensor<3x28x32x100xbf16>
      %s = fact.add %m, %b : (tensor<3x28x32x100xbf16>, tensor<100xbf16>) -> tensor<3x28x32x100xbf16>
      %t = fact.relu %s : (tensor<3x28x32x100xbf16>) -> tensor<3x28x32x100xbf16>
      %o = fact.permute %t [0, 3, 1, 2] : (tensor<3x28x32x100xbf16>) -> tensor<3x100x28x32xbf16>
      fact.yield %o : tensor<3x100x28x32xbf16>
    } : tensor<3x100x28x32xbf16>
    // TF32, images that end within a tile, and a residual with channels first.
    %w1 = fact.get_weight @w1 : tensor<50x324xf32>
    %b1 = fact.get_weight @b1 : tensor<50xf32>
    %r1 = fact.fused "gemm_epilogue" ins(%x1, %w1, %b1, %d1 : tensor<5x27x28x36xf32>, tensor<50x324xf32>, tensor<50xf32>, tensor<5x50x27x28xf32>) {
    ^bb0(%x: tensor<5x27x28x36xf32>, %w: tensor<50x324xf32>, %b: tensor<50xf32>, %d: tensor<5x50x27x28xf32>):
      %z0 = fact.constant dense<0.0> : tensor<5x1x28x36xf32>
      %p0 = fact.concat %z0, %x, %z0 dim 1 : (tensor<5x1x28x36xf32>, tensor<5x27x28x36xf32>, tensor<5x1x28x36xf32>) -> tensor<5x29x28x36xf32>
      %z1 = fact.constant dense<0.0> : tensor<5x29x1x36xf32>
      %p1 = fact.concat %z1, %p0, %z1 dim 2 : (tensor<5x29x1x36xf32>, tensor<5x29x28x36xf32>, tensor<5x29x1x36xf32>) -> tensor<5x29x30x36xf32>
      %v = fact.windows %p1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<5x29x30x36xf32>) -> tensor<5x27x28x3x3x36xf32>
      %a = fact.reshape %v : (tensor<5x27x28x3x3x36xf32>) -> tensor<5x27x28x324xf32>
      %m = fact.matmul %a, %w transpose_b tf32 : (tensor<5x27x28x324xf32>, tensor<50x324xf32>) -> tensor<5x27x28x50xf32>
      %s = fact.add %m, %b : (tensor<5x27x28x50xf32>, tensor<50xf32>) -> tensor<5x27x28x50xf32>
      %q = fact.permute %d [0, 2, 3, 1] : (tensor<5x50x27x28xf32>) -> tensor<5x27x28x50xf32>
      %t = fact.add %s, %q : (tensor<5x27x28x50xf32>, tensor<5x27x28x50xf32>) -> tensor<5x27x28x50xf32>
      %y = fact.relu %t : (tensor<5x27x28x50xf32>) -> tensor<5x27x28x50xf32>
      %o = fact.permute %y [0, 3, 1, 2] : (tensor<5x27x28x50xf32>) -> tensor<5x50x27x28xf32>
      fact.yield %o : tensor<5x50x27x28xf32>
    } : tensor<5x50x27x28xf32>
    // One dimension.
    %w2 = fact.get_weight @w2 : tensor<136x320xf16>
    %r2 = fact.fused "gemm_epilogue" ins(%x2, %w2 : tensor<4x504x64xf16>, tensor<136x320xf16>) {
    ^bb0(%x: tensor<4x504x64xf16>, %w: tensor<136x320xf16>):
      %z = fact.constant dense<0.0> : tensor<4x2x64xf16>
      %p = fact.concat %z, %x, %z dim 1 : (tensor<4x2x64xf16>, tensor<4x504x64xf16>, tensor<4x2x64xf16>) -> tensor<4x508x64xf16>
      %v = fact.windows %p dim 1 kernel [5] strides [1] dilations [1] : (tensor<4x508x64xf16>) -> tensor<4x504x5x64xf16>
      %a = fact.reshape %v : (tensor<4x504x5x64xf16>) -> tensor<4x504x320xf16>
      %m = fact.matmul %a, %w transpose_b : (tensor<4x504x320xf16>, tensor<136x320xf16>) -> tensor<4x504x136xf16>
      %o = fact.permute %m [0, 2, 1] : (tensor<4x504x136xf16>) -> tensor<4x136x504xf16>
      fact.yield %o : tensor<4x136x504xf16>
    } : tensor<4x136x504xf16>
    // A 1x1 convolution with channels first at both ends.
    %w3 = fact.get_weight @w3 : tensor<42x96xbf16>
    %b3 = fact.get_weight @b3 : tensor<42xbf16>
    %r3 = fact.fused "gemm_epilogue" ins(%x3, %w3, %b3 : tensor<3x96x264xbf16>, tensor<42x96xbf16>, tensor<42xbf16>) {
    ^bb0(%x: tensor<3x96x264xbf16>, %w: tensor<42x96xbf16>, %b: tensor<42xbf16>):
      %m = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x264xbf16>, tensor<42x96xbf16>) -> tensor<3x264x42xbf16>
      %s = fact.add %m, %b : (tensor<3x264x42xbf16>, tensor<42xbf16>) -> tensor<3x264x42xbf16>
      %t = fact.tanh %s : (tensor<3x264x42xbf16>) -> tensor<3x264x42xbf16>
      %o = fact.permute %t [0, 2, 1] : (tensor<3x264x42xbf16>) -> tensor<3x42x264xbf16>
      fact.yield %o : tensor<3x42x264xbf16>
    } : tensor<3x42x264xbf16>
    // The same in TF32.
    %w4 = fact.get_weight @w4 : tensor<42x96xf32>
    %b4 = fact.get_weight @b4 : tensor<42xf32>
    %r4 = fact.fused "gemm_epilogue" ins(%x4, %w4, %b4 : tensor<3x96x264xf32>, tensor<42x96xf32>, tensor<42xf32>) {
    ^bb0(%x: tensor<3x96x264xf32>, %w: tensor<42x96xf32>, %b: tensor<42xf32>):
      %m = fact.matmul %x, %w transpose_a transpose_b tf32 : (tensor<3x96x264xf32>, tensor<42x96xf32>) -> tensor<3x264x42xf32>
      %s = fact.add %m, %b : (tensor<3x264x42xf32>, tensor<42xf32>) -> tensor<3x264x42xf32>
      %t = fact.tanh %s : (tensor<3x264x42xf32>) -> tensor<3x264x42xf32>
      %o = fact.permute %t [0, 2, 1] : (tensor<3x264x42xf32>) -> tensor<3x42x264xf32>
      fact.yield %o : tensor<3x42x264xf32>
    } : tensor<3x42x264xf32>
    // The same in strict f32.
    %w5 = fact.get_weight @w5 : tensor<42x96xf32>
    %b5 = fact.get_weight @b5 : tensor<42xf32>
    %r5 = fact.fused "gemm_epilogue" ins(%x5, %w5, %b5 : tensor<3x96x264xf32>, tensor<42x96xf32>, tensor<42xf32>) {
    ^bb0(%x: tensor<3x96x264xf32>, %w: tensor<42x96xf32>, %b: tensor<42xf32>):
      %m = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x264xf32>, tensor<42x96xf32>) -> tensor<3x264x42xf32>
      %s = fact.add %m, %b : (tensor<3x264x42xf32>, tensor<42xf32>) -> tensor<3x264x42xf32>
      %t = fact.tanh %s : (tensor<3x264x42xf32>) -> tensor<3x264x42xf32>
      %o = fact.permute %t [0, 2, 1] : (tensor<3x264x42xf32>) -> tensor<3x42x264xf32>
      fact.yield %o : tensor<3x42x264xf32>
    } : tensor<3x42x264xf32>
    // Two operands that lie column by column, and one row by row.
    %w6 = fact.get_weight @w6 : tensor<40x96xbf16>
    %r6 = fact.fused "gemm_epilogue" ins(%x6, %w6, %c6, %d6, %y6 : tensor<3x96x264xbf16>, tensor<40x96xbf16>, tensor<3x40x264xbf16>, tensor<3x40x264xf32>, tensor<3x264x40xbf16>) {
    ^bb0(%x: tensor<3x96x264xbf16>, %w: tensor<40x96xbf16>, %c: tensor<3x40x264xbf16>, %d: tensor<3x40x264xf32>, %y: tensor<3x264x40xbf16>):
      %m = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x264xbf16>, tensor<40x96xbf16>) -> tensor<3x264x40xbf16>
      %c1 = fact.permute %c [0, 2, 1] : (tensor<3x40x264xbf16>) -> tensor<3x264x40xbf16>
      %d1 = fact.permute %d [0, 2, 1] : (tensor<3x40x264xf32>) -> tensor<3x264x40xf32>
      %d2 = fact.cast %d1 : (tensor<3x264x40xf32>) -> tensor<3x264x40xbf16>
      %s = fact.mul %m, %c1 : (tensor<3x264x40xbf16>, tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %t = fact.add %s, %d2 : (tensor<3x264x40xbf16>, tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %q = fact.sub %t, %y : (tensor<3x264x40xbf16>, tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %o = fact.permute %q [0, 2, 1] : (tensor<3x264x40xbf16>) -> tensor<3x40x264xbf16>
      fact.yield %o : tensor<3x40x264xbf16>
    } : tensor<3x40x264xbf16>
    // Two results: one row by row, one column by column, and an operand of the other kind.
    %w7 = fact.get_weight @w7 : tensor<40x96xbf16>
    %r7:2 = fact.fused "gemm_epilogue" ins(%x7, %w7, %c7 : tensor<3x96x264xbf16>, tensor<40x96xbf16>, tensor<3x40x264xbf16>) {
    ^bb0(%x: tensor<3x96x264xbf16>, %w: tensor<40x96xbf16>, %c: tensor<3x40x264xbf16>):
      %m = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x264xbf16>, tensor<40x96xbf16>) -> tensor<3x264x40xbf16>
      %c1 = fact.permute %c [0, 2, 1] : (tensor<3x40x264xbf16>) -> tensor<3x264x40xbf16>
      %q = fact.add %m, %c1 : (tensor<3x264x40xbf16>, tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %t = fact.relu %q : (tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %o = fact.permute %t [0, 2, 1] : (tensor<3x264x40xbf16>) -> tensor<3x40x264xbf16>
      fact.yield %q, %o : tensor<3x264x40xbf16>, tensor<3x40x264xbf16>
    } : tensor<3x264x40xbf16>, tensor<3x40x264xbf16>
    // The results in the other order.
    %w8 = fact.get_weight @w8 : tensor<40x96xbf16>
    %r8:2 = fact.fused "gemm_epilogue" ins(%x8, %w8, %c8 : tensor<3x96x264xbf16>, tensor<40x96xbf16>, tensor<3x264x40xbf16>) {
    ^bb0(%x: tensor<3x96x264xbf16>, %w: tensor<40x96xbf16>, %c: tensor<3x264x40xbf16>):
      %m = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x264xbf16>, tensor<40x96xbf16>) -> tensor<3x264x40xbf16>
      %q = fact.add %m, %c : (tensor<3x264x40xbf16>, tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %t = fact.relu %q : (tensor<3x264x40xbf16>) -> tensor<3x264x40xbf16>
      %o = fact.permute %t [0, 2, 1] : (tensor<3x264x40xbf16>) -> tensor<3x40x264xbf16>
      fact.yield %o, %q : tensor<3x40x264xbf16>, tensor<3x264x40xbf16>
    } : tensor<3x40x264xbf16>, tensor<3x264x40xbf16>
    // Rows of an lhs in columns that fill no 16 bytes, at a pitch that does.
    %w9 = fact.get_weight @w9 : tensor<40x96xbf16>
    %r9 = fact.fused "gemm_epilogue" ins(%x9, %w9 : tensor<3x96x264xbf16>, tensor<40x96xbf16>) {
    ^bb0(%x: tensor<3x96x264xbf16>, %w: tensor<40x96xbf16>):
      %p = fact.slice %x dim 2 start 0 : (tensor<3x96x264xbf16>) -> tensor<3x96x261xbf16>
      %m = fact.matmul %p, %w transpose_a transpose_b : (tensor<3x96x261xbf16>, tensor<40x96xbf16>) -> tensor<3x261x40xbf16>
      %t = fact.relu %m : (tensor<3x261x40xbf16>) -> tensor<3x261x40xbf16>
      fact.yield %t : tensor<3x261x40xbf16>
    } : tensor<3x261x40xbf16>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7#0, %r7#1, %r8#0, %r8#1, %r9 : tensor<3x100x28x32xbf16>, tensor<5x50x27x28xf32>, tensor<4x136x504xf16>, tensor<3x42x264xbf16>, tensor<3x42x264xf32>, tensor<3x42x264xf32>, tensor<3x40x264xbf16>, tensor<3x264x40xbf16>, tensor<3x40x264xbf16>, tensor<3x40x264xbf16>, tensor<3x264x40xbf16>, tensor<3x261x40xbf16>
  }
}
