// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" -verify-diagnostics -split-input-file

// An output is memory of its own, so what is an input is copied, if it can be.

func.func @indices(%x: tensor<4xindex>) -> tensor<4xindex> {
  // expected-error @below {{output 0 of type 'tensor<4xindex>' cannot be copied: tensors of kernels have static sizes and elements of f64, f32, f16, bf16}}
  return %x : tensor<4xindex>
}

// -----

func.func @dynamic(%x: tensor<2xf32>, %y: tensor<?xf32>) -> (tensor<2xf32>, tensor<?xf32>) {
  // expected-error @below {{output 1 of type 'tensor<?xf32>' cannot be copied}}
  return %x, %y : tensor<2xf32>, tensor<?xf32>
}