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

// -----

func.func @shared(%x: tensor<300x400xf32>, %v: tensor<1x400xf32>) -> tensor<300xf32> {
  // expected-error @below {{would compute what its rows share for each of 300 rows}}
  %0 = fact.fused "rowwise" ins(%x, %v : tensor<300x400xf32>, tensor<1x400xf32>) {
  ^bb0(%a: tensor<300x400xf32>, %b: tensor<1x400xf32>):
    %1 = fact.tanh %b : (tensor<1x400xf32>) -> tensor<1x400xf32>
    %2 = fact.mul %a, %1 : (tensor<300x400xf32>, tensor<1x400xf32>) -> tensor<300x400xf32>
    %3 = fact.reduce sum %2 dims [1] : (tensor<300x400xf32>) -> tensor<300xf32>
    fact.yield %3 : tensor<300xf32>
  } : tensor<300xf32>
  return %0 : tensor<300xf32>
}

// -----

func.func @one_row(%x: tensor<1x64xf32>, %w: tensor<8x64xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{a product of one row or one column is a 'rowwise' sum}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<1x64xf32>, tensor<8x64xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<8x64xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<1x64xf32>, tensor<8x64xf32>) -> tensor<1x8xf32>
    fact.yield %1 : tensor<1x8xf32>
  } : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @columns_apart(%x: tensor<2x64xf32>, %w: tensor<8x64xf32>) -> tensor<2x8xf32> {
  // expected-error @below {{reads the rhs in place for one product of at most 8 rows}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x64xf32>, tensor<8x64xf32>) {
  ^bb0(%a: tensor<2x64xf32>, %b: tensor<8x64xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<2x64xf32>, tensor<8x64xf32>) -> tensor<2x8xf32>
    fact.yield %1 : tensor<2x8xf32>
  } schedule(#fact.host_stream<columns = 64>) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @no_windows(%x: tensor<32x64xf32>, %w: tensor<8x64xf32>) -> tensor<32x8xf32> {
  // expected-error @below {{multiplies windows of images, of whole images for each batch, whose columns are not reduced}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<32x64xf32>, tensor<8x64xf32>) {
  ^bb0(%a: tensor<32x64xf32>, %b: tensor<8x64xf32>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<32x64xf32>, tensor<8x64xf32>) -> tensor<32x8xf32>
    fact.yield %1 : tensor<32x8xf32>
  } schedule(#fact.host_windows<micro = 4x8, rows = 32, columns = 8>) : tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

// -----

func.func @rows_of_windows(%x: tensor<1x12x4xf32>, %w: tensor<16x12xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{a register tile has at most the 8 windows of a line as rows, not 12}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<1x12x4xf32>, tensor<16x12xf32>) {
  ^bb0(%a: tensor<1x12x4xf32>, %b: tensor<16x12xf32>):
    %1 = fact.windows %a dim 1 kernel [3] strides [1] dilations [2] : (tensor<1x12x4xf32>) -> tensor<1x8x3x4xf32>
    %2 = fact.reshape %1 : (tensor<1x8x3x4xf32>) -> tensor<8x12xf32>
    %3 = fact.matmul %2, %b transpose_b : (tensor<8x12xf32>, tensor<16x12xf32>) -> tensor<8x16xf32>
    fact.yield %3 : tensor<8x16xf32>
  } schedule(#fact.host_windows<micro = 12x8, rows = 36, columns = 8>) : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

func.func @columns_of_windows(%x: tensor<1x12x4xf32>, %w: tensor<16x12xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{columns must be a multiple of those of the register tile, 8, not 12}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<1x12x4xf32>, tensor<16x12xf32>) {
  ^bb0(%a: tensor<1x12x4xf32>, %b: tensor<16x12xf32>):
    %1 = fact.windows %a dim 1 kernel [3] strides [1] dilations [2] : (tensor<1x12x4xf32>) -> tensor<1x8x3x4xf32>
    %2 = fact.reshape %1 : (tensor<1x8x3x4xf32>) -> tensor<8x12xf32>
    %3 = fact.matmul %2, %b transpose_b : (tensor<8x12xf32>, tensor<16x12xf32>) -> tensor<8x16xf32>
    fact.yield %3 : tensor<8x16xf32>
  } schedule(#fact.host_windows<micro = 4x8, rows = 32, columns = 12>) : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

func.func @one_term(%x: tensor<9x1xf32>, %w: tensor<1x8xf32>) -> tensor<9x8xf32> {
  // expected-error @below {{a product of one term per sum is 'pointwise'}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<9x1xf32>, tensor<1x8xf32>) {
  ^bb0(%a: tensor<9x1xf32>, %b: tensor<1x8xf32>):
    %1 = fact.matmul %a, %b : (tensor<9x1xf32>, tensor<1x8xf32>) -> tensor<9x8xf32>
    fact.yield %1 : tensor<9x8xf32>
  } : tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}
