// RUN: fact-translate --fact-to-host -split-input-file -verify-diagnostics %s

func.func @product(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'fact.matmul' is not a pointwise op or a view}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4x4xf32>) {
  ^bb0(%a: tensor<4x4xf32>):
    %1 = fact.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = fact.exp %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    fact.yield %2 : tensor<4x4xf32>
  } : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @computed_source(%x: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  // expected-error @below {{the source of 'fact.gather' must be an argument of the region, or gathered from one}}
  %0 = fact.fused "pointwise" ins(%x, %i : tensor<9x4xf32>, tensor<3xi64>) {
  ^bb0(%a: tensor<9x4xf32>, %b: tensor<3xi64>):
    %1 = fact.exp %a : (tensor<9x4xf32>) -> tensor<9x4xf32>
    %2 = fact.gather %1, %b dim 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    fact.yield %2 : tensor<3x4xf32>
  } : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @order(%x: tensor<4x6xf32>) -> tensor<8x3xf32> {
  // expected-error @below {{an operand of type 'tensor<4x6xf32>' is read through views that strides cannot describe}}
  %0 = fact.fused "pointwise" ins(%x : tensor<4x6xf32>) {
  ^bb0(%a: tensor<4x6xf32>):
    %1 = fact.permute %a [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %2 = fact.reshape %1 : (tensor<6x4xf32>) -> tensor<8x3xf32>
    %3 = fact.exp %2 : (tensor<8x3xf32>) -> tensor<8x3xf32>
    fact.yield %3 : tensor<8x3xf32>
  } : tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

func.func @sizes(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
  // expected-error @below {{all results must have the same number of elements}}
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4x6xf32>) {
  ^bb0(%a: tensor<4x6xf32>):
    %1 = fact.exp %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = fact.slice %1 dim 1 start 0 : (tensor<4x6xf32>) -> tensor<4x1xf32>
    %3 = fact.reshape %2 : (tensor<4x1xf32>) -> tensor<4xf32>
    fact.yield %1, %3 : tensor<4x6xf32>, tensor<4xf32>
  } : tensor<4x6xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4xf32>
}
