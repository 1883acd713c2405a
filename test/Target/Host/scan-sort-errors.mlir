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
