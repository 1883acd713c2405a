// Booleans and integers in the epilogues of products: of the product's size, per row, per column
// and one for all; test_families.py lets fact-tune check their kernels against the references.

module @masks attributes {fact.target = #fact.machine<"h200">} {
  fact.weight @w5 : tensor<160x96xbf16>
  fact.weight @v5 : tensor<160x96xbf16>
  fact.weight @w6 : tensor<80x96xbf16>
  fact.weight @v6 : tensor<48x96xbf16>
  func.func @main(%x0: tensor<200x136xbf16>, %y0: tensor<136x208xbf16>, %m0: tensor<200x208xi1>, %c0: tensor<200x208xbf16>, %x1: tensor<3x72x64xf16>, %y1: tensor<3x64x144xf16>, %m1: tensor<72x144xi1>, %x2: tensor<136x96xf32>, %y2: tensor<80x96xf32>, %m2: tensor<136x80xi1>, %n2: tensor<136x1xi1>, %c2: tensor<136x80xf32>, %x3: tensor<136x96xf32>, %y3: tensor<96x80xf32>, %m3: tensor<80xi1>, %i3: tensor<136x80xi64>, %x4: tensor<3x96x272xbf16>, %w4: tensor<48x96xbf16>, %m4: tensor<3x48x272xi1>, %i4: tensor<i64>, %x5: tensor<136x96xbf16>, %m5: tensor<136x160xi1>, %x6: tensor<136x96xbf16>, %i6: tensor<136x80xi32>, %m6: tensor<48xi1>, %x7: tensor<264x72xbf16>, %y7: tensor<72x96xbf16>, %i7: tensor<264x96xi8>, %j7: tensor<264x1xi64>, %k7: tensor<96xi32>) -> (tensor<200x208xbf16>, tensor<3x72x144xf16>, tensor<136x80xf32>, tensor<136x80xf32>, tensor<3x48x272xbf16>, tensor<136x160xbf16>, tensor<136x80xbf16>, tensor<136x48xbf16>, tensor<264x96xbf16>) {
    // A choice between the product and another matrix.
    %r0 = fact.fused "gemm_epilogue" ins(%x0, %y0, %m0, %c0 : tensor<200x136xbf16>, tensor<136x208xbf16>, tensor<200x208xi1>, tensor<200x208xbf16>) {
    ^bb0(%x: tensor<200x136xbf16>, %y: tensor<136x208xbf16>, %m: tensor<200x208xi1>, %c: tensor<200x208xbf16>):
      %p = fact.matmul %x, %y : (tensor<200x136xbf16>, tensor<136x208xbf16>) -> tensor<200x208xbf16>
      %s = fact.select %m, %p, %c : (tensor<200x208xi1>, tensor<200x208xbf16>, tensor<200x208xbf16>) -> tensor<200x208xbf16>
      fact.yield %s : tensor<200x208xbf16>
    } : tensor<200x208xbf16>
    // A fill, with no other matrix; batches share the mask.
    %r1 = fact.fused "gemm_epilogue" ins(%x1, %y1, %m1 : tensor<3x72x64xf16>, tensor<3x64x144xf16>, tensor<72x144xi1>) {
    ^bb0(%x: tensor<3x72x64xf16>, %y: tensor<3x64x144xf16>, %m: tensor<72x144xi1>):
      %f = fact.constant dense<-1000.0> : tensor<f16>
      %p = fact.matmul %x, %y : (tensor<3x72x64xf16>, tensor<3x64x144xf16>) -> tensor<3x72x144xf16>
      %s = fact.select %m, %f, %p : (tensor<72x144xi1>, tensor<f16>, tensor<3x72x144xf16>) -> tensor<3x72x144xf16>
      fact.yield %s : tensor<3x72x144xf16>
    } : tensor<3x72x144xf16>
    // Dropout in TF32, a mask per row, and a residual.
    %r2 = fact.fused "gemm_epilogue" ins(%x2, %y2, %m2, %n2, %c2 : tensor<136x96xf32>, tensor<80x96xf32>, tensor<136x80xi1>, tensor<136x1xi1>, tensor<136x80xf32>) {
    ^bb0(%x: tensor<136x96xf32>, %y: tensor<80x96xf32>, %m: tensor<136x80xi1>, %n: tensor<136x1xi1>, %c: tensor<136x80xf32>):
      %f = fact.constant dense<1.25> : tensor<f32>
      %p = fact.matmul %x, %y transpose_b tf32 : (tensor<136x96xf32>, tensor<80x96xf32>) -> tensor<136x80xf32>
      %k = fact.cast %m : (tensor<136x80xi1>) -> tensor<136x80xf32>
      %d = fact.mul %p, %k : (tensor<136x80xf32>, tensor<136x80xf32>) -> tensor<136x80xf32>
      %e = fact.mul %d, %f : (tensor<136x80xf32>, tensor<f32>) -> tensor<136x80xf32>
      %a = fact.add %e, %c : (tensor<136x80xf32>, tensor<136x80xf32>) -> tensor<136x80xf32>
      %s = fact.select %n, %a, %c : (tensor<136x1xi1>, tensor<136x80xf32>, tensor<136x80xf32>) -> tensor<136x80xf32>
      fact.yield %s : tensor<136x80xf32>
    } : tensor<136x80xf32>
    // Strict f32, a mask per column, and a matrix of i64 that is added.
    %r3 = fact.fused "gemm_epilogue" ins(%x3, %y3, %m3, %i3 : tensor<136x96xf32>, tensor<96x80xf32>, tensor<80xi1>, tensor<136x80xi64>) {
    ^bb0(%x: tensor<136x96xf32>, %y: tensor<96x80xf32>, %m: tensor<80xi1>, %i: tensor<136x80xi64>):
      %p = fact.matmul %x, %y : (tensor<136x96xf32>, tensor<96x80xf32>) -> tensor<136x80xf32>
      %k = fact.cast %i : (tensor<136x80xi64>) -> tensor<136x80xf32>
      %a = fact.add %p, %k : (tensor<136x80xf32>, tensor<136x80xf32>) -> tensor<136x80xf32>
      %s = fact.select %m, %a, %p : (tensor<80xi1>, tensor<136x80xf32>, tensor<136x80xf32>) -> tensor<136x80xf32>
      fact.yield %s : tensor<136x80xf32>
    } : tensor<136x80xf32>
    // Channels first, as the mask is, and one number for all.
    %r4 = fact.fused "gemm_epilogue" ins(%x4, %w4, %m4, %i4 : tensor<3x96x272xbf16>, tensor<48x96xbf16>, tensor<3x48x272xi1>, tensor<i64>) {
    ^bb0(%x: tensor<3x96x272xbf16>, %w: tensor<48x96xbf16>, %m: tensor<3x48x272xi1>, %i: tensor<i64>):
      %p = fact.matmul %x, %w transpose_a transpose_b : (tensor<3x96x272xbf16>, tensor<48x96xbf16>) -> tensor<3x272x48xbf16>
      %q = fact.permute %m [0, 2, 1] : (tensor<3x48x272xi1>) -> tensor<3x272x48xi1>
      %k = fact.cast %i : (tensor<i64>) -> tensor<bf16>
      %s = fact.select %q, %p, %k : (tensor<3x272x48xi1>, tensor<3x272x48xbf16>, tensor<bf16>) -> tensor<3x272x48xbf16>
      %o = fact.permute %s [0, 2, 1] : (tensor<3x272x48xbf16>) -> tensor<3x48x272xbf16>
      fact.yield %o : tensor<3x48x272xbf16>
    } : tensor<3x48x272xbf16>
    // Two products, and a mask of their common result.
    %w5 = fact.get_weight @w5 : tensor<160x96xbf16>
    %v5 = fact.get_weight @v5 : tensor<160x96xbf16>
    %r5 = fact.fused "gated_gemm" ins(%x5, %w5, %v5, %m5 : tensor<136x96xbf16>, tensor<160x96xbf16>, tensor<160x96xbf16>, tensor<136x160xi1>) {
    ^bb0(%x: tensor<136x96xbf16>, %w: tensor<160x96xbf16>, %v: tensor<160x96xbf16>, %m: tensor<136x160xi1>):
      %f = fact.constant dense<0.0> : tensor<bf16>
      %p = fact.matmul %x, %w transpose_b : (tensor<136x96xbf16>, tensor<160x96xbf16>) -> tensor<136x160xbf16>
      %q = fact.matmul %x, %v transpose_b : (tensor<136x96xbf16>, tensor<160x96xbf16>) -> tensor<136x160xbf16>
      %g = fact.silu %p : (tensor<136x160xbf16>) -> tensor<136x160xbf16>
      %h = fact.mul %g, %q : (tensor<136x160xbf16>, tensor<136x160xbf16>) -> tensor<136x160xbf16>
      %s = fact.select %m, %h, %f : (tensor<136x160xi1>, tensor<136x160xbf16>, tensor<bf16>) -> tensor<136x160xbf16>
      fact.yield %s : tensor<136x160xbf16>
    } : tensor<136x160xbf16>
    // Two results of one left factor.
    %w6 = fact.get_weight @w6 : tensor<80x96xbf16>
    %v6 = fact.get_weight @v6 : tensor<48x96xbf16>
    %r6:2 = fact.fused "grouped_gemm" ins(%x6, %w6, %v6, %i6, %m6 : tensor<136x96xbf16>, tensor<80x96xbf16>, tensor<48x96xbf16>, tensor<136x80xi32>, tensor<48xi1>) {
    ^bb0(%x: tensor<136x96xbf16>, %w: tensor<80x96xbf16>, %v: tensor<48x96xbf16>, %i: tensor<136x80xi32>, %m: tensor<48xi1>):
      %f = fact.constant dense<2.0> : tensor<bf16>
      %p = fact.matmul %x, %w transpose_b : (tensor<136x96xbf16>, tensor<80x96xbf16>) -> tensor<136x80xbf16>
      %k = fact.cast %i : (tensor<136x80xi32>) -> tensor<136x80xbf16>
      %a = fact.add %p, %k : (tensor<136x80xbf16>, tensor<136x80xbf16>) -> tensor<136x80xbf16>
      %q = fact.matmul %x, %v transpose_b : (tensor<136x96xbf16>, tensor<48x96xbf16>) -> tensor<136x48xbf16>
      %s = fact.select %m, %q, %f : (tensor<48xi1>, tensor<136x48xbf16>, tensor<bf16>) -> tensor<136x48xbf16>
      fact.yield %a, %s : tensor<136x80xbf16>, tensor<136x48xbf16>
    } : tensor<136x80xbf16>, tensor<136x48xbf16>
    // Integers of three widths that are compared: floats would round them.
    %r7 = fact.fused "gemm_epilogue" ins(%x7, %y7, %i7, %j7, %k7 : tensor<264x72xbf16>, tensor<72x96xbf16>, tensor<264x96xi8>, tensor<264x1xi64>, tensor<96xi32>) {
    ^bb0(%x: tensor<264x72xbf16>, %y: tensor<72x96xbf16>, %i: tensor<264x96xi8>, %j: tensor<264x1xi64>, %k: tensor<96xi32>):
      %p = fact.matmul %x, %y : (tensor<264x72xbf16>, tensor<72x96xbf16>) -> tensor<264x96xbf16>
      %l = fact.cast %k : (tensor<96xi32>) -> tensor<96xi64>
      %e = fact.compare le %j, %l : (tensor<264x1xi64>, tensor<96xi64>) -> tensor<264x96xi1>
      %b = fact.cast %i : (tensor<264x96xi8>) -> tensor<264x96xbf16>
      %s = fact.select %e, %p, %b : (tensor<264x96xi1>, tensor<264x96xbf16>, tensor<264x96xbf16>) -> tensor<264x96xbf16>
      fact.yield %s : tensor<264x96xbf16>
    } : tensor<264x96xbf16>
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6#0, %r6#1, %r7 : tensor<200x208xbf16>, tensor<3x72x144xf16>, tensor<136x80xf32>, tensor<136x80xf32>, tensor<3x48x272xbf16>, tensor<136x160xbf16>, tensor<136x80xbf16>, tensor<136x48xbf16>, tensor<264x96xbf16>
  }
}
