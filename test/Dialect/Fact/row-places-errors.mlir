// RUN: fact-opt %s -verify-diagnostics -split-input-file

func.func @no_gather(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'fact.neg' op attribute 'fact.row_size' is allowed on gathers only}}
  %0 = fact.neg %x {fact.row_size = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @two_rows(%x: tensor<12xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{attribute 'fact.row_size' is 7 : i64, but dimension 0 of 'tensor<12xf32>' must have at least so many elements for each of 2 indices}}
  %0 = fact.gather %x, %i dim 0 {fact.row_size = 7 : i64} : (tensor<12xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @kind(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{attribute 'fact.row_size' is 4 : i32, but must be an integer of 64 bits}}
  %0 = fact.gather %x, %i dim 0 {fact.row_size = 4 : i32} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// What is wrong with the op itself is said by its own verifier.
func.func @dim(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  // expected-error @+1 {{dim 7 is not in [0, 1)}}
  %0 = fact.gather %x, %i dim 7 {fact.row_size = 4 : i64} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @operands(%x: tensor<12xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{expected 2 operands, but found 1}}
  %0 = "fact.gather"(%x) {dim = 0 : i64, fact.row_size = 4 : i64} : (tensor<12xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @dynamic(%x: tensor<8xf32>, %i: tensor<?xi64>) -> tensor<?xf32> {
  // expected-error @+1 {{attribute 'fact.row_size' needs static shapes, but the operands are 'tensor<8xf32>' and 'tensor<?xi64>'}}
  %0 = fact.gather %x, %i dim 0 {fact.row_size = 4 : i64} : (tensor<8xf32>, tensor<?xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'fact.neg' op attribute 'fact.unused' is a unit attribute of 'fact.concat'}}
  %0 = fact.neg %x {fact.unused} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
