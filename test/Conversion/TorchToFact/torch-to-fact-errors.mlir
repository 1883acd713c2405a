// RUN: fact-opt -convert-torch-to-fact -verify-diagnostics -split-input-file %s

// All unsupported ops of a module are named in one run, and what depends on
// them is passed over.

func.func @unsupported(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{unsupported op 'torch.aten.elu'; maybe you meant 'torch.aten.gelu' or 'torch.aten.glu' or 'torch.aten.relu'}}
  %0 = torch.aten.elu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.relu %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // expected-error @below {{unsupported op 'torch.aten.fft_fft'}}
  %2 = torch.aten.fft_fft %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // expected-error @below {{unsupported op 'torch.custom.op'}}
  %3 = torch.operator "torch.custom.op"(%2) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %3 : !torch.vtensor<[4],f32>
}

func.func @another(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{unsupported op 'torch.aten.softmax'}}
  %0 = torch.aten.softmax %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// expected-error @below {{input 'x' has type '!torch.vtensor<[?,4],f32>', and sizes must be static; export without dynamic shapes}}
func.func @dynamic(%x: !torch.vtensor<[?,4],f32> {fact.name = "x"}) -> !torch.vtensor<[?,4],f32> {
  return %x : !torch.vtensor<[?,4],f32>
}

// -----

// expected-error @below {{input 1 has type '!torch.int', and only tensors are supported}}
func.func @scalar_input(%x: !torch.vtensor<[4],f32>, %n: !torch.int) -> !torch.vtensor<[4],f32> {
  %none = torch.constant.none
  // expected-error @below {{argument 'dim' of 'torch.aten.softmax.int' must be an integer known at compile time}}
  %0 = torch.aten.softmax.int %x, %n, %none : !torch.vtensor<[4],f32>, !torch.int, !torch.none -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// expected-error @below {{input 0 has element type 'ui8'; supported are f16, bf16, f32, f64, i1, si8, si32 and si64}}
func.func @bytes(%x: !torch.vtensor<[4],ui8>) -> !torch.vtensor<[4],ui8> {
  return %x : !torch.vtensor<[4],ui8>
}

// -----

func.func @unknown_result(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{result 0 of 'torch.aten.relu' has type '!torch.vtensor', and sizes must be static}}
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor
  %1 = torch.aten.relu %0 : !torch.vtensor -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @scalar_output() -> !torch.int {
  %int1 = torch.constant.int 1
  // expected-error @below {{output 0 has type '!torch.int', and only tensors are supported}}
  return %int1 : !torch.int
}

// -----

func.func @arguments(%x: !torch.vtensor<[2,4],f32>, %i: !torch.vtensor<[2,4],si64>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %half = torch.constant.float 5.0e-01
  %str = torch.constant.str "floor"
  // expected-error @below {{argument 'rounding_mode' of 'torch.aten.div.Tensor_mode' must be None}}
  %0 = torch.aten.div.Tensor_mode %x, %x, %str : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.str -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'approximate' of 'torch.aten.gelu' is 'floor', and must be 'none' or 'tanh'}}
  %1 = torch.aten.gelu %x, %str : !torch.vtensor<[2,4],f32>, !torch.str -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'dim' of 'torch.aten.softmax.int' is 2, and must be in [-2, 2)}}
  %2 = torch.aten.softmax.int %x, %int2, %none : !torch.vtensor<[2,4],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'train' of 'torch.aten.dropout' must be false; export the module after 'eval()'}}
  %3 = torch.aten.dropout %x, %half, %true : !torch.vtensor<[2,4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'beta' of 'torch.aten.softplus' must be 1}}
  %4 = torch.aten.softplus %x, %int2, %int2 : !torch.vtensor<[2,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'other' of 'torch.aten.mul.Tensor' must be a tensor}}
  %5 = torch.aten.mul.Tensor %x, %none : !torch.vtensor<[2,4],f32>, !torch.none -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'step' of 'torch.aten.slice.Tensor' is -1, and must be 1 or more}}
  %6 = torch.aten.slice.Tensor %x, %int-1, %none, %none, %int-1 : !torch.vtensor<[2,4],f32>, !torch.int, !torch.none, !torch.none, !torch.int -> !torch.vtensor<[2,4],f32>
  %list = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'dims' of 'torch.aten.permute' is [2, 2], and must name each of 2 dimensions once}}
  %7 = torch.aten.permute %x, %list : !torch.vtensor<[2,4],f32>, !torch.list<int> -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'normalized_shape' of 'torch.aten.layer_norm' is [2, 2], and must be the last sizes of 'tensor<2x4xf32>'}}
  %8 = torch.aten.layer_norm %x, %list, %none, %none, %half, %true : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{'torch.aten.matmul' has element type 'i64', and products are supported on floats only}}
  %9 = torch.aten.matmul %i, %i : !torch.vtensor<[2,4],si64>, !torch.vtensor<[2,4],si64> -> !torch.vtensor<[2,2],si64>
  // expected-error @below {{argument 'dropout_p' of 'torch.aten.scaled_dot_product_attention' is 5.000000e-01, and must be 0; export after 'eval()'}}
  %10 = torch.aten.scaled_dot_product_attention %x, %x, %x, %none, %half, %true, %none, %true : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4],f32>
  return
}

// -----

func.func @indices(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  // expected-error @below {{'torch.aten.max.dim' has its result 1 used, and only result 0 is supported}}
  %0:2 = torch.aten.max.dim %x, %int1, %false : !torch.vtensor<[2,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
  return %0#0, %0#1 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>
}

// -----

func.func @types() -> !torch.vtensor<[4],f32> {
  // expected-note @below {{it has the type 'tensor<2xf32>' here}}
  %0 = "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[2],f32>
  // expected-error @below {{'torch.fact.weight' gives weight "w" the type 'tensor<4xf32>'}}
  %1 = "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

// expected-note @below {{the other symbol is here}}
func.func @main() -> !torch.vtensor<[2],f32> {
  // expected-error @below {{weight "main" has the name of another symbol; rename it in the module}}
  %0 = "torch.fact.weight"() {name = "main"} : () -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @wrong_value() -> !torch.vtensor<[2],f32> {
  // expected-error @below {{'torch.fact.weight' has a value of type 'tensor<3xf32>', and its result is '!torch.vtensor<[2],f32>'}}
  %0 = "torch.fact.weight"() {name = "w", value = dense<0.0> : tensor<3xf32>} : () -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
