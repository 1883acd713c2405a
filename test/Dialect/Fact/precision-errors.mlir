// RUN: fact-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{attribute 'fact.float32_matmul_precision' is "tf32", but must be "highest", "high" or "medium"}}
module attributes {fact.float32_matmul_precision = "tf32"} {
}

// -----

// expected-error @+1 {{attribute 'fact.float32_matmul_precision' is 1 : i64, but must be "highest", "high" or "medium"}}
module attributes {fact.float32_matmul_precision = 1} {
}

// -----

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'fact.neg' op attribute 'fact.float32_matmul_precision' is allowed on modules only}}
  %0 = fact.neg %x {fact.float32_matmul_precision = "high"} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
