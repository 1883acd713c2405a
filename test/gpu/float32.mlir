// Products of f32, strict and in TF32, and of f64; test_families.py lets fact-tune check
// their kernels against the references.

module @float32 attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @wg : tensor<328x260xf32>
  fact.weight @bg : tensor<328xf32>
  fact.weight @wo : tensor<97x136xf32>
  fact.weight @wt : tensor<136x96xf32>
  fact.weight @bt : tensor<136xf32>
  fact.weight @wa : tensor<328x264xf32>
  fact.weight @wb : tensor<328x264xf32>
  fact.weight @wk : tensor<72x264xf32>
  fact.weight @wv : tensor<260x1xf32>
  fact.weight @ww : tensor<260x520xf32>
  func.func @main(%columns: tensor<3x96x200xf32>, %x: tensor<4x130x260xf32>, %x2: tensor<4x130x264xf32>, %res: tensor<4x130x328xf32>, %odd: tensor<3x97x200xf32>, %g: tensor<520x260xf32>, %p: tensor<6x65x40xf32>, %q: tensor<6x40x68xf32>, %d: tensor<130x66xf64>, %e: tensor<66x35xf64>) -> (tensor<3x200x136xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<3x200x136xf32>, tensor<3x200x136xf32>, tensor<520x520xf32>, tensor<520x520xf32>, tensor<6x65x68xf32>, tensor<6x65x68xf32>, tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>, tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<4x130x72xf32>, tensor<4x130x328xf32>, tensor<4x130x72xf32>, tensor<520x1xf32>, tensor<520x1xf32>, tensor<520x520xf32>, tensor<520x520xf32>, tensor<130x35xf64>) {
    %wg = fact.get_weight @wg : tensor<328x260xf32>
    %bg = fact.get_weight @bg : tensor<328xf32>
    %wo = fact.get_weight @wo : tensor<97x136xf32>
    %wa = fact.get_weight @wa : tensor<328x264xf32>
    %wb = fact.get_weight @wb : tensor<328x264xf32>
    %wk = fact.get_weight @wk : tensor<72x264xf32>
    %wv = fact.get_weight @wv : tensor<260x1xf32>
    %ww = fact.get_weight @ww : tensor<260x520xf32>
    %chains = fact.fused "gemm_epilogue" ins(%x, %wg, %bg, %res : tensor<4x130x260xf32>, tensor<328x260xf32>, tensor<328xf32>, tensor<4x130x328xf32>) {
  ^bb0(%a0: tensor<4x130x260xf32>, %a1: tensor<328x260xf32>, %a2: tensor<328xf32>, %a3: tensor<4x130x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x260xf32>, tensor<328x260xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.gelu %2 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %4 : tensor<4x130x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 128x64x32], cluster = [2x1, 1x1], kernel = [cooperative], swizzle = [1]>) : tensor<4x130x328xf32>
    %chaint = fact.fused "gemm_epilogue" ins(%x, %wg, %bg, %res : tensor<4x130x260xf32>, tensor<328x260xf32>, tensor<328xf32>, tensor<4x130x328xf32>) {
  ^bb0(%a0: tensor<4x130x260xf32>, %a1: tensor<328x260xf32>, %a2: tensor<328xf32>, %a3: tensor<4x130x328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x260xf32>, tensor<328x260xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.gelu %2 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %4 : tensor<4x130x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 128x64x32], cluster = [2x1, 1x1], kernel = [cooperative], swizzle = [1]>) : tensor<4x130x328xf32>
    %odds = fact.fused "gemm_epilogue" ins(%odd, %wo : tensor<3x97x200xf32>, tensor<97x136xf32>) {
  ^bb0(%a0: tensor<3x97x200xf32>, %a1: tensor<97x136xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a : (tensor<3x97x200xf32>, tensor<97x136xf32>) -> tensor<3x200x136xf32>
      %2 = fact.relu %1 : (tensor<3x200x136xf32>) -> tensor<3x200x136xf32>
      fact.yield %2 : tensor<3x200x136xf32>
    } : tensor<3x200x136xf32>
    %oddt = fact.fused "gemm_epilogue" ins(%odd, %wo : tensor<3x97x200xf32>, tensor<97x136xf32>) {
  ^bb0(%a0: tensor<3x97x200xf32>, %a1: tensor<97x136xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a tf32 : (tensor<3x97x200xf32>, tensor<97x136xf32>) -> tensor<3x200x136xf32>
      %2 = fact.relu %1 : (tensor<3x200x136xf32>) -> tensor<3x200x136xf32>
      fact.yield %2 : tensor<3x200x136xf32>
    } : tensor<3x200x136xf32>
    // A in columns, which TF32 reads through registers.
    %wt = fact.get_weight @wt : tensor<136x96xf32>
    %bt = fact.get_weight @bt : tensor<136xf32>
    %transposedt = fact.fused "gemm_epilogue" ins(%columns, %wt, %bt : tensor<3x96x200xf32>, tensor<136x96xf32>, tensor<136xf32>) {
  ^bb0(%a0: tensor<3x96x200xf32>, %a1: tensor<136x96xf32>, %a2: tensor<136xf32>):
      %1 = fact.matmul %a0, %a1 transpose_a transpose_b tf32 : (tensor<3x96x200xf32>, tensor<136x96xf32>) -> tensor<3x200x136xf32>
      %2 = fact.add %1, %a2 : (tensor<3x200x136xf32>, tensor<136xf32>) -> tensor<3x200x136xf32>
      %3 = fact.relu %2 : (tensor<3x200x136xf32>) -> tensor<3x200x136xf32>
      fact.yield %3 : tensor<3x200x136xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 128x64x32], cluster = [2x1, 1x2], kernel = [pingpong, cooperative, stream_k], swizzle = [1]>) : tensor<3x200x136xf32>
    %grams = fact.fused "gemm_epilogue" ins(%g : tensor<520x260xf32>) {
  ^bb0(%a0: tensor<520x260xf32>):
      %1 = fact.matmul %a0, %a0 transpose_b : (tensor<520x260xf32>, tensor<520x260xf32>) -> tensor<520x520xf32>
      %2 = fact.sigmoid %1 : (tensor<520x520xf32>) -> tensor<520x520xf32>
      fact.yield %2 : tensor<520x520xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 128x128x32], cluster = [1x1], kernel = [stream_k], swizzle = [1]>) : tensor<520x520xf32>
    %gramt = fact.fused "gemm_epilogue" ins(%g : tensor<520x260xf32>) {
  ^bb0(%a0: tensor<520x260xf32>):
      %1 = fact.matmul %a0, %a0 transpose_b tf32 : (tensor<520x260xf32>, tensor<520x260xf32>) -> tensor<520x520xf32>
      %2 = fact.sigmoid %1 : (tensor<520x520xf32>) -> tensor<520x520xf32>
      fact.yield %2 : tensor<520x520xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 128x128x32], cluster = [1x1], kernel = [stream_k], swizzle = [1]>) : tensor<520x520xf32>
    %batcheds = fact.fused "gemm_epilogue" ins(%p, %q : tensor<6x65x40xf32>, tensor<6x40x68xf32>) {
  ^bb0(%a0: tensor<6x65x40xf32>, %a1: tensor<6x40x68xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<6x65x40xf32>, tensor<6x40x68xf32>) -> tensor<6x65x68xf32>
      %2 = fact.neg %1 : (tensor<6x65x68xf32>) -> tensor<6x65x68xf32>
      fact.yield %2 : tensor<6x65x68xf32>
    } : tensor<6x65x68xf32>
    %batchedt = fact.fused "gemm_epilogue" ins(%p, %q : tensor<6x65x40xf32>, tensor<6x40x68xf32>) {
  ^bb0(%a0: tensor<6x65x40xf32>, %a1: tensor<6x40x68xf32>):
      %1 = fact.matmul %a0, %a1 tf32 : (tensor<6x65x40xf32>, tensor<6x40x68xf32>) -> tensor<6x65x68xf32>
      %2 = fact.neg %1 : (tensor<6x65x68xf32>) -> tensor<6x65x68xf32>
      fact.yield %2 : tensor<6x65x68xf32>
    } : tensor<6x65x68xf32>
    %rowss:3 = fact.fused "gemm_epilogue" ins(%x, %wg, %bg : tensor<4x130x260xf32>, tensor<328x260xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x260xf32>, %a1: tensor<328x260xf32>, %a2: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x260xf32>, tensor<328x260xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.reduce mean %2 dims [2] : (tensor<4x130x328xf32>) -> tensor<4x130xf32>
      %4 = fact.reduce max %1 dims [1] : (tensor<4x130x328xf32>) -> tensor<4x328xf32>
      fact.yield %2, %3, %4 : tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x128x32], cluster = [2x1, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>
    %rowst:3 = fact.fused "gemm_epilogue" ins(%x, %wg, %bg : tensor<4x130x260xf32>, tensor<328x260xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x260xf32>, %a1: tensor<328x260xf32>, %a2: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x260xf32>, tensor<328x260xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a2 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.reduce mean %2 dims [2] : (tensor<4x130x328xf32>) -> tensor<4x130xf32>
      %4 = fact.reduce max %1 dims [1] : (tensor<4x130x328xf32>) -> tensor<4x328xf32>
      fact.yield %2, %3, %4 : tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x64x32, 64x128x32], cluster = [2x1, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>
    %gateds = fact.fused "gated_gemm" ins(%x2, %wa, %wb, %bg : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<328x264xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<328x264xf32>, %a3: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.silu %1 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %5 = fact.mul %2, %4 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %5 : tensor<4x130x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 64x128x32], cluster = [2x1, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>
    %gatedt = fact.fused "gated_gemm" ins(%x2, %wa, %wb, %bg : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<328x264xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<328x264xf32>, %a3: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.silu %1 : (tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.matmul %a0, %a2 transpose_b tf32 : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %4 = fact.add %3, %a3 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %5 = fact.mul %2, %4 : (tensor<4x130x328xf32>, tensor<4x130x328xf32>) -> tensor<4x130x328xf32>
      fact.yield %5 : tensor<4x130x328xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 64x128x32], cluster = [2x1, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>
    %groupeds:2 = fact.fused "grouped_gemm" ins(%x2, %wa, %wk, %bg : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<72x264xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<72x264xf32>, %a3: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a3 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.matmul %a0, %a2 transpose_b : (tensor<4x130x264xf32>, tensor<72x264xf32>) -> tensor<4x130x72xf32>
      %4 = fact.gelu %3 : (tensor<4x130x72xf32>) -> tensor<4x130x72xf32>
      fact.yield %2, %4 : tensor<4x130x328xf32>, tensor<4x130x72xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 64x64x32], cluster = [1x2, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>, tensor<4x130x72xf32>
    %groupedt:2 = fact.fused "grouped_gemm" ins(%x2, %wa, %wk, %bg : tensor<4x130x264xf32>, tensor<328x264xf32>, tensor<72x264xf32>, tensor<328xf32>) {
  ^bb0(%a0: tensor<4x130x264xf32>, %a1: tensor<328x264xf32>, %a2: tensor<72x264xf32>, %a3: tensor<328xf32>):
      %1 = fact.matmul %a0, %a1 transpose_b tf32 : (tensor<4x130x264xf32>, tensor<328x264xf32>) -> tensor<4x130x328xf32>
      %2 = fact.add %1, %a3 : (tensor<4x130x328xf32>, tensor<328xf32>) -> tensor<4x130x328xf32>
      %3 = fact.matmul %a0, %a2 transpose_b tf32 : (tensor<4x130x264xf32>, tensor<72x264xf32>) -> tensor<4x130x72xf32>
      %4 = fact.gelu %3 : (tensor<4x130x72xf32>) -> tensor<4x130x72xf32>
      fact.yield %2, %4 : tensor<4x130x328xf32>, tensor<4x130x72xf32>
    } space(#fact.sm90_gemm_space<tile = [128x128x32, 64x64x32], cluster = [1x2, 1x1], kernel = [cooperative, pingpong], swizzle = [1]>) : tensor<4x130x328xf32>, tensor<4x130x72xf32>
    %plains = fact.fused "gemm_epilogue" ins(%g, %wv : tensor<520x260xf32>, tensor<260x1xf32>) {
  ^bb0(%a0: tensor<520x260xf32>, %a1: tensor<260x1xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<520x260xf32>, tensor<260x1xf32>) -> tensor<520x1xf32>
      fact.yield %1 : tensor<520x1xf32>
    } : tensor<520x1xf32>
    %plaint = fact.fused "gemm_epilogue" ins(%g, %wv : tensor<520x260xf32>, tensor<260x1xf32>) {
  ^bb0(%a0: tensor<520x260xf32>, %a1: tensor<260x1xf32>):
      %1 = fact.matmul %a0, %a1 tf32 : (tensor<520x260xf32>, tensor<260x1xf32>) -> tensor<520x1xf32>
      fact.yield %1 : tensor<520x1xf32>
    } : tensor<520x1xf32>
    %wides = fact.fused "gemm_epilogue" ins(%g, %ww : tensor<520x260xf32>, tensor<260x520xf32>) {
  ^bb0(%a0: tensor<520x260xf32>, %a1: tensor<260x520xf32>):
      %1 = fact.matmul %a0, %a1 : (tensor<520x260xf32>, tensor<260x520xf32>) -> tensor<520x520xf32>
      fact.yield %1 : tensor<520x520xf32>
    } : tensor<520x520xf32>
    %widet = fact.fused "gemm_epilogue" ins(%g, %ww : tensor<520x260xf32>, tensor<260x520xf32>) {
  ^bb0(%a0: tensor<520x260xf32>, %a1: tensor<260x520xf32>):
      %1 = fact.matmul %a0, %a1 tf32 : (tensor<520x260xf32>, tensor<260x520xf32>) -> tensor<520x520xf32>
      fact.yield %1 : tensor<520x520xf32>
    } : tensor<520x520xf32>
    %double = fact.fused "gemm_epilogue" ins(%d, %e : tensor<130x66xf64>, tensor<66x35xf64>) {
  ^bb0(%a0: tensor<130x66xf64>, %a1: tensor<66x35xf64>):
      %1 = fact.matmul %a0, %a1 : (tensor<130x66xf64>, tensor<66x35xf64>) -> tensor<130x35xf64>
      fact.yield %1 : tensor<130x35xf64>
    } : tensor<130x35xf64>
    return %transposedt, %chains, %chaint, %odds, %oddt, %grams, %gramt, %batcheds, %batchedt, %rowss#0, %rowss#1, %rowss#2, %rowst#0, %rowst#1, %rowst#2, %gateds, %gatedt, %groupeds#0, %groupeds#1, %groupedt#0, %groupedt#1, %plains, %plaint, %wides, %widet, %double : tensor<3x200x136xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<3x200x136xf32>, tensor<3x200x136xf32>, tensor<520x520xf32>, tensor<520x520xf32>, tensor<6x65x68xf32>, tensor<6x65x68xf32>, tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>, tensor<4x130x328xf32>, tensor<4x130xf32>, tensor<4x328xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<4x130x328xf32>, tensor<4x130x72xf32>, tensor<4x130x328xf32>, tensor<4x130x72xf32>, tensor<520x1xf32>, tensor<520x1xf32>, tensor<520x520xf32>, tensor<520x520xf32>, tensor<130x35xf64>
  }
}
