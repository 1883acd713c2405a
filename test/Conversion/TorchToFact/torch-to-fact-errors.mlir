// RUN: fact-opt -convert-torch-to-fact -verify-diagnostics -split-input-file %s

// All unsupported ops of a module are named in one run, and what depends on
// them is passed over.

func.func @unsupported(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{unsupported op 'torch.aten.sinc'; a supported op of a similar name is 'torch.aten.sin'}}
  %0 = torch.aten.sinc %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.relu %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // expected-error-re @below {{unsupported op 'torch.aten.fft_fft'{{$}}}}
  %2 = torch.aten.fft_fft %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // expected-error-re @below {{unsupported op 'torch.aten.unique_dim'{{$}}}}
  %c = torch.aten.unique_dim %1 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  // expected-error-re @below {{unsupported op 'torch.custom.op'{{$}}}}
  %3 = torch.operator "torch.custom.op"(%2) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %3 : !torch.vtensor<[4],f32>
}

func.func @another(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error @below {{unsupported op 'torch.aten.softmax'; a supported op of a similar name is 'torch.aten.softmax.int'}}
  %0 = torch.aten.softmax %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// expected-error @below {{input 'x' has type '!torch.vtensor<[?,4],f32>', but sizes must be static; export without dynamic shapes}}
func.func @dynamic(%x: !torch.vtensor<[?,4],f32> {fact.name = "x"}) -> !torch.vtensor<[?,4],f32> {
  return %x : !torch.vtensor<[?,4],f32>
}

// -----

// expected-error @below {{input 1 has type '!torch.int'; only tensors are supported}}
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
  // expected-error @below {{result 0 of 'torch.aten.relu' has type '!torch.vtensor', but sizes must be static}}
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor
  %1 = torch.aten.relu %0 : !torch.vtensor -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// -----

func.func @scalar_output() -> !torch.int {
  %int1 = torch.constant.int 1
  // expected-error @below {{output 0 has type '!torch.int'; only tensors are supported}}
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
  %up = torch.constant.str "up"
  // expected-error @below {{argument 'rounding_mode' of 'torch.aten.div.Tensor_mode' is 'up', but must be 'floor', 'trunc' or None}}
  %0 = torch.aten.div.Tensor_mode %x, %x, %up : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.str -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'approximate' of 'torch.aten.gelu' is 'floor', but must be 'none' or 'tanh'}}
  %1 = torch.aten.gelu %x, %str : !torch.vtensor<[2,4],f32>, !torch.str -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'dim' of 'torch.aten.softmax.int' is 2, but must be in [-2, 2)}}
  %2 = torch.aten.softmax.int %x, %int2, %none : !torch.vtensor<[2,4],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'train' of 'torch.aten.dropout' must be false; export the module after 'eval()'}}
  %3 = torch.aten.dropout %x, %half, %true : !torch.vtensor<[2,4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'other' of 'torch.aten.mul.Tensor' must be a tensor}}
  %5 = torch.aten.mul.Tensor %x, %none : !torch.vtensor<[2,4],f32>, !torch.none -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'step' of 'torch.aten.slice.Tensor' is -1, but must be 1 or more}}
  %6 = torch.aten.slice.Tensor %x, %int-1, %none, %none, %int-1 : !torch.vtensor<[2,4],f32>, !torch.int, !torch.none, !torch.none, !torch.int -> !torch.vtensor<[2,4],f32>
  %list = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'dims' of 'torch.aten.permute' is [2, 2], but must name each of 2 dimensions once}}
  %7 = torch.aten.permute %x, %list : !torch.vtensor<[2,4],f32>, !torch.list<int> -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'normalized_shape' of 'torch.aten.layer_norm' is [2, 2], but must be the last sizes of 'tensor<2x4xf32>'}}
  %8 = torch.aten.layer_norm %x, %list, %none, %none, %half, %true : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{'torch.aten.matmul' is not supported on booleans}}
  %9 = torch.aten.matmul %i, %i : !torch.vtensor<[2,4],si64>, !torch.vtensor<[2,4],si64> -> !torch.vtensor<[2,2],i1>
  // expected-error @below {{'torch.aten.bitwise_and.Tensor' returns elements of 'f32'; only integers and booleans are supported}}
  %11 = torch.aten.bitwise_and.Tensor %x, %x : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'dropout_p' of 'torch.aten.scaled_dot_product_attention' is 5.000000e-01, but must be 0; export after 'eval()'}}
  %10 = torch.aten.scaled_dot_product_attention %x, %x, %x, %none, %half, %true, %none, %true : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4],f32>
  return
}

// -----

func.func @second_results(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2],f32> {
  %none = torch.constant.none
  %int4 = torch.constant.int 4
  %eps = torch.constant.float 1.0e-05
  %shape = torch.prim.ListConstruct %int4 : (!torch.int) -> !torch.list<int>
  // expected-error @below {{'torch.aten.native_layer_norm' has a used result 1; only result 0 is supported}}
  %0:3 = torch.aten.native_layer_norm %x, %shape, %none, %none, %eps : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float -> !torch.vtensor<[2,4],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  return %0#1 : !torch.vtensor<[2],f32>
}

// -----

func.func @indexing(%x: !torch.vtensor<[2,4],f32>, %i: !torch.vtensor<[3],si64>, %b: !torch.vtensor<[2],i1>) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %reflect = torch.constant.str "reflect"
  // expected-error @below {{argument 'indices' of 'torch.aten.embedding' has element type 'f32', but must be an integer of 32 or 64 bits}}
  %0 = torch.aten.embedding %x, %x : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32> -> !torch.vtensor<[2,4,4],f32>
  %mask = torch.prim.ListConstruct %b : (!torch.vtensor<[2],i1>) -> !torch.list<vtensor>
  // expected-error @below {{argument 'indices' of 'torch.aten.index.Tensor' has element type 'i1', but must be integers of 32 or 64 bits}}
  %1 = torch.aten.index.Tensor %x, %mask : !torch.vtensor<[2,4],f32>, !torch.list<vtensor> -> !torch.vtensor<[2,4],f32>
  %one = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'mode' of 'torch.aten.pad' is 'reflect', but must be 'constant'}}
  %2 = torch.aten.pad %x, %one, %reflect, %none : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[2,6],f32>
  %three = torch.prim.ListConstruct %int1, %int1, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'pad' of 'torch.aten.constant_pad_nd' has 3 amounts for 'tensor<2x4xf32>', but needs two per padded dimension}}
  %3 = torch.aten.constant_pad_nd %x, %three, %int0 : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.int -> !torch.vtensor<[2,6],f32>
  // expected-error @below {{argument 'dims' of 'torch.aten.roll' has 2 dimensions, but 'shifts' has 3 shifts}}
  %4 = torch.aten.roll %x, %three, %one : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[2,4],f32>
  // expected-error @below {{argument 'step' of 'torch.aten.slice_scatter' is 2, but must be 1}}
  %5 = torch.aten.slice_scatter %x, %x, %int0, %int0, %int2, %int2 : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],f32>
  return
}

// -----

func.func @equations(%x: !torch.vtensor<[2,4],f32>) {
  %none = torch.constant.none
  %one = torch.prim.ListConstruct %x : (!torch.vtensor<[2,4],f32>) -> !torch.list<vtensor>
  %long = torch.constant.str "ijk->i"
  // expected-error @below {{argument 'equation' of 'torch.aten.einsum' has labels 'ijk', which do not name the dimensions of 'tensor<2x4xf32>'}}
  %0 = torch.aten.einsum %long, %one, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2],f32>
  %two = torch.constant.str "ij,jk->i"
  // expected-error @below {{argument 'equation' of 'torch.aten.einsum' is 'ij,jk->i', which is not for 1 operand(s)}}
  %1 = torch.aten.einsum %two, %one, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2],f32>
  %new = torch.constant.str "ij->k"
  // expected-error @below {{argument 'equation' of 'torch.aten.einsum' has label 'k' in its output, which must occur there once and in an operand}}
  %2 = torch.aten.einsum %new, %one, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2],f32>
  return
}

// -----

func.func @channels(%x: !torch.vtensor<[2,4,3],f32>) -> !torch.vtensor<[2,4,3],f32> {
  %none = torch.constant.none
  %int3 = torch.constant.int 3
  %eps = torch.constant.float 1.0e-05
  %true = torch.constant.bool true
  // expected-error @below {{argument 'num_groups' of 'torch.aten.group_norm' is 3, but must divide the channels of 'tensor<2x4x3xf32>'}}
  %0 = torch.aten.group_norm %x, %int3, %none, %none, %eps, %true : !torch.vtensor<[2,4,3],f32>, !torch.int, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,4,3],f32>
  return %0 : !torch.vtensor<[2,4,3],f32>
}

// -----

func.func @types() -> !torch.vtensor<[4],f32> {
  // expected-note @below {{it is declared as 'tensor<2xf32>' here}}
  %0 = "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[2],f32>
  // expected-error @below {{'torch.fact.weight' declares weight "w" as 'tensor<4xf32>'}}
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
  // expected-error @below {{'torch.fact.weight' has a value of type 'tensor<3xf32>', but its result is '!torch.vtensor<[2],f32>'}}
  %0 = "torch.fact.weight"() {name = "w", value = dense<0.0> : tensor<3xf32>} : () -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

// Results that nobody uses have a type too.

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  // expected-error @+1 {{result 0 of 'torch.aten.relu' has element type 'complex<f32>'; supported are}}
  %0 = torch.aten.relu %x : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],complex<f32>>
  return %x : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  // expected-error @+1 {{result 0 of 'torch.aten.relu' has type '!torch.int'; only tensors are supported}}
  %0 = torch.aten.relu %x : !torch.vtensor<[4,8],f32> -> !torch.int
  return %x : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %none = torch.constant.none
  %n = torch.constant.int 8
  %shape = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %eps = torch.constant.float 1.0e-05
  // expected-error @+1 {{result 0 of 'torch.aten.native_layer_norm' has element type 'i16'; supported are}}
  %0:3 = torch.aten.native_layer_norm %x, %shape, %none, %none, %eps : !torch.vtensor<[4,8],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float -> !torch.vtensor<[4,8],i16>, !torch.vtensor<[4,1],f32>, !torch.vtensor<[4,1],f32>
  return %x : !torch.vtensor<[4,8],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
  %equation = torch.constant.str "ij->ji"
  %list = torch.prim.ListConstruct %x : (!torch.vtensor<[4,8],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  // expected-error @+1 {{result 0 of 'torch.aten.einsum' has element type 'f8E4M3FN'; supported are}}
  %0 = torch.aten.einsum %equation, %list, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[8,4],f8E4M3FN>
  return %x : !torch.vtensor<[4,8],f32>
}
