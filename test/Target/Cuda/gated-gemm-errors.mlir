// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

func.func @one(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{needs exactly two 'fact.matmul', not 1}}
  %0 = fact.fused "gated_gemm" ins(%x, %g : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @lhs(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{all 'fact.matmul' must have the same lhs}}
  %0 = fact.fused "gated_gemm" ins(%x, %y, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %Y: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %Y, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @weights(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{needs two different weights, and both 'fact.matmul' have the same rhs}}
  %0 = fact.fused "gated_gemm" ins(%x, %g : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @layout(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{a weight must be a matrix [N, K] with contiguous rows under 'transpose_b'}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %U : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @f64(%x: tensor<64x64xf64>, %g: tensor<64x64xf64>, %u: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-error @below {{takes f16, bf16 or f32 operands, not f64}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf64>, tensor<64x64xf64>, tensor<64x64xf64>) {
  ^bb0(%X: tensor<64x64xf64>, %G: tensor<64x64xf64>, %U: tensor<64x64xf64>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    %3 = fact.mul %1, %2 : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    fact.yield %3 : tensor<64x64xf64>
  } : tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}

// -----

func.func @precision(%x: tensor<64x64xf32>, %g: tensor<64x64xf32>, %u: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{all 'fact.matmul' must allow 'tf32', or none}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%X: tensor<64x64xf32>, %G: tensor<64x64xf32>, %U: tensor<64x64xf32>):
    %1 = fact.matmul %X, %G transpose_b tf32 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = fact.mul %1, %2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    fact.yield %3 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @columns(%x: tensor<64x64xf16>, %g: tensor<60x64xf16>, %u: tensor<60x64xf16>) -> tensor<64x60xf16> {
  // expected-error @below {{needs N and K to be multiples of 8, not 60 and 64}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<60x64xf16>, tensor<60x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<60x64xf16>, %U: tensor<60x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<60x64xf16>) -> tensor<64x60xf16>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<60x64xf16>) -> tensor<64x60xf16>
    %3 = fact.mul %1, %2 : (tensor<64x60xf16>, tensor<64x60xf16>) -> tensor<64x60xf16>
    fact.yield %3 : tensor<64x60xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x60xf16>
  return %0 : tensor<64x60xf16>
}

// -----

func.func @read(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{the epilogue reads a weight, of which the kernel has only the packed copy}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.add %1, %G : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %4 = fact.mul %3, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %4 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @reduction(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{'fact.softmax' is not a pointwise op or a view}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.softmax %1 dim 1 : tensor<64x64xf16>
    %4 = fact.mul %3, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %4 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @tile(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{tile N of two products must be a multiple of 32, not 48}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x48x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// -----

func.func @stream_k(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{several products run as a cooperative or a pingpong kernel, not as stream_k}}
  %0 = fact.fused "gated_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
    %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3 : tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = stream_k, swizzle = 1>) : tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
