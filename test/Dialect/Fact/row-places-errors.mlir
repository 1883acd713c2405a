// RUN: fact-opt %s -verify-diagnostics -split-input-file

func.func @no_gather(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'fact.neg' op attribute 'fact.row_size' is allowed on gathers only}}
  %0 = fact.neg %x {fact.row_size = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @two_rows(%x: tensor<12xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{attribute 'fact.row_size' is 4 : i64, but dimension 0 of 'tensor<12xf32>' must have so many elements for each of 2 indices}}
  %0 = fact.gather %x, %i dim 0 {fact.row_size = 4 : i64} : (tensor<12xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
