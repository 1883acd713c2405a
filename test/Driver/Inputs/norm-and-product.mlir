// A width that the norm and the product share: the rows of both are alike.
fact.weight @gamma : tensor<1024xbf16>
fact.weight @w : tensor<1024x1024xbf16>
fact.weight @v : tensor<1024x1024xbf16>
func.func @main(%x: tensor<4096x1024xbf16>, %r: tensor<4096x1024xbf16>) -> (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) {
  %gamma = fact.get_weight @gamma : tensor<1024xbf16>
  %w = fact.get_weight @w : tensor<1024x1024xbf16>
  %v = fact.get_weight @v : tensor<1024x1024xbf16>
  %0 = fact.matmul %x, %v transpose_b : (tensor<4096x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<4096x1024xbf16>
  %1 = fact.add %0, %r : (tensor<4096x1024xbf16>, tensor<4096x1024xbf16>) -> tensor<4096x1024xbf16>
  %2 = fact.norm layer %1 weight %gamma eps 1.0e-5 : (tensor<4096x1024xbf16>, tensor<1024xbf16>) -> tensor<4096x1024xbf16>
  %3 = fact.matmul %2, %w transpose_b : (tensor<4096x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<4096x1024xbf16>
  %4 = fact.gelu %3 approximate tanh : (tensor<4096x1024xbf16>) -> tensor<4096x1024xbf16>
  return %1, %4 : tensor<4096x1024xbf16>, tensor<4096x1024xbf16>
}
