func.func @main(%x: tensor<256x128xbf16>, %w: tensor<128x512xbf16>, %y: tensor<64xf32>) -> (tensor<256x512xbf16>, tensor<64xf32>) {
  %0 = fact.matmul %x, %w : (tensor<256x128xbf16>, tensor<128x512xbf16>) -> tensor<256x512xbf16>
  %1 = fact.relu %y : (tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<256x512xbf16>, tensor<64xf32>
}
