// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text that PyTorch never exports is an error all the same: no size, dimension or list of it is
// taken on trust.

// RUN: fact-opt -convert-torch-to-fact -verify-diagnostics -split-input-file %s

func.func @no_return(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  // expected-error @below {{function 'no_return' ends with 'torch.aten.relu', but must end with 'func.return'}}
  %0 = torch.aten.relu %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
}

// -----

func.func @negative_size(%i: !torch.vtensor<[3],si64>) -> !torch.vtensor<[3,-1],si64> {
  %c = torch.constant.int 4
  // expected-error @below {{has type '!torch.vtensor<[3,-1],si64>', but sizes must be 0 or more, and elements at most 2^48}}
  %0 = torch.aten.one_hot %i, %c : !torch.vtensor<[3],si64>, !torch.int -> !torch.vtensor<[3,-1],si64>
  return %0 : !torch.vtensor<[3,-1],si64>
}

// -----

// expected-error @below {{input 0 has type '!torch.vtensor<[4294967296,4294967296],f32>', but sizes must be 0 or more}}
func.func @too_large(%x: !torch.vtensor<[4294967296,4294967296],f32>) -> !torch.vtensor<[4294967296,4294967296],f32> {
  return %x : !torch.vtensor<[4294967296,4294967296],f32>
}

// -----

func.func @eye(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %c = torch.constant.int 3
  %n = torch.constant.none
  // expected-error @below {{'torch.aten.eye' returns 'tensor<3xf32>', but must return a matrix}}
  %0 = torch.aten.eye %c, %n, %n, %n, %n : !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

func.func @select_of_scalar(%x: !torch.vtensor<[],f32>) -> !torch.vtensor<[],f32> {
  %i = torch.constant.int 0
  // expected-error @below {{'torch.aten.select.int' selects along a dimension, but 'tensor<f32>' has none}}
  %0 = torch.aten.select.int %x, %i, %i : !torch.vtensor<[],f32>, !torch.int, !torch.int -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @repeat_of_scalar(%x: !torch.vtensor<[],f32>) -> !torch.vtensor<[2],f32> {
  %i = torch.constant.int 0
  %r = torch.constant.int 2
  %n = torch.constant.none
  // expected-error @below {{'torch.aten.repeat_interleave.self_int' selects along a dimension, but 'tensor<f32>' has none}}
  %0 = torch.aten.repeat_interleave.self_int %x, %r, %i, %n : !torch.vtensor<[],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @split_of_scalar(%x: !torch.vtensor<[],f32>) -> !torch.vtensor<[],f32> {
  %c = torch.constant.int 1
  // expected-error @below {{'torch.aten.chunk' needs dimension 0, which 'tensor<f32>' does not have}}
  %0 = torch.aten.chunk %x, %c : !torch.vtensor<[],f32>, !torch.int -> !torch.list<vtensor>
  %1:1 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[],f32>
  return %1#0 : !torch.vtensor<[],f32>
}

// -----

func.func @glu_of_scalar(%x: !torch.vtensor<[],f32>) -> !torch.vtensor<[],f32> {
  %d = torch.constant.int -1
  // expected-error @below {{'torch.aten.glu' selects along a dimension, but 'tensor<f32>' has none}}
  %0 = torch.aten.glu %x, %d : !torch.vtensor<[],f32>, !torch.int -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @stack_of_none() -> !torch.vtensor<[3],f32> {
  %c = torch.constant.int 0
  %l = torch.prim.ListConstruct : () -> !torch.list<vtensor>
  // expected-error @below {{argument 'tensors' of 'torch.aten.stack' is empty}}
  %0 = torch.aten.stack %l, %c : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

func.func @element_of_none() -> !torch.vtensor<[3],f32> {
  %c = torch.constant.int 0
  %l = torch.prim.ListConstruct : () -> !torch.list<vtensor>
  // expected-error @below {{argument 'list' of 'torch.aten.__getitem__.t' is empty}}
  %0 = torch.aten.__getitem__.t %l, %c : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

func.func @stack_to_scalar(%x: !torch.vtensor<[],f32>) -> !torch.vtensor<[],f32> {
  %c = torch.constant.int 0
  %l = torch.prim.ListConstruct %x : (!torch.vtensor<[],f32>) -> !torch.list<vtensor>
  // expected-error @below {{'torch.aten.stack' returns a scalar, but must return one dimension more than its operands have}}
  %0 = torch.aten.stack %l, %c : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @cat_of_ranks(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2,5],f32> {
  %c = torch.constant.int 1
  %l = torch.prim.ListConstruct %x, %y : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2],f32>) -> !torch.list<vtensor>
  // expected-error @below {{'torch.aten.cat' needs dimension 1, which 'tensor<2xf32>' does not have}}
  %0 = torch.aten.cat %l, %c : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,5],f32>
  return %0 : !torch.vtensor<[2,5],f32>
}

// -----

func.func @roll(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %d = torch.constant.int 1000000
  %s = torch.constant.int 1
  %ds = torch.prim.ListConstruct %d : (!torch.int) -> !torch.list<int>
  %ss = torch.prim.ListConstruct %s : (!torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'dims' of 'torch.aten.roll' has 1000000, which is not in [-2, 2)}}
  %0 = torch.aten.roll %x, %ss, %ds : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @flip(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %d = torch.constant.int -3
  %ds = torch.prim.ListConstruct %d : (!torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'dims' of 'torch.aten.flip' has -3, which is not in [-2, 2)}}
  %0 = torch.aten.flip %x, %ds : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @embedding(%x: !torch.vtensor<[],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],f32> {
  %p = torch.constant.int -1
  %f = torch.constant.bool false
  // expected-error @below {{'torch.aten.embedding' needs dimension 0, which 'tensor<f32>' does not have}}
  %0 = torch.aten.embedding %x, %i, %p, %f, %f : !torch.vtensor<[],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @index(%x: !torch.vtensor<[2],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],f32> {
  %l = torch.prim.ListConstruct %i, %i, %i : (!torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>) -> !torch.list<vtensor>
  // expected-error @below {{argument 'indices' of 'torch.aten.index.Tensor' indexes dimension 2, which 'tensor<2xf32>' does not have}}
  %0 = torch.aten.index.Tensor %x, %l : !torch.vtensor<[2],f32>, !torch.list<vtensor> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @gather(%x: !torch.vtensor<[2,3],f32>, %i: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2],f32> {
  %d = torch.constant.int 0
  %f = torch.constant.bool false
  // expected-error @below {{argument 'index' of 'torch.aten.gather' has rank 1, but 'self' has rank 2}}
  %0 = torch.aten.gather %x, %d, %i, %f : !torch.vtensor<[2,3],f32>, !torch.int, !torch.vtensor<[2],si64>, !torch.bool -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @take_along(%x: !torch.vtensor<[2,3],f32>, %i: !torch.vtensor<[2,1],si64>) -> !torch.vtensor<[2],f32> {
  %d = torch.constant.int 1
  // expected-error @below {{'torch.aten.take_along_dim' returns 'tensor<2xf32>' for 'tensor<2x3xf32>', but must keep the rank}}
  %0 = torch.aten.take_along_dim %x, %i, %d : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,1],si64>, !torch.int -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// -----

func.func @pad(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %a = torch.constant.int -4
  %b = torch.constant.int 4
  %z = torch.constant.float 0.0
  %l = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{argument 'pad' of 'torch.aten.constant_pad_nd' removes more elements than dimension 1 of 'tensor<2x3xf32>' has}}
  %0 = torch.aten.constant_pad_nd %x, %l, %z : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.float -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @slice_scatter(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3],f32> {
  %i = torch.constant.int 0
  %s = torch.constant.int 1
  // expected-error @below {{argument 'src' of 'torch.aten.slice_scatter' has rank 1, but 'self' has rank 2}}
  %0 = torch.aten.slice_scatter %x, %y, %i, %i, %s, %s : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @list_without_result(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %i = torch.constant.int 0
  // expected-error @below {{'torch.aten.unbind.int' has 0 results, but returns one list}}
  torch.aten.unbind.int %x, %i : !torch.vtensor<[2,3],f32>, !torch.int
  return %x : !torch.vtensor<[2,3],f32>
}

// -----

func.func @narrow(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,-2],f32> {
  %d = torch.constant.int 1
  %n = torch.constant.int -2
  // expected-error @below {{sizes must be 0 or more}}
  %0 = torch.aten.narrow %x, %d, %d, %n : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,-2],f32>
  return %0 : !torch.vtensor<[2,-2],f32>
}

// -----

// A size that is computed, not written.
func.func @computed_size(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %one = torch.constant.int 1
  %less = torch.constant.int -1
  %all = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %one, %less, %all : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  // expected-error @below {{result #0 must be}}
  %0 = torch.aten.split_with_sizes %x, %sizes, %one : !torch.vtensor<[2,3],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %1 = torch.aten.cat %0, %one : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @weight_without_a_name() -> !torch.vtensor<[4],f32> {
  // expected-error @below {{'torch.fact.weight' needs a non-empty attribute 'name'}}
  %0 = "torch.fact.weight"() {name = ""} : () -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

// The operands of a FACT op that do not fit are reported once per call.

func.func @broadcast(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[4],f32>) -> !torch.vtensor<[2,3],f32> {
  %a = torch.constant.float 0.5
  // expected-error @below {{'fact.sub' op operand shapes do not broadcast: 'tensor<4xf32>', 'tensor<2x3xf32>'}}
  %0 = torch.aten.lerp.Scalar %x, %y, %a : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// -----

func.func @contraction(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[2,5],f32> {
  // expected-error @below {{'fact.matmul' op (C2) contracted sizes differ: 3 and 4}}
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[4,5],f32> -> !torch.vtensor<[2,5],f32>
  return %0 : !torch.vtensor<[2,5],f32>
}
