// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

func.func @f64(%x: tensor<64x64xf64>, %w: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-error @below {{a product of f64 runs in cuBLAS, without an epilogue}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf64>, tensor<64x64xf64>) {
  ^bb0(%a: tensor<64x64xf64>, %b: tensor<64x64xf64>):
    %1 = fact.matmul %a, %b : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    %2 = fact.relu %1 : (tensor<64x64xf64>) -> tensor<64x64xf64>
    fact.yield %2 : tensor<64x64xf64>
  } : tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}

// -----

func.func @prologue(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{the lhs of 'fact.matmul' must be an argument of the region or a view of one, and is computed by 'fact.relu'}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.relu %a : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %1, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %2 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @alignment(%x: tensor<64x60xf16>, %w: tensor<60x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{strides and offset of the lhs must be multiples of 16 bytes, and a row has 60 elements of 'f16'}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x60xf16>, tensor<60x64xf16>) {
  ^bb0(%a: tensor<64x60xf16>, %b: tensor<60x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<64x60xf16>, tensor<60x64xf16>) -> tensor<64x64xf16>
    %2 = fact.relu %1 : (tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %2 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @softmax(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{'fact.softmax' is not a pointwise op or a view}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.softmax %1 dim 1 : tensor<64x64xf16>
    fact.yield %2 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

// Columns of 60 elements of f16 are no multiple of 16 bytes.
func.func @transposed_result(%x: tensor<60x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x60xf16> {
  // expected-error @below {{a result must have contiguous rows or columns of whole 16 bytes, and its last views permute them}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<60x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<60x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<60x64xf16>, tensor<64x64xf16>) -> tensor<60x64xf16>
    %2 = fact.permute %1 [1, 0] : (tensor<60x64xf16>) -> tensor<64x60xf16>
    fact.yield %2 : tensor<64x60xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x60xf16>
  return %0 : tensor<64x60xf16>
}

// -----

func.func @reduced_batches(%x: tensor<2x32x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{'fact.reduce' must be over whole rows of a product, of 64 elements, or over whole columns, of 32}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x32x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<2x32x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<2x32x64xf16>, tensor<64x64xf16>) -> tensor<2x32x64xf16>
    %2 = fact.reduce sum %1 dims [0] : (tensor<2x32x64xf16>) -> tensor<32x64xf16>
    fact.yield %2 : tensor<32x64xf16>
  } : tensor<32x64xf16>
  return
}

// -----

func.func @many_batches(%x: tensor<70000x8x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{reduces at most 65535 batches, not 70000}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<70000x8x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<70000x8x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<70000x8x64xf16>, tensor<64x64xf16>) -> tensor<70000x8x64xf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<70000x8x64xf16>) -> tensor<70000x64xf16>
    fact.yield %2 : tensor<70000x64xf16>
  } : tensor<70000x64xf16>
  return
}

// -----

func.func @permuted_columns(%x: tensor<2x64x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{a reduced result must be contiguous, and its last views permute it}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<2x64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<2x64x64xf16>, tensor<64x64xf16>) -> tensor<2x64x64xf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<2x64x64xf16>) -> tensor<2x64xf16>
    %3 = fact.permute %2 [1, 0] : (tensor<2x64xf16>) -> tensor<64x2xf16>
    fact.yield %3 : tensor<64x2xf16>
  } : tensor<64x2xf16>
  return
}

// -----

func.func @places(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{reduces products by sum, mean, prod, max or min, not by 'argmax'}}
  %r:2 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.reduce argmax %1 dims [1] : (tensor<64x64xf16>) -> tensor<64xi64>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64xi64>
  } : tensor<64x64xf16>, tensor<64xi64>
  return
}

// -----

func.func @normalised(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{a result of type 'tensor<64x64xf16>' reads a reduction of the product, which is complete only after the last tile}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.reduce sum %1 dims [1] keep : (tensor<64x64xf16>) -> tensor<64x1xf16>
    %3 = fact.div %1, %2 : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return
}

// -----

func.func @reduced_stream_k(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{reductions of a product run after a cooperative or a pingpong kernel, not after stream_k}}
  %r:2 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<64x64xf16>) -> tensor<64xf16>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = stream_k, swizzle = 1>) : tensor<64x64xf16>, tensor<64xf16>
  return
}

// -----

// Sizes whose products do not fit 64 bits are no way around a limit.
func.func @overflow(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{tile K is a multiple of 16 up to 1024, not 72057594037927936}}
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x72057594037927936, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @rows(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{rows is 1 to 1024, not 576460752303423488}}
  %0 = fact.fused "rowwise" ins(%x : tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>):
    %1 = fact.softmax %a dim 1 : tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } schedule(#fact.cuda_row<threads = 32, rows = 576460752303423488>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @columns_of_one_row(%x: tensor<1x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{reduces columns of two or more elements, not of one}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<1x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<1x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<1x64xf16>, tensor<64x64xf16>) -> tensor<1x64xf16>
    %2 = fact.reduce sum %1 dims [0] : (tensor<1x64xf16>) -> tensor<64xf16>
    fact.yield %2 : tensor<64xf16>
  } : tensor<64xf16>
  return
}

// -----

func.func @short_columns_of_batches(%x: tensor<30x20x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{reduces columns that fill two thirds of tiles of 64 rows, or long sums, not 20 elements of 64}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<30x20x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<30x20x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<30x20x64xf16>, tensor<64x64xf16>) -> tensor<30x20x64xf16>
    %2 = fact.reduce max %1 dims [1] : (tensor<30x20x64xf16>) -> tensor<30x64xf16>
    fact.yield %2 : tensor<30x64xf16>
  } : tensor<30x64xf16>
  return
}

// -----

func.func @unread_reduction(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) {
  // expected-error @below {{no result is computed from a reduction alone}}
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.reduce sum %1 dims [1] : (tensor<64x64xf16>) -> tensor<64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return
}
