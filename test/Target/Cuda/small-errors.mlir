// RUN: fact-opt %s --fact-discover=target=h200 --split-input-file --verify-diagnostics

func.func @one(%x: tensor<300xf32>) -> tensor<f32> {
  // expected-error@+1 {{needs several ops to compute one after another}}
  %0 = fact.fused "small" ins(%x : tensor<300xf32>) {
  ^bb0(%a: tensor<300xf32>):
    %1 = fact.reduce sum %a dims [0] : (tensor<300xf32>) -> tensor<f32>
    fact.yield %1 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @large(%x: tensor<65537xf32>) -> tensor<f32> {
  // expected-error@+1 {{takes tensors of at most 65536 elements, not 65537}}
  %0 = fact.fused "small" ins(%x : tensor<65537xf32>) {
  ^bb0(%a: tensor<65537xf32>):
    %1 = fact.exp %a : (tensor<65537xf32>) -> tensor<65537xf32>
    %2 = fact.reduce sum %1 dims [0] : (tensor<65537xf32>) -> tensor<f32>
    fact.yield %2 : tensor<f32>
  } : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @place(%x: tensor<300xf32>) -> tensor<i64> {
  // expected-error@+1 {{'fact.reduce' is not a norm, softmax, reduction to a value, pointwise op, gather or view}}
  %0 = fact.fused "small" ins(%x : tensor<300xf32>) {
  ^bb0(%a: tensor<300xf32>):
    %1 = fact.exp %a : (tensor<300xf32>) -> tensor<300xf32>
    %2 = fact.reduce argmax %1 dims [0] : (tensor<300xf32>) -> tensor<i64>
    fact.yield %2 : tensor<i64>
  } : tensor<i64>
  return %0 : tensor<i64>
}
