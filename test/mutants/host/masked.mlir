// A product of f32 where a mask allows it, with integers of its rows and of its columns.

module @masked {
  func.func @main(%x: tensor<33x70xf32>, %w: tensor<48x70xf32>, %keep: tensor<33x48xi1>, %row: tensor<33x1xi64>, %column: tensor<48xi32>) -> (tensor<33x48xf32>) {
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %keep, %row, %column : tensor<33x70xf32>, tensor<48x70xf32>, tensor<33x48xi1>, tensor<33x1xi64>, tensor<48xi32>) {
    ^bb0(%a0: tensor<33x70xf32>, %a1: tensor<48x70xf32>, %a2: tensor<33x48xi1>, %a3: tensor<33x1xi64>, %a4: tensor<48xi32>):
      %0 = fact.matmul %a0, %a1 transpose_b : (tensor<33x70xf32>, tensor<48x70xf32>) -> tensor<33x48xf32>
      %1 = fact.cast %a3 : (tensor<33x1xi64>) -> tensor<33x1xf32>
      %2 = fact.cast %a4 : (tensor<48xi32>) -> tensor<48xf32>
      %3 = fact.add %0, %1 : (tensor<33x48xf32>, tensor<33x1xf32>) -> tensor<33x48xf32>
      %4 = fact.select %a2, %3, %2 : (tensor<33x48xi1>, tensor<33x48xf32>, tensor<48xf32>) -> tensor<33x48xf32>
      fact.yield %4 : tensor<33x48xf32>
    } : tensor<33x48xf32>
    return %r : tensor<33x48xf32>
  }
}
