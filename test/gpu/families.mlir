// One region of each family and form that has no workload of its own; test_families.py
// lets fact-tune check their kernels against the references.

module @families attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @wq : tensor<512x256xbf16>
  fact.weight @wk : tensor<136x256xbf16>
  fact.weight @wv : tensor<72x256xbf16>
  fact.weight @bq : tensor<512xbf16>
  fact.weight @wg : tensor<328x256xbf16>
  fact.weight @wu : tensor<328x256xbf16>
  fact.weight @bg : tensor<328xbf16>
  fact.weight @bu : tensor<328xbf16>
  fact.weight @table : tensor<1000x264xbf16>
  fact.weight @positions : tensor<40x264xbf16>
  fact.weight @cos : tensor<26x256xbf16>
  fact.weight @sin : tensor<26x256xbf16>
  func.func @main(%x: tensor<4x130x256xbf16>, %res: tensor<4x130x328xbf16>, %f: tensor<64x33x520xf32>, %f2: tensor<64x33x520xf32>, %tokens: tensor<6x40xi64>, %xr: tensor<4x26x5x256xbf16>, %heads: tensor<2x4x100x64xbf16>, %kv: tensor<2x2x130x64xbf16>, %m: tensor<100x130xbf16>, %km: tensor<2x1x1x131xf32>) -> (tensor<4x130x512xbf16>, tensor<4x130x136xbf16>, tensor<4x130x72xbf16>, tensor<4x130x328xbf16>, tensor<4x130x328xbf16>, tensor<4x130x1xbf16>, tensor<4x130xbf16>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<4x130xi64>, tensor<64x33xi64>, tensor<6x40x264xbf16>, tensor<4x5x26x256xbf16>, tensor<4x5x26x256xbf16>, tensor<4x1x328xbf16>, tensor<4x130xbf16>, tensor<4x130x328xbf16>, tensor<328xbf16>, tensor<328xbf16>, tensor<2x100x4x64xbf16>, tensor<2x4x100x64xbf16>, tensor<4x130x1xbf16>, tensor<4x130x1xbf16>) {
    %wq = fact.get_weight @wq : tensor<512x256xbf16>
    %wk = fact.get_weight @wk : tensor<136x256xbf16>
    %wv = fact.get_weight @wv : tensor<72x256xbf16>
    %bq = fact.get_weight @bq : tensor<512xbf16>
    %r0:3 = fact.fused "grouped_gemm" ins(%x, %wq, %wk, %wv, %bq : tensor<4x130x256xbf16>, tensor<512x256xbf16>, tensor<136x256xbf16>, tensor<72x256xbf16>, tensor<512xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<512x256xbf16>, %a2: tensor<136x256xbf16>, %a3: tensor<72x256xbf16>, %a4: tensor<512xbf16>):
      %q = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<512x256xbf16>) -> tensor<4x130x512xbf16>
      %qb = fact.add %q, %a4 : (tensor<4x130x512xbf16>, tensor<512xbf16>) -> tensor<4x130x512xbf16>
      %k = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x256xbf16>, tensor<136x256xbf16>) -> tensor<4x130x136xbf16>
      %kr = fact.gelu %k : (tensor<4x130x136xbf16>) -> tensor<4x130x136xbf16>
      %v = fact.matmul %a0, %a3 transpose_b : (tensor<4x130x256xbf16>, tensor<72x256xbf16>) -> tensor<4x130x72xbf16>
      fact.yield %qb, %kr, %v : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>, tensor<4x130x72xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>, tensor<4x130x72xbf16>
    %wg = fact.get_weight @wg : tensor<328x256xbf16>
    %wu = fact.get_weight @wu : tensor<328x256xbf16>
    %bg = fact.get_weight @bg : tensor<328xbf16>
    %bu = fact.get_weight @bu : tensor<328xbf16>
    %r1 = fact.fused "gated_gemm" ins(%x, %wg, %wu, %bg, %bu, %res : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>, tensor<328xbf16>, tensor<4x130x328xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328x256xbf16>, %a3: tensor<328xbf16>, %a4: tensor<328xbf16>, %a5: tensor<4x130x328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a3 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.silu %2 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %4 = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %5 = fact.add %4, %a4 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %6 = fact.mul %3, %5 : (tensor<4x130x328xbf16>, tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %7 = fact.add %6, %a5 : (tensor<4x130x328xbf16>, tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      fact.yield %7 : tensor<4x130x328xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x130x328xbf16>
    %r2:3 = fact.fused "gemm_epilogue" ins(%x, %wg, %bg : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.reduce mean %2 dims [2] keep : (tensor<4x130x328xbf16>) -> tensor<4x130x1xbf16>
      %4 = fact.reduce max %1 dims [2] : (tensor<4x130x328xbf16>) -> tensor<4x130xbf16>
      %5 = fact.relu %2 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %6 = fact.exp %3 : (tensor<4x130x1xbf16>) -> tensor<4x130x1xbf16>
      fact.yield %5, %6, %4 : tensor<4x130x328xbf16>, tensor<4x130x1xbf16>, tensor<4x130xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x130x328xbf16>, tensor<4x130x1xbf16>, tensor<4x130xbf16>
    // Attention with a mask for each query and key, and under a causal mask with
    // one for the keys of each batch.
    %m0 = fact.fused "attention" ins(%heads, %kv, %m : tensor<2x4x100x64xbf16>, tensor<2x2x130x64xbf16>, tensor<100x130xbf16>) {
  ^bb0(%a0: tensor<2x4x100x64xbf16>, %a1: tensor<2x2x130x64xbf16>, %a2: tensor<100x130xbf16>):
      %1 = fact.attention %a0, %a1, %a1 mask %a2 scale 0.125 : (tensor<2x4x100x64xbf16>, tensor<2x2x130x64xbf16>, tensor<2x2x130x64xbf16>, tensor<100x130xbf16>) -> tensor<2x4x100x64xbf16>
      %2 = fact.permute %1 [0, 2, 1, 3] : (tensor<2x4x100x64xbf16>) -> tensor<2x100x4x64xbf16>
      fact.yield %2 : tensor<2x100x4x64xbf16>
    } : tensor<2x100x4x64xbf16>
    %m1 = fact.fused "attention" ins(%heads, %kv, %km : tensor<2x4x100x64xbf16>, tensor<2x2x130x64xbf16>, tensor<2x1x1x131xf32>) {
  ^bb0(%a0: tensor<2x4x100x64xbf16>, %a1: tensor<2x2x130x64xbf16>, %a2: tensor<2x1x1x131xf32>):
      %0 = fact.slice %a2 dim 3 start 1 : (tensor<2x1x1x131xf32>) -> tensor<2x1x1x130xf32>
      %1 = fact.attention %a0, %a1, %a1 mask %0 causal scale 0.125 : (tensor<2x4x100x64xbf16>, tensor<2x2x130x64xbf16>, tensor<2x2x130x64xbf16>, tensor<2x1x1x130xf32>) -> tensor<2x4x100x64xbf16>
      fact.yield %1 : tensor<2x4x100x64xbf16>
    } : tensor<2x4x100x64xbf16>
    // Columns of each batch and rows, of a product that is not stored.
    %c0:2 = fact.fused "gemm_epilogue" ins(%x, %wg, %bg : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.reduce mean %2 dims [1] keep : (tensor<4x130x328xbf16>) -> tensor<4x1x328xbf16>
      %4 = fact.add %3, %a2 : (tensor<4x1x328xbf16>, tensor<328xbf16>) -> tensor<4x1x328xbf16>
      %5 = fact.reduce min %1 dims [2] : (tensor<4x130x328xbf16>) -> tensor<4x130xbf16>
      fact.yield %4, %5 : tensor<4x1x328xbf16>, tensor<4x130xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x1x328xbf16>, tensor<4x130xbf16>
    // Columns of all batches beside the product.
    %c1:3 = fact.fused "gemm_epilogue" ins(%x, %wg, %res : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<4x130x328xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<4x130x328xbf16>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.reduce sum %2 dims [0, 1] : (tensor<4x130x328xbf16>) -> tensor<328xbf16>
      %4 = fact.reduce max %2 dims [0, 1] : (tensor<4x130x328xbf16>) -> tensor<328xbf16>
      fact.yield %2, %3, %4 : tensor<4x130x328xbf16>, tensor<328xbf16>, tensor<328xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x130x328xbf16>, tensor<328xbf16>, tensor<328xbf16>
    // Sums of exponentials of rows, guarded and not.
    %c2:2 = fact.fused "gemm_epilogue" ins(%x, %wg, %bg : tensor<4x130x256xbf16>, tensor<328x256xbf16>, tensor<328xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>, %a1: tensor<328x256xbf16>, %a2: tensor<328xbf16>):
      %zero = fact.constant dense<0.0> : tensor<bf16>
      %inf = fact.constant dense<0x7F800000> : tensor<f32>
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x256xbf16>, tensor<328x256xbf16>) -> tensor<4x130x328xbf16>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xbf16>, tensor<328xbf16>) -> tensor<4x130x328xbf16>
      %3 = fact.reduce max %2 dims [2] keep : (tensor<4x130x328xbf16>) -> tensor<4x130x1xbf16>
      %4 = fact.abs %3 : (tensor<4x130x1xbf16>) -> tensor<4x130x1xbf16>
      %5 = fact.compare eq %4, %inf : (tensor<4x130x1xbf16>, tensor<f32>) -> tensor<4x130x1xi1>
      %6 = fact.select %5, %zero, %3 : (tensor<4x130x1xi1>, tensor<bf16>, tensor<4x130x1xbf16>) -> tensor<4x130x1xbf16>
      %7 = fact.sub %2, %6 : (tensor<4x130x328xbf16>, tensor<4x130x1xbf16>) -> tensor<4x130x328xbf16>
      %8 = fact.exp %7 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %9 = fact.reduce sum %8 dims [2] keep : (tensor<4x130x328xbf16>) -> tensor<4x130x1xbf16>
      %10 = fact.log %9 : (tensor<4x130x1xbf16>) -> tensor<4x130x1xbf16>
      %11 = fact.add %10, %6 : (tensor<4x130x1xbf16>, tensor<4x130x1xbf16>) -> tensor<4x130x1xbf16>
      %12 = fact.reduce max %1 dims [2] keep : (tensor<4x130x328xbf16>) -> tensor<4x130x1xbf16>
      %13 = fact.sub %1, %12 : (tensor<4x130x328xbf16>, tensor<4x130x1xbf16>) -> tensor<4x130x328xbf16>
      %14 = fact.exp %13 : (tensor<4x130x328xbf16>) -> tensor<4x130x328xbf16>
      %15 = fact.reduce sum %14 dims [2] keep : (tensor<4x130x328xbf16>) -> tensor<4x130x1xbf16>
      fact.yield %11, %15 : tensor<4x130x1xbf16>, tensor<4x130x1xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64, 64x128x64, 128x64x64], cluster = [2x1, 1x1], kernel = [pingpong, cooperative], swizzle = [1]>) : tensor<4x130x1xbf16>, tensor<4x130x1xbf16>
    %r3:2 = fact.fused "rowwise" ins(%f, %f2 : tensor<64x33x520xf32>, tensor<64x33x520xf32>) {
  ^bb0(%a0: tensor<64x33x520xf32>, %a1: tensor<64x33x520xf32>):
      %1 = fact.mul %a0, %a1 : (tensor<64x33x520xf32>, tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %t = fact.tanh %1 : (tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %2 = fact.reduce sum %t dims [2] keep : (tensor<64x33x520xf32>) -> tensor<64x33x1xf32>
      %3 = fact.sub %t, %2 : (tensor<64x33x520xf32>, tensor<64x33x1xf32>) -> tensor<64x33x520xf32>
      %4 = fact.reshape %2 : (tensor<64x33x1xf32>) -> tensor<64x33xf32>
      fact.yield %3, %4 : tensor<64x33x520xf32>, tensor<64x33xf32>
    } : tensor<64x33x520xf32>, tensor<64x33xf32>
    %r4:2 = fact.fused "rowwise" ins(%f, %f2 : tensor<64x33x520xf32>, tensor<64x33x520xf32>) {
  ^bb0(%a0: tensor<64x33x520xf32>, %a1: tensor<64x33x520xf32>):
      %1 = fact.mul %a0, %a1 : (tensor<64x33x520xf32>, tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %t = fact.tanh %1 : (tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %2 = fact.reduce min %t dims [2] keep : (tensor<64x33x520xf32>) -> tensor<64x33x1xf32>
      %3 = fact.sub %t, %2 : (tensor<64x33x520xf32>, tensor<64x33x1xf32>) -> tensor<64x33x520xf32>
      %4 = fact.reshape %2 : (tensor<64x33x1xf32>) -> tensor<64x33xf32>
      fact.yield %3, %4 : tensor<64x33x520xf32>, tensor<64x33xf32>
    } : tensor<64x33x520xf32>, tensor<64x33xf32>
    %r5:2 = fact.fused "rowwise" ins(%f, %f2 : tensor<64x33x520xf32>, tensor<64x33x520xf32>) {
  ^bb0(%a0: tensor<64x33x520xf32>, %a1: tensor<64x33x520xf32>):
      %1 = fact.mul %a0, %a1 : (tensor<64x33x520xf32>, tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %t = fact.tanh %1 : (tensor<64x33x520xf32>) -> tensor<64x33x520xf32>
      %2 = fact.reduce prod %t dims [2] keep : (tensor<64x33x520xf32>) -> tensor<64x33x1xf32>
      %3 = fact.sub %t, %2 : (tensor<64x33x520xf32>, tensor<64x33x1xf32>) -> tensor<64x33x520xf32>
      %4 = fact.reshape %2 : (tensor<64x33x1xf32>) -> tensor<64x33xf32>
      fact.yield %3, %4 : tensor<64x33x520xf32>, tensor<64x33xf32>
    } : tensor<64x33x520xf32>, tensor<64x33xf32>
    %r6 = fact.fused "rowwise" ins(%x : tensor<4x130x256xbf16>) {
  ^bb0(%a0: tensor<4x130x256xbf16>):
      %1 = fact.reduce argmax %a0 dims [2] : (tensor<4x130x256xbf16>) -> tensor<4x130xi64>
      fact.yield %1 : tensor<4x130xi64>
    } : tensor<4x130xi64>
    %r7 = fact.fused "rowwise" ins(%f : tensor<64x33x520xf32>) {
  ^bb0(%a0: tensor<64x33x520xf32>):
      %1 = fact.reduce argmin %a0 dims [2] : (tensor<64x33x520xf32>) -> tensor<64x33xi64>
      fact.yield %1 : tensor<64x33xi64>
    } : tensor<64x33xi64>
    %table = fact.get_weight @table : tensor<1000x264xbf16>
    %positions = fact.get_weight @positions : tensor<40x264xbf16>
    %r8 = fact.fused "pointwise" ins(%table, %tokens, %positions : tensor<1000x264xbf16>, tensor<6x40xi64>, tensor<40x264xbf16>) {
  ^bb0(%a0: tensor<1000x264xbf16>, %a1: tensor<6x40xi64>, %a2: tensor<40x264xbf16>):
      %1 = fact.gather %a0, %a1 dim 0 : (tensor<1000x264xbf16>, tensor<6x40xi64>) -> tensor<6x40x264xbf16>
      %2 = fact.add %1, %a2 : (tensor<6x40x264xbf16>, tensor<40x264xbf16>) -> tensor<6x40x264xbf16>
      fact.yield %2 : tensor<6x40x264xbf16>
    } : tensor<6x40x264xbf16>
    %cos = fact.get_weight @cos : tensor<26x256xbf16>
    %sin = fact.get_weight @sin : tensor<26x256xbf16>
    %r9 = fact.fused "pointwise" ins(%xr, %cos, %sin : tensor<4x26x5x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) {
  ^bb0(%a0: tensor<4x26x5x256xbf16>, %a1: tensor<26x256xbf16>, %a2: tensor<26x256xbf16>):
      %1 = fact.permute %a0 [0, 2, 1, 3] : (tensor<4x26x5x256xbf16>) -> tensor<4x5x26x256xbf16>
      %2 = fact.rotary %1, %a1, %a2 : (tensor<4x5x26x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) -> tensor<4x5x26x256xbf16>
      fact.yield %2 : tensor<4x5x26x256xbf16>
    } : tensor<4x5x26x256xbf16>
    %r10 = fact.fused "pointwise" ins(%xr, %cos, %sin : tensor<4x26x5x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) {
  ^bb0(%a0: tensor<4x26x5x256xbf16>, %a1: tensor<26x256xbf16>, %a2: tensor<26x256xbf16>):
      %1 = fact.permute %a0 [0, 2, 1, 3] : (tensor<4x26x5x256xbf16>) -> tensor<4x5x26x256xbf16>
      %2 = fact.rotary %1, %a1, %a2 interleaved : (tensor<4x5x26x256xbf16>, tensor<26x256xbf16>, tensor<26x256xbf16>) -> tensor<4x5x26x256xbf16>
      fact.yield %2 : tensor<4x5x26x256xbf16>
    } : tensor<4x5x26x256xbf16>
    return %r0#0, %r0#1, %r0#2, %r1, %r2#0, %r2#1, %r2#2, %r3#0, %r3#1, %r4#0, %r4#1, %r5#0, %r5#1, %r6, %r7, %r8, %r9, %r10, %c0#0, %c0#1, %c1#0, %c1#1, %c1#2, %m0, %m1, %c2#0, %c2#1 : tensor<4x130x512xbf16>, tensor<4x130x136xbf16>, tensor<4x130x72xbf16>, tensor<4x130x328xbf16>, tensor<4x130x328xbf16>, tensor<4x130x1xbf16>, tensor<4x130xbf16>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<64x33x520xf32>, tensor<64x33xf32>, tensor<4x130xi64>, tensor<64x33xi64>, tensor<6x40x264xbf16>, tensor<4x5x26x256xbf16>, tensor<4x5x26x256xbf16>, tensor<4x1x328xbf16>, tensor<4x130xbf16>, tensor<4x130x328xbf16>, tensor<328xbf16>, tensor<328xbf16>, tensor<2x100x4x64xbf16>, tensor<2x4x100x64xbf16>, tensor<4x130x1xbf16>, tensor<4x130x1xbf16>
  }
}
