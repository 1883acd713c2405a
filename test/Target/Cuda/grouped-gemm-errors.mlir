// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

func.func @alone(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>) {
  // expected-error @below {{needs two or more 'fact.matmul', not 1}}
  %r = fact.fused "grouped_gemm" ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return
}

// -----

func.func @lhs(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{all 'fact.matmul' must have the same lhs}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %b, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @combined(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{result 0 must read one product, not 2}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3, %1 : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @twice(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{each product must have one result, and product 0 has 2}}
  %r:3 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.relu %1 : (tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1, %2, %3 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @unread(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{no result reads product 1}}
  %r = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1 : tensor<64x64xf16>
  } : tensor<64x64xf16>
  return
}

// -----

func.func @layout(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{a weight must be a matrix [N, K] with contiguous rows under 'transpose_b'}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @wide(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{all results must have one element type, not 'f32' and 'f16'}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.cast %1 : (tensor<64x64xf16>) -> tensor<64x64xf32>
    fact.yield %3, %2 : tensor<64x64xf32>, tensor<64x64xf16>
  } : tensor<64x64xf32>, tensor<64x64xf16>
  return
}

// -----

func.func @columns(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<60x64xf16>) {
  // expected-error @below {{needs N and K to be multiples of 8, not 60 and 64}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<60x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<60x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<60x64xf16>) -> tensor<64x60xf16>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64x60xf16>
  } : tensor<64x64xf16>, tensor<64x60xf16>
  return
}

// -----

func.func @read(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{the epilogue reads a weight, of which the kernel has only the packed copy}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.add %1, %c : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %3, %2 : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @stream_k(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{several products run as a cooperative or a pingpong kernel, not as stream_k}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    fact.yield %1, %2 : tensor<64x64xf16>, tensor<64x64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = stream_k, swizzle = 1>) : tensor<64x64xf16>, tensor<64x64xf16>
  return
}

// -----

func.func @reduced(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf16>) {
  // expected-error @below {{takes 'fact.reduce' after one product, not after 2}}
  %r:2 = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.matmul %a, %c transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %3 = fact.reduce sum %2 dims [1] : (tensor<64x64xf16>) -> tensor<64xf16>
    fact.yield %1, %3 : tensor<64x64xf16>, tensor<64xf16>
  } : tensor<64x64xf16>, tensor<64xf16>
  return
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @ampere(%x: tensor<64x64xf16>, %g: tensor<64x64xf16>, %u: tensor<64x64xf16>) -> tensor<64x64xf16> {
    // expected-error @below {{'grouped_gemm' has kernels for sm_90a, host, but 'a100' is sm_80}}
    %0 = fact.fused "grouped_gemm" ins(%x, %g, %u : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%X: tensor<64x64xf16>, %G: tensor<64x64xf16>, %U: tensor<64x64xf16>):
      %1 = fact.matmul %X, %G transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      %2 = fact.matmul %X, %U transpose_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      %3 = fact.mul %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      fact.yield %3 : tensor<64x64xf16>
    } : tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}
