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

// -----

func.func @strided(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{is not in a kernel; run --fact-discover first}}
  %a = fact.slice %x dim 1 start 2 : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %0 = fact.fused "pointwise" ins(%a : tensor<4x1xf32>) {
  ^bb0(%p: tensor<4x1xf32>):
    %s = fact.exp %p : (tensor<4x1xf32>) -> tensor<4x1xf32>
    fact.yield %s : tensor<4x1xf32>
  } : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

func.func @columns(%x: tensor<2x8xf32>) -> tensor<2x16xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<2x8xf32>) {
  ^bb0(%p: tensor<2x8xf32>):
    %s = fact.exp %p : (tensor<2x8xf32>) -> tensor<2x8xf32>
    fact.yield %s : tensor<2x8xf32>
  } : tensor<2x8xf32>
  %1 = fact.fused "pointwise" ins(%x : tensor<2x8xf32>) {
  ^bb0(%p: tensor<2x8xf32>):
    %s = fact.exp %p : (tensor<2x8xf32>) -> tensor<2x8xf32>
    fact.yield %s : tensor<2x8xf32>
  } : tensor<2x8xf32>
  // expected-error @+1 {{is not in a kernel, and its operands are not contiguous in memory; run --fact-discover first}}
  %2 = fact.concat %0, %1 dim 1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}

// -----

func.func @repeated(%x: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<1x8xf32>) {
  ^bb0(%p: tensor<1x8xf32>):
    %s = fact.exp %p : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fact.yield %s : tensor<1x8xf32>
  } : tensor<1x8xf32>
  // expected-error @+1 {{is not in a kernel, and operand 1 is not the result of a kernel that can be written in its place; run --fact-discover first}}
  %2 = fact.concat %0, %0 dim 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// -----

// The second kernel writes other columns than the concatenation takes.
func.func @other_columns(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%p: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x8xf32>
    %t = fact.concat %p, %n dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    fact.yield %t : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %1 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%p: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x8xf32>
    %t = fact.concat %p, %n dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    fact.yield %t : tensor<4x16xf32>
  } : tensor<4x16xf32>
  %2 = fact.slice %0 dim 1 start 0 : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %3 = fact.slice %1 dim 1 start 8 : (tensor<4x16xf32>) -> tensor<4x8xf32>
  // expected-error @+1 {{is not in a kernel, and its operands are not contiguous in memory; run --fact-discover first}}
  %4 = fact.concat %2, %3 dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}
