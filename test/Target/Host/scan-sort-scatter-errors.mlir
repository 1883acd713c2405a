// RUN: fact-translate --fact-to-host -split-input-file -verify-diagnostics %s

func.func @booleans(%x: tensor<8x64xi1>) -> tensor<8x64xi1> {
  // expected-error @below {{takes numbers, not i1}}
  %0 = fact.fused "scan" ins(%x : tensor<8x64xi1>) {
  ^bb0(%a: tensor<8x64xi1>):
    %1 = fact.scan max %a dim 1 : tensor<8x64xi1>
    fact.yield %1 : tensor<8x64xi1>
  } : tensor<8x64xi1>
  return %0 : tensor<8x64xi1>
}

// -----

func.func @logarithms(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{takes sums, products, maxima and minima, not 'logsumexp'}}
  %0 = fact.fused "scan" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.scan logsumexp %a dim 1 : tensor<8x64xf32>
    fact.yield %1 : tensor<8x64xf32>
  } : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

func.func @first_place(%x: tensor<8x64xf32>) -> tensor<8x1xi64> {
  // expected-error @below {{a slice must be of the last place, 4, of dimension 1}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 count 5 : (tensor<8x64xf32>) -> tensor<8x5xi64>
    %2 = fact.slice %1 dim 1 start 0 : (tensor<8x5xi64>) -> tensor<8x1xi64>
    fact.yield %2 : tensor<8x1xi64>
  } : tensor<8x1xi64>
  return %0 : tensor<8x1xi64>
}

// -----

func.func @more(%x: tensor<8x64xf32>) -> tensor<8x64xi64> {
  // expected-error @below {{needs exactly one 'fact.argsort', and at most a 'fact.slice' of it}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.relu %a : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = fact.argsort %1 dim 1 : (tensor<8x64xf32>) -> tensor<8x64xi64>
    fact.yield %2 : tensor<8x64xi64>
  } : tensor<8x64xi64>
  return %0 : tensor<8x64xi64>
}

// -----

func.func @dimensions(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{needs scans of one shape over one dimension}}
  %0 = fact.fused "scan" ins(%x : tensor<8x8xf32>) {
  ^bb0(%a: tensor<8x8xf32>):
    %1 = fact.scan sum %a dim 1 : tensor<8x8xf32>
    %2 = fact.scan sum %1 dim 0 : tensor<8x8xf32>
    fact.yield %2 : tensor<8x8xf32>
  } : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @part(%x: tensor<8x64xf32>) -> tensor<8x1xf32> {
  // expected-error @below {{needs results of the shape of its scans}}
  %0 = fact.fused "scan" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.scan sum %a dim 1 : tensor<8x64xf32>
    %2 = fact.slice %1 dim 1 start 63 : (tensor<8x64xf32>) -> tensor<8x1xf32>
    fact.yield %2 : tensor<8x1xf32>
  } : tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// -----

func.func @sum_of_booleans(%x: tensor<8xi1>, %i: tensor<3xi64>, %y: tensor<3xi1>) -> tensor<8xi1> {
  // expected-error @below {{combines numbers, not i1}}
  %0 = fact.fused "scatter" ins(%x, %i, %y : tensor<8xi1>, tensor<3xi64>, tensor<3xi1>) {
  ^bb0(%a: tensor<8xi1>, %b: tensor<3xi64>, %c: tensor<3xi1>):
    %1 = fact.scatter sum %a, %b, %c dim 0 : (tensor<8xi1>, tensor<3xi64>, tensor<3xi1>) -> tensor<8xi1>
    fact.yield %1 : tensor<8xi1>
  } : tensor<8xi1>
  return %0 : tensor<8xi1>
}

// -----

func.func @after_a_scatter(%x: tensor<8xf32>, %i: tensor<3xi64>, %y: tensor<3xf32>) -> tensor<8xf32> {
  // expected-error @below {{needs exactly one 'fact.scatter', whose result is the only one}}
  %0 = fact.fused "scatter" ins(%x, %i, %y : tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<3xi64>, %c: tensor<3xf32>):
    %1 = fact.scatter sum %a, %b, %c dim 0 : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
    %2 = fact.exp %1 : (tensor<8xf32>) -> tensor<8xf32>
    fact.yield %2 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}
