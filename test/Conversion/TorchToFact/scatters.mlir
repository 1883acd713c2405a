// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// Elements are scattered to the flattened tensor.
// CHECK-LABEL: func.func @scatter(
// CHECK: %[[PLACES:.+]] = fact.add
// CHECK: %[[FLAT:.+]] = fact.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK: %[[UPDATES:.+]] = fact.slice %arg2 dim 1 start 0 : (tensor<2x4xf32>) -> tensor<2x3xf32>
// CHECK: %[[NEW:.+]] = fact.scatter sum %[[FLAT]], %[[PLACES]], %[[UPDATES]] dim 0 : (tensor<12xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<12xf32>
// CHECK: fact.reshape %[[NEW]] : (tensor<12xf32>) -> tensor<3x4xf32>
func.func @scatter(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2,3],si64>, %arg2: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.scatter_add %arg0, %int1, %arg1, %arg2 : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[2,3],si64>, !torch.vtensor<[2,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// An index that is repeated over whole slices scatters slices.
// CHECK-LABEL: func.func @rows(
// CHECK: fact.scatter set %arg0, %{{.+}}, %arg2 dim 0 : (tensor<3x4xf32>, tensor<2xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
func.func @rows(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2,1],si64>, %arg2: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[3,4],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %0 = torch.prim.ListConstruct %int2, %int4 : (!torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.expand %arg1, %0, %false : !torch.vtensor<[2,1],si64>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,4],si64>
  %2 = torch.aten.scatter.src %arg0, %int0, %1, %arg2 : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[2,4],si64>, !torch.vtensor<[2,4],f32> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}

// The same within each batch: places are those of slices.
// CHECK-LABEL: func.func @slices(
// CHECK: %[[ROWS:.+]] = fact.reshape %arg0 : (tensor<2x5x4xf32>) -> tensor<10x4xf32>
// CHECK: fact.scatter set %[[ROWS]], %{{.+}}, %arg2 dim 0 : (tensor<10x4xf32>, tensor<2x3xi64>, tensor<2x3x4xf32>) -> tensor<10x4xf32>
func.func @slices(%arg0: !torch.vtensor<[2,5,4],f32>, %arg1: !torch.vtensor<[2,3,1],si64>, %arg2: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,5,4],f32> {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %0 = torch.prim.ListConstruct %int2, %int3, %int4 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %1 = torch.aten.expand %arg1, %0, %false : !torch.vtensor<[2,3,1],si64>, !torch.list<int>, !torch.bool -> !torch.vtensor<[2,3,4],si64>
  %2 = torch.aten.scatter.src %arg0, %int1, %1, %arg2 : !torch.vtensor<[2,5,4],f32>, !torch.int, !torch.vtensor<[2,3,4],si64>, !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[2,5,4],f32>
  return %2 : !torch.vtensor<[2,5,4],f32>
}

// Without the tensor's own elements, neutral ones take their place; a mean
// divides by a count, which is at least 1.
// CHECK-LABEL: func.func @mean(
// CHECK: %[[NEUTRAL:.+]] = fact.constant dense<0.000000e+00> : tensor<2x4xbf16>
// CHECK: %[[CLEARED:.+]] = fact.scatter set %arg0, %arg1, %[[NEUTRAL]] dim 0
// CHECK: %[[SUM:.+]] = fact.scatter sum %[[CLEARED]], %arg1, %arg2 dim 0
// CHECK: %[[ZERO:.+]] = fact.constant dense<0.000000e+00> : tensor<3x4xf32>
// CHECK: %[[ONES:.+]] = fact.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK: %[[COUNT:.+]] = fact.scatter sum %[[ZERO]], %arg1, %[[ONES]] dim 0
// CHECK: %[[DIVISOR:.+]] = fact.maximum %[[COUNT]]
// CHECK: fact.div %{{.+}}, %[[DIVISOR]]
func.func @mean(%arg0: !torch.vtensor<[3,4],bf16>, %arg1: !torch.vtensor<[2],si64>, %arg2: !torch.vtensor<[2,4],bf16>) -> !torch.vtensor<[3,4],bf16> {
  %int0 = torch.constant.int 0
  %mean = torch.constant.str "mean"
  %false = torch.constant.bool false
  %0 = torch.operator "torch.aten.index_reduce"(%arg0, %int0, %arg1, %arg2, %mean, %false) : (!torch.vtensor<[3,4],bf16>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2,4],bf16>, !torch.str, !torch.bool) -> !torch.vtensor<[3,4],bf16>
  return %0 : !torch.vtensor<[3,4],bf16>
}

// CHECK-LABEL: func.func @index_copy(
// CHECK: fact.scatter set %arg0, %arg1, %arg2 dim 1 : (tensor<2x8x4xf32>, tensor<3xi64>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
func.func @index_copy(%arg0: !torch.vtensor<[2,8,4],f32>, %arg1: !torch.vtensor<[3],si64>, %arg2: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[2,8,4],f32> {
  %int1 = torch.constant.int 1
  %0 = torch.aten.index_copy %arg0, %int1, %arg1, %arg2 : !torch.vtensor<[2,8,4],f32>, !torch.int, !torch.vtensor<[3],si64>, !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[2,8,4],f32>
  return %0 : !torch.vtensor<[2,8,4],f32>
}

// Indexed dimensions with another between them move to the front, and back.
// CHECK-LABEL: func.func @index_put(
// CHECK: %[[FRONT:.+]] = fact.permute %arg0 [0, 2, 1] : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
// CHECK: %[[MERGED:.+]] = fact.reshape %[[FRONT]] : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[UPDATES:.+]] = fact.expand %arg2 : (tensor<8xf32>) -> tensor<3x8xf32>
// CHECK: %[[NEW:.+]] = fact.scatter sum %[[MERGED]], %{{.+}}, %[[UPDATES]] dim 0
// CHECK: %[[SPLIT:.+]] = fact.reshape %[[NEW]] : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
// CHECK: fact.permute %[[SPLIT]] [0, 2, 1]
func.func @index_put(%arg0: !torch.vtensor<[2,8,4],f32>, %arg1: !torch.vtensor<[3],si64>, %arg2: !torch.vtensor<[8],f32>) -> !torch.vtensor<[2,8,4],f32> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %0 = torch.prim.ListConstruct %arg1, %none, %arg1 : (!torch.vtensor<[3],si64>, !torch.none, !torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index_put %arg0, %0, %arg2, %true : !torch.vtensor<[2,8,4],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[8],f32>, !torch.bool -> !torch.vtensor<[2,8,4],f32>
  return %1 : !torch.vtensor<[2,8,4],f32>
}

// A mask with one value is a selection.
// CHECK-LABEL: func.func @mask(
// CHECK: %[[MASK:.+]] = fact.reshape %arg1 : (tensor<2x8xi1>) -> tensor<2x8x1xi1>
// CHECK: fact.select %[[MASK]], %arg2, %arg0 : (tensor<2x8x1xi1>, tensor<4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
func.func @mask(%arg0: !torch.vtensor<[2,8,4],f32>, %arg1: !torch.vtensor<[2,8],i1>, %arg2: !torch.vtensor<[4],f32>) -> !torch.vtensor<[2,8,4],f32> {
  %false = torch.constant.bool false
  %0 = torch.prim.ListConstruct %arg1 : (!torch.vtensor<[2,8],i1>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index_put %arg0, %0, %arg2, %false : !torch.vtensor<[2,8,4],f32>, !torch.list<optional<vtensor>>, !torch.vtensor<[4],f32>, !torch.bool -> !torch.vtensor<[2,8,4],f32>
  return %1 : !torch.vtensor<[2,8,4],f32>
}

// CHECK-LABEL: func.func @masked_scatter(
// CHECK: %[[NUMBER:.+]] = fact.scan sum %{{.+}} dim 0 : tensor<12xi64>
// CHECK: %[[PLACE:.+]] = fact.sub %[[NUMBER]]
// CHECK: %[[TAKEN:.+]] = fact.gather %arg2, %[[PLACE]] dim 0
// CHECK: fact.select %{{.+}}, %[[TAKEN]], %{{.+}}
func.func @masked_scatter(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,1],i1>, %arg2: !torch.vtensor<[12],f32>) -> !torch.vtensor<[3,4],f32> {
  %0 = torch.aten.masked_scatter %arg0, %arg1, %arg2 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,1],i1>, !torch.vtensor<[12],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @diagonal_scatter(
// CHECK: %[[PLACES:.+]] = fact.constant dense<[1, 6, 11]> : tensor<3xi64>
// CHECK: fact.scatter set %{{.+}}, %[[PLACES]], %arg1 dim 0
func.func @diagonal_scatter(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3,4],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %0 = torch.aten.diagonal_scatter %arg0, %arg1, %int1, %int0, %int1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}
