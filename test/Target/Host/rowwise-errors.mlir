// RUN: fact-translate --fact-to-host -split-input-file -verify-diagnostics %s

func.func @first_dimension(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{'fact.softmax' must be over the last dimensions of 'tensor<8x64xf32>', not over 0}}
  %0 = fact.fused "rowwise" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.softmax %a dim 0 : tensor<8x64xf32>
    fact.yield %1 : tensor<8x64xf32>
  } : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

func.func @two(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{needs exactly one norm, softmax or reduction, not 2}}
  %0 = fact.fused "rowwise" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.softmax %a dim 1 : tensor<8x64xf32>
    %2 = fact.softmax %1 dim 1 : tensor<8x64xf32>
    fact.yield %2 : tensor<8x64xf32>
  } : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

func.func @part(%x: tensor<8x64xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{a result of type 'tensor<8x2xf32>' must have 8 rows of 64 elements or of one}}
  %0 = fact.fused "rowwise" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.softmax %a dim 1 : tensor<8x64xf32>
    %2 = fact.slice %1 dim 1 start 0 : (tensor<8x64xf32>) -> tensor<8x2xf32>
    fact.yield %2 : tensor<8x2xf32>
  } : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

func.func @column(%x: tensor<8x64xf32>) -> tensor<8x1xf32> {
  // expected-error @below {{'fact.softmax' is not a pointwise op or a view}}
  %0 = fact.fused "rowwise" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.softmax %a dim 1 : tensor<8x64xf32>
    %2 = fact.slice %1 dim 1 start 0 : (tensor<8x64xf32>) -> tensor<8x1xf32>
    fact.yield %2 : tensor<8x1xf32>
  } : tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// -----

func.func @transposed_rows(%x: tensor<64x6x8xf32>) -> tensor<8x6x64xf32> {
  // expected-error @below {{an operand of type 'tensor<64x6x8xf32>' is read through views that strides cannot describe}}
  %0 = fact.fused "rowwise" ins(%x : tensor<64x6x8xf32>) {
  ^bb0(%a: tensor<64x6x8xf32>):
    %1 = fact.permute %a [2, 1, 0] : (tensor<64x6x8xf32>) -> tensor<8x6x64xf32>
    %2 = fact.reshape %1 : (tensor<8x6x64xf32>) -> tensor<16x192xf32>
    %3 = fact.softmax %2 dim 1 : tensor<16x192xf32>
    %4 = fact.reshape %3 : (tensor<16x192xf32>) -> tensor<8x6x64xf32>
    fact.yield %4 : tensor<8x6x64xf32>
  } : tensor<8x6x64xf32>
  return %0 : tensor<8x6x64xf32>
}
