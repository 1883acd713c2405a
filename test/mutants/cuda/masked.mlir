// A product of bf16 where a mask allows it, with integers of its rows and of its columns.

module @masked {
  func.func @main(%x: tensor<200x136xbf16>, %w: tensor<208x136xbf16>, %keep: tensor<200x208xi1>, %row: tensor<200x1xi64>, %column: tensor<208xi32>) -> (tensor<200x208xbf16>) {
    %r = fact.fused "gemm_epilogue" ins(%x, %w, %keep, %row, %column : tensor<200x136xbf16>, tensor<208x136xbf16>, tensor<200x208xi1>, tensor<200x1xi64>, tensor<208xi32>) {
    ^bb0(%a0: tensor<200x136xbf16>, %a1: tensor<208x136xbf16>, %a2: tensor<200x208xi1>, %a3: tensor<200x1xi64>, %a4: tensor<208xi32>):
      %0 = fact.matmul %a0, %a1 transpose_b : (tensor<200x136xbf16>, tensor<208x136xbf16>) -> tensor<200x208xbf16>
      %1 = fact.cast %a3 : (tensor<200x1xi64>) -> tensor<200x1xbf16>
      %2 = fact.cast %a4 : (tensor<208xi32>) -> tensor<208xbf16>
      %3 = fact.add %0, %1 : (tensor<200x208xbf16>, tensor<200x1xbf16>) -> tensor<200x208xbf16>
      %4 = fact.select %a2, %3, %2 : (tensor<200x208xi1>, tensor<200x208xbf16>, tensor<208xbf16>) -> tensor<200x208xbf16>
      fact.yield %4 : tensor<200x208xbf16>
    } space(#fact.sm90_gemm_space<tile = [128x128x64], cluster = [1x1], kernel = [cooperative], swizzle = [1]>) : tensor<200x208xbf16>
    return %r : tensor<200x208xbf16>
  }
}
