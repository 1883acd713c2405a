// RUN: fact-opt -convert-torch-to-fact %s -verify-diagnostics -split-input-file

func.func @masks(%x: !torch.vtensor<[3,4],f32>, %m: !torch.vtensor<[3],i1>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %false = torch.constant.bool false
  %mask = torch.prim.ListConstruct %m : (!torch.vtensor<[3],i1>) -> !torch.list<vtensor>
  // expected-error @below {{argument 'values' of 'torch.aten.index_put' is 'tensor<2x4xf32>'; for a mask, only one value for all of its elements is supported; use torch.where or masked_scatter}}
  %0 = torch.aten.index_put %x, %mask, %v, %false : !torch.vtensor<[3,4],f32>, !torch.list<vtensor>, !torch.vtensor<[2,4],f32>, !torch.bool -> !torch.vtensor<[3,4],f32>
  %both = torch.prim.ListConstruct %m, %i : (!torch.vtensor<[3],i1>, !torch.vtensor<[2],si64>) -> !torch.list<vtensor>
  // expected-error @below {{argument 'indices' of 'torch.aten.index_put' has a boolean mask beside other indices; only one mask alone is supported}}
  %1 = torch.aten.index_put %x, %both, %v, %false : !torch.vtensor<[3,4],f32>, !torch.list<vtensor>, !torch.vtensor<[2,4],f32>, !torch.bool -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// -----

func.func @reductions(%x: !torch.vtensor<[3],si64>, %i: !torch.vtensor<[2],si64>, %s: !torch.vtensor<[1],si64>) -> !torch.vtensor<[3],si64> {
  %int0 = torch.constant.int 0
  %int7 = torch.constant.int 7
  %mean = torch.constant.str "mean"
  %norm = torch.constant.str "norm"
  %true = torch.constant.bool true
  // expected-error @below {{argument 'reduce' of 'torch.aten.scatter_reduce.two' is 'mean', which needs floats, not 'i64'}}
  %0 = torch.aten.scatter_reduce.two %x, %int0, %i, %i, %mean, %true : !torch.vtensor<[3],si64>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>, !torch.str, !torch.bool -> !torch.vtensor<[3],si64>
  // expected-error @below {{argument 'reduce' of 'torch.aten.scatter_reduce.two' is 'norm', but must be 'sum', 'prod', 'mean', 'amax' or 'amin'}}
  %1 = torch.aten.scatter_reduce.two %x, %int0, %i, %i, %norm, %true : !torch.vtensor<[3],si64>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>, !torch.str, !torch.bool -> !torch.vtensor<[3],si64>
  // expected-error @below {{argument 'src' of 'torch.aten.scatter.src' is 'tensor<1xi64>', but 'index' has size 2 in dimension 0}}
  %2 = torch.aten.scatter.src %x, %int0, %i, %s : !torch.vtensor<[3],si64>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[1],si64> -> !torch.vtensor<[3],si64>
  // expected-error @below {{argument 'k' of 'torch.aten.topk' is 7, but must be in [0, 3]}}
  %3, %4 = torch.aten.topk %x, %int7, %int0, %true, %true : !torch.vtensor<[3],si64>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[7],si64>, !torch.vtensor<[7],si64>
  return %0 : !torch.vtensor<[3],si64>
}
