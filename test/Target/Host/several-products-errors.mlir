// RUN: fact-translate --fact-to-host -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"host">} {
  func.func @one(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{needs exactly two 'fact.matmul', not 1}}
    %r = fact.fused "gated_gemm" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %1 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @apart(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{needs a result that combines both products}}
    %r:2 = fact.fused "gated_gemm" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %a, %c transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
    } : tensor<8x8xf32>, tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @same(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{needs two weights of the same type}}
    %r = fact.fused "gated_gemm" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = fact.mul %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @lhs(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{all 'fact.matmul' must have the same lhs}}
    %r = fact.fused "gated_gemm" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %b, %c transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = fact.mul %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @alone(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{needs two or more 'fact.matmul' of one lhs}}
    %r = fact.fused "grouped_gemm" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %1 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @combined(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{needs results that read one product each, and one combines several}}
    %r = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %a, %c transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = fact.mul %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @unread(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{no result reads one of the products}}
    %r = fact.fused "grouped_gemm" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %a, %c transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %1 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @two(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{takes one 'fact.matmul', and there are more}}
    %r:2 = fact.fused "gemm_epilogue" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.matmul %a, %c transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      fact.yield %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
    } : tensor<8x8xf32>, tensor<8x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @places(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{takes sums, means, products and extremes of floats after a product, not 'argmax'}}
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.reduce argmax %1 dims [1] : (tensor<8x8xf32>) -> tensor<8xi64>
      fact.yield %2 : tensor<8xi64>
    } : tensor<8xi64>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @everything(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{reduces whole rows of 8 or whole columns of 8 elements}}
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.reduce sum %1 dims [0, 1] : (tensor<8x8xf32>) -> tensor<f32>
      fact.yield %2 : tensor<f32>
    } : tensor<f32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @both(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{reduces rows or columns, and the region has both}}
    %r:2 = fact.fused "gemm_epilogue" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.reduce sum %1 dims [0] : (tensor<8x8xf32>) -> tensor<8xf32>
      %3 = fact.reduce sum %1 dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
      fact.yield %2, %3 : tensor<8xf32>, tensor<8xf32>
    } : tensor<8xf32>, tensor<8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @normalised(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{'fact.reduce' is not a pointwise op or a view}}
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.reduce sum %1 dims [1] keep : (tensor<8x8xf32>) -> tensor<8x1xf32>
      %3 = fact.div %1, %2 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
      fact.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    return
  }
}
