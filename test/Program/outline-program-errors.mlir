// RUN: fact-opt %s -verify-diagnostics -split-input-file --fact-outline-program

// expected-error @+1 {{a program needs one function, but the module has 0}}
module {
}

// -----

// expected-error @+1 {{a program needs one function, but the module has 2}}
module {
  func.func private @f()
  func.func private @g()
}

// -----

// expected-error @+1 {{has no body; a model is a function with one}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{has an input or output of type 'i32'; a model's are tensors of integers or floats of static shape}}
func.func @f(%x: i32) {
  return
}

// -----

// expected-error @+1 {{has an input or output of type 'tensor<?xf32>'; a model's are tensors of integers or floats of static shape}}
func.func @f(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error @+1 {{has an input or output of type 'tensor<4xindex>'; a model's are tensors of integers or floats of static shape}}
func.func @f() -> tensor<4xindex> {
  %0 = tensor.empty() : tensor<4xindex>
  return %0 : tensor<4xindex>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{output 0 is not the result of a kernel of its own; run --fact-discover on the module first}}
  return %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %s = fact.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %s : tensor<4xf32>
  } : tensor<4xf32>
  %1 = fact.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  // expected-error @+1 {{output 1 is not the result of a kernel of its own; run --fact-discover on the module first}}
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'fact.exp' op is not in a kernel; run --fact-discover first}}
  %0 = fact.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %0 = fact.prepare {
    %1 = fact.constant dense<1.0> : tensor<4xf32>
    // expected-error @+1 {{'fact.exp' op is not in a kernel; run --fact-discover first}}
    %2 = fact.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %2 : tensor<4xf32>
  } : tensor<4xf32>
  return
}
