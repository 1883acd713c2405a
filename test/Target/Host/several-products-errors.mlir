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
    // expected-error @below {{needs two different weights, and both 'fact.matmul' have the same rhs}}
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
    // expected-error @below {{needs two or more 'fact.matmul', not 1}}
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
    // expected-error @below {{result 0 must read one product, not 2}}
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
    // expected-error @below {{no result reads product 1}}
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
    // expected-error @below {{needs exactly one 'fact.matmul', not 2}}
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
    // expected-error @below {{reduces products by sum, mean, prod, max or min, not by 'argmax'}}
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
    // expected-error @below {{'fact.reduce' must be over whole rows of a product, of 8 elements, or over whole columns, of 8}}
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
    // expected-error @below {{a result of type 'tensor<8x8xf32>' reads a reduction of the product, which is complete only after the last tile}}
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

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @other_size(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8xf32>) {
    // expected-error @below {{a result of type 'tensor<8xf32>' must have the size of the product, or be computed from a reduction of it}}
    %r:2 = fact.fused "gemm_epilogue" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.relu %c : (tensor<8xf32>) -> tensor<8xf32>
      fact.yield %1, %2 : tensor<8x8xf32>, tensor<8xf32>
    } : tensor<8x8xf32>, tensor<8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @batched_columns(%x: tensor<2x8x8xf32>, %y: tensor<2x8x8xf32>) {
    // expected-error @below {{reduces columns of one product, not of 2 batches}}
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
    ^bb0(%a: tensor<2x8x8xf32>, %b: tensor<2x8x8xf32>):
      %1 = fact.matmul %a, %b : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
      %2 = fact.reduce sum %1 dims [1] : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
      fact.yield %2 : tensor<2x8xf32>
    } : tensor<2x8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @unrelated(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) {
    // expected-error @below {{a 'fact.reduce' reads no product}}
    %r:2 = fact.fused "gemm_epilogue" ins(%x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.reduce sum %c dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
      fact.yield %1, %2 : tensor<8x8xf32>, tensor<8xf32>
    } : tensor<8x8xf32>, tensor<8xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"host">} {
  func.func @integers(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) {
    // expected-error @below {{reduces floats after a product, not 'tensor<8x8xi32>'}}
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
      %1 = fact.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %2 = fact.cast %1 : (tensor<8x8xf32>) -> tensor<8x8xi32>
      %3 = fact.reduce sum %2 dims [1] : (tensor<8x8xi32>) -> tensor<8xi32>
      fact.yield %3 : tensor<8xi32>
    } : tensor<8xi32>
    return
  }
}
