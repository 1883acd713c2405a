// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @embedding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>, %[[ARG1:.+]]: tensor<12x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.gather %[[ARG1]], %[[ARG0]] dim 0 : (tensor<12x5xf32>, tensor<3x4xi64>) -> tensor<3x4x5xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4x5xf32>
func.func @embedding(%arg0: !torch.vtensor<[3,4],si64>, %arg1: !torch.vtensor<[12,5],f32>) -> (!torch.vtensor<[3,4,5],f32>) {
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %false_0 = torch.constant.bool false
  %0 = torch.aten.embedding %arg1, %arg0, %int-1, %false, %false_0 : !torch.vtensor<[12,5],f32>, !torch.vtensor<[3,4],si64>, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[3,4,5],f32>
  return %0 : !torch.vtensor<[3,4,5],f32>
}

// CHECK-LABEL: func.func @index_select(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.gather %[[ARG0]], %[[ARG1]] dim 1 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x2xf32>
func.func @index_select(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[3,2],f32>) {
  %int1 = torch.constant.int 1
  %0 = torch.aten.index_select %arg0, %int1, %arg1 : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[3,2],f32>
  return %0 : !torch.vtensor<[3,2],f32>
}

// CHECK-LABEL: func.func @index(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<3> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[ARG1]], %[[V0]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V3:.+]] = fact.compare lt %[[ARG1]], %[[V2]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V3]], %[[V1]], %[[ARG1]] : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V5:.+]] = fact.gather %[[ARG0]], %[[V4]] dim 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V5]] : tensor<2x4xf32>
func.func @index(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2,4],f32>) {
  %0 = torch.prim.ListConstruct %arg1 : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[2,4],f32>
  return %1 : !torch.vtensor<[2,4],f32>
}

// CHECK-LABEL: func.func @index2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<4> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[ARG1]], %[[V0]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V3:.+]] = fact.compare lt %[[ARG1]], %[[V2]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V3]], %[[V1]], %[[ARG1]] : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V5:.+]] = fact.gather %[[ARG0]], %[[V4]] dim 1 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V5]] : tensor<3x2xf32>
func.func @index2(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[3,2],f32>) {
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %none, %arg1 : (!torch.none, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3,2],f32>
  return %1 : !torch.vtensor<[3,2],f32>
}

// CHECK-LABEL: func.func @index_ii(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<4> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[ARG1]], %[[V0]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V3:.+]] = fact.compare lt %[[ARG1]], %[[V2]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V3]], %[[V1]], %[[ARG1]] : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V5:.+]] = fact.constant dense<3> : tensor<i64>
// CHECK-NEXT: %[[V6:.+]] = fact.add %[[ARG1]], %[[V5]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V7:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V8:.+]] = fact.compare lt %[[ARG1]], %[[V7]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.select %[[V8]], %[[V6]], %[[ARG1]] : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V10:.+]] = fact.constant dense<4> : tensor<i64>
// CHECK-NEXT: %[[V11:.+]] = fact.mul %[[V9]], %[[V10]] : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V12:.+]] = fact.add %[[V4]], %[[V11]] : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V13:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.gather %[[V13]], %[[V12]] dim 0 : (tensor<12xf32>, tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: return %[[V14]] : tensor<2xf32>
func.func @index_ii(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2],f32>) {
  %0 = torch.prim.ListConstruct %arg1, %arg1 : (!torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}

// Indices that vary along dimensions of their own are gathers of one dimension each.
// CHECK-LABEL: func.func @index_apart(
// CHECK-SAME: %[[ARG0:.+]]: tensor<5x3x4xf32>, %[[ROWS:.+]]: tensor<6x1xi64>, %[[COLUMNS:.+]]: tensor<2xi64>
// CHECK: %[[FLAT:.+]] = fact.reshape %[[ROWS]] : (tensor<6x1xi64>) -> tensor<6xi64>
// CHECK: %[[ROW:.+]] = fact.select {{.*}}, %[[FLAT]] :
// CHECK: %[[V0:.+]] = fact.gather %[[ARG0]], %[[ROW]] dim 1 : (tensor<5x3x4xf32>, tensor<6xi64>) -> tensor<5x6x4xf32>
// CHECK: %[[COLUMN:.+]] = fact.select {{.*}}, %[[COLUMNS]] :
// CHECK: %[[V1:.+]] = fact.gather %[[V0]], %[[COLUMN]] dim 2 : (tensor<5x6x4xf32>, tensor<2xi64>) -> tensor<5x6x2xf32>
// CHECK-NEXT: return %[[V1]] : tensor<5x6x2xf32>
func.func @index_apart(%arg0: !torch.vtensor<[5,3,4],f32>, %arg1: !torch.vtensor<[6,1],si64>, %arg2: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[5,6,2],f32>) {
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %none, %arg1, %arg2 : (!torch.none, !torch.vtensor<[6,1],si64>, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[5,3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[5,6,2],f32>
  return %1 : !torch.vtensor<[5,6,2],f32>
}

// The columns vary along the first dimension of the result: places are linearized.
// CHECK-LABEL: func.func @index_crossed(
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 1 : (tensor<5x12xf32>, tensor<2x6xi64>) -> tensor<5x2x6xf32>
func.func @index_crossed(%arg0: !torch.vtensor<[5,3,4],f32>, %arg1: !torch.vtensor<[6],si64>, %arg2: !torch.vtensor<[2,1],si64>) -> (!torch.vtensor<[5,2,6],f32>) {
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %none, %arg1, %arg2 : (!torch.none, !torch.vtensor<[6],si64>, !torch.vtensor<[2,1],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[5,3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[5,2,6],f32>
  return %1 : !torch.vtensor<[5,2,6],f32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG1]], %[[V0]] : (tensor<3x2xi64>, tensor<i64>) -> tensor<3x2xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<[0, 4, 8]> : tensor<3xi64>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[V2]] : (tensor<3xi64>) -> tensor<3x1xi64>
// CHECK-NEXT: %[[V4:.+]] = fact.add %[[V1]], %[[V3]] : (tensor<3x2xi64>, tensor<3x1xi64>) -> tensor<3x2xi64>
// CHECK-NEXT: %[[V5:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.gather %[[V5]], %[[V4]] dim 0 : (tensor<12xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V6]] : tensor<3x2xf32>
func.func @gather(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,2],si64>) -> (!torch.vtensor<[3,2],f32>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.gather %arg0, %int1, %arg1, %false : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[3,2],si64>, !torch.bool -> !torch.vtensor<[3,2],f32>
  return %0 : !torch.vtensor<[3,2],f32>
}

// One element of each row: PyTorch refuses indices beyond the row.
// CHECK-LABEL: func.func @gather_from_rows(
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 {fact.row_size = 4 : i64} : (tensor<12xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
func.func @gather_from_rows(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,1],si64>) -> (!torch.vtensor<[3,1],f32>) {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.gather %arg0, %int1, %arg1, %false : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[3,1],si64>, !torch.bool -> !torch.vtensor<[3,1],f32>
  return %0 : !torch.vtensor<[3,1],f32>
}

// Fewer rows than there are, and columns.
// CHECK-LABEL: func.func @gather_from_some(
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 : (tensor<12xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 : (tensor<12xf32>, tensor<1x4xi64>) -> tensor<1x4xf32>
func.func @gather_from_some(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[2,1],si64>, %arg2: !torch.vtensor<[1,4],si64>) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[1,4],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.gather %arg0, %int1, %arg1, %false : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[2,1],si64>, !torch.bool -> !torch.vtensor<[2,1],f32>
  %1 = torch.aten.gather %arg0, %int0, %arg2, %false : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[1,4],si64>, !torch.bool -> !torch.vtensor<[1,4],f32>
  return %0, %1 : !torch.vtensor<[2,1],f32>, !torch.vtensor<[1,4],f32>
}

// CHECK-LABEL: func.func @index_rows(
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 {fact.row_size = 4 : i64} : (tensor<12xf32>, tensor<3xi64>) -> tensor<3xf32>
func.func @index_rows(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3],si64>) -> (!torch.vtensor<[3],f32>) {
  %rows = torch.vtensor.literal(dense<[0, 1, 2]> : tensor<3xsi64>) : !torch.vtensor<[3],si64>
  %0 = torch.prim.ListConstruct %rows, %arg1 : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3],f32>
  return %1 : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @index_other_rows(
// CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 : (tensor<12xf32>, tensor<3xi64>) -> tensor<3xf32>
func.func @index_other_rows(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3],si64>) -> (!torch.vtensor<[3],f32>) {
  %rows = torch.vtensor.literal(dense<[0, 2, 1]> : tensor<3xsi64>) : !torch.vtensor<[3],si64>
  %0 = torch.prim.ListConstruct %rows, %arg1 : (!torch.vtensor<[3],si64>, !torch.vtensor<[3],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten.index.Tensor %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[3],f32>
  return %1 : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @take_along(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x2xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG1]], %[[V0]] : (tensor<3x2xi64>, tensor<i64>) -> tensor<3x2xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<[0, 4, 8]> : tensor<3xi64>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[V2]] : (tensor<3xi64>) -> tensor<3x1xi64>
// CHECK-NEXT: %[[V4:.+]] = fact.add %[[V1]], %[[V3]] : (tensor<3x2xi64>, tensor<3x1xi64>) -> tensor<3x2xi64>
// CHECK-NEXT: %[[V5:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.gather %[[V5]], %[[V4]] dim 0 : (tensor<12xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V6]] : tensor<3x2xf32>
func.func @take_along(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,2],si64>) -> (!torch.vtensor<[3,2],f32>) {
  %int1 = torch.constant.int 1
  %0 = torch.operator "torch.aten.take_along_dim"(%arg0, %arg1, %int1) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,2],si64>, !torch.int) -> !torch.vtensor<[3,2],f32> 
  return %0 : !torch.vtensor<[3,2],f32>
}

// CHECK-LABEL: func.func @one_hot(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xi64>) -> tensor<3x4x1xi64>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.compare eq %[[V0]], %[[V1]] : (tensor<3x4x1xi64>, tensor<12xi64>) -> tensor<3x4x12xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.cast %[[V2]] : (tensor<3x4x12xi1>) -> tensor<3x4x12xi64>
// CHECK-NEXT: return %[[V3]] : tensor<3x4x12xi64>
func.func @one_hot(%arg0: !torch.vtensor<[3,4],si64>) -> (!torch.vtensor<[3,4,12],si64>) {
  %int12 = torch.constant.int 12
  %0 = torch.aten.one_hot %arg0, %int12 : !torch.vtensor<[3,4],si64>, !torch.int -> !torch.vtensor<[3,4,12],si64>
  return %0 : !torch.vtensor<[3,4,12],si64>
}

// CHECK-LABEL: func.func @flip(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<[3, 2, 1, 0]> : tensor<4xi64>
// CHECK-NEXT: %[[V1:.+]] = fact.gather %[[ARG0]], %[[V0]] dim 1 : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x4xf32>
func.func @flip(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %1 = torch.aten.flip %arg0, %0 : !torch.vtensor<[3,4],f32>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %1 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @roll(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 3 : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 1 start 0 : (tensor<3x4xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[V1]] dim 1 : (tensor<3x1xf32>, tensor<3x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xf32>
func.func @roll(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %int-1 = torch.constant.int -1
  %1 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %2 = torch.aten.roll %arg0, %0, %1 : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @roll2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 0 start 2 : (tensor<3x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 0 start 0 : (tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[V1]] dim 0 : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.slice %[[V2]] dim 1 start 2 : (tensor<3x4xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.slice %[[V2]] dim 1 start 0 : (tensor<3x4xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.concat %[[V3]], %[[V4]] dim 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V5]] : tensor<3x4xf32>
func.func @roll2(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %0 = torch.prim.ListConstruct %int1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %int0 = torch.constant.int 0
  %int1_0 = torch.constant.int 1
  %1 = torch.prim.ListConstruct %int0, %int1_0 : (!torch.int, !torch.int) -> !torch.list<int>
  %2 = torch.aten.roll %arg0, %0, %1 : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @rollf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[V0]] dim 0 start 11 : (tensor<12xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.slice %[[V0]] dim 0 start 0 : (tensor<12xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.concat %[[V1]], %[[V2]] dim 0 : (tensor<1xf32>, tensor<11xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[V3]] : (tensor<12xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @rollf(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int1 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
  %2 = torch.aten.roll %arg0, %0, %1 : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.000000e+00> : tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[ARG0]], %[[V1]] dim 1 : (tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x7xf32>
func.func @pad(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,7],f32>) {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %0 = torch.prim.ListConstruct %int1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %str = torch.constant.str "constant"
  %none = torch.constant.none
  %1 = torch.aten.pad %arg0, %0, %str, %none : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[3,7],f32>
  return %1 : !torch.vtensor<[3,7],f32>
}

// CHECK-LABEL: func.func @padv(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1.500000e+00> : tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<1.500000e+00> : tensor<3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[ARG0]], %[[V1]] dim 1 : (tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<1.500000e+00> : tensor<1x7xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.concat %[[V2]], %[[V3]] dim 0 : (tensor<3x7xf32>, tensor<1x7xf32>) -> tensor<4x7xf32>
// CHECK-NEXT: return %[[V4]] : tensor<4x7xf32>
func.func @padv(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[4,7],f32>) {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int0 = torch.constant.int 0
  %int1_0 = torch.constant.int 1
  %0 = torch.prim.ListConstruct %int1, %int2, %int0, %int1_0 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %str = torch.constant.str "constant"
  %float1.500000e00 = torch.constant.float 1.500000e+00
  %1 = torch.aten.pad %arg0, %0, %str, %float1.500000e00 : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.str, !torch.float -> !torch.vtensor<[4,7],f32>
  return %1 : !torch.vtensor<[4,7],f32>
}

// CHECK-LABEL: func.func @padneg(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 1 : (tensor<3x4xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[V1]] dim 1 : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x5xf32>
func.func @padneg(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,5],f32>) {
  %int-1 = torch.constant.int -1
  %int2 = torch.constant.int 2
  %0 = torch.prim.ListConstruct %int-1, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %str = torch.constant.str "constant"
  %none = torch.constant.none
  %1 = torch.aten.pad %arg0, %0, %str, %none : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[3,5],f32>
  return %1 : !torch.vtensor<[3,5],f32>
}

// CHECK-LABEL: func.func @select_scatter(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG1]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 0 start 0 : (tensor<3x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.slice %[[ARG0]] dim 0 start 2 : (tensor<3x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.concat %[[V1]], %[[V0]], %[[V2]] dim 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @select_scatter(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %0 = torch.aten.select_scatter %arg0, %arg1, %int0, %int1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @slice_scatter(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<1x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 0 start 0 : (tensor<3x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 0 start 2 : (tensor<3x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[ARG1]], %[[V1]] dim 0 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xf32>
func.func @slice_scatter(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[1,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int1_0 = torch.constant.int 1
  %0 = torch.aten.slice_scatter %arg0, %arg1, %int0, %int1, %int2, %int1_0 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[1,4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @setitem2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.expand %[[V0]] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[V1]] : (tensor<3xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.slice %[[ARG0]] dim 1 start 1 : (tensor<3x4xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.concat %[[V2]], %[[V3]] dim 1 : (tensor<3x1xf32>, tensor<3x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @setitem2(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.clone %arg0, %none : !torch.vtensor<[3,4],f32>, !torch.none -> !torch.vtensor<[3,4],f32>
  %1 = "torch.fact.weight"() {constant, name = "lifted_tensor_0", value = dense<1.000000e+00> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %none_0 = torch.constant.none
  %2 = torch.aten.clone %1, %none_0 : !torch.vtensor<[],f32>, !torch.none -> !torch.vtensor<[],f32>
  %int1 = torch.constant.int 1
  %int0 = torch.constant.int 0
  %3 = torch.aten.select.int %0, %int1, %int0 : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[3],f32>
  %4 = torch.aten.fill.Tensor %3, %2 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[3],f32>
  %int1_1 = torch.constant.int 1
  %int0_2 = torch.constant.int 0
  %5 = torch.aten.select_scatter %0, %4, %int1_1, %int0_2 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  return %5 : !torch.vtensor<[3,4],f32>
}

// Dimensions between the indexed ones come after those of the indices.
// CHECK-LABEL: func.func @index_with_gap(
// CHECK: %[[FRONT:.+]] = fact.permute %{{.+}} [0, 2, 1] : (tensor<3x5x4xf32>) -> tensor<3x4x5xf32>
// CHECK: %[[MERGED:.+]] = fact.reshape %[[FRONT]] : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
// CHECK: fact.gather %[[MERGED]], %{{.+}} dim 0 : (tensor<12x5xf32>, tensor<2xi64>) -> tensor<2x5xf32>
func.func @index_with_gap(%arg0: !torch.vtensor<[3,5,4],f32>, %arg1: !torch.vtensor<[2],si64>) -> (!torch.vtensor<[2,5],f32>) {
  %none = torch.constant.none
  %0 = torch.prim.ListConstruct %arg1, %none, %arg1 : (!torch.vtensor<[2],si64>, !torch.none, !torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  %1 = torch.aten._unsafe_index.Tensor %arg0, %0 : !torch.vtensor<[3,5,4],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[2,5],f32>
  return %1 : !torch.vtensor<[2,5],f32>
}

// One element of each computed row is computed from gathered operands: what is
// the same along the dimension as it is, a vector along it by the index.
// CHECK-LABEL: func.func @gather_computed(
// CHECK-SAME: %[[X:.+]]: tensor<3x8xf32>, %[[ROW:.+]]: tensor<3x1xf32>, %[[COLUMN:.+]]: tensor<8xf32>, %[[INDEX:.+]]: tensor<3x1xi64>
// CHECK-DAG: %[[FLAT:.+]] = fact.reshape %[[X]] : (tensor<3x8xf32>) -> tensor<24xf32>
// CHECK: %[[XS:.+]] = fact.gather %[[FLAT]], %{{.+}} dim 0 {fact.row_size = 8 : i64} : (tensor<24xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
// CHECK: %[[SHIFTED:.+]] = fact.sub %[[XS]], %[[ROW]] : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK: %[[COLUMNS:.+]] = fact.gather %[[COLUMN]], %[[INDEX]] dim 0 : (tensor<8xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
// CHECK: %[[SCALED:.+]] = fact.mul %[[SHIFTED]], %[[COLUMNS]] : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK: return %[[SCALED]]
func.func @gather_computed(%arg0: !torch.vtensor<[3,8],f32>, %arg1: !torch.vtensor<[3,1],f32>, %arg2: !torch.vtensor<[8],f32>, %arg3: !torch.vtensor<[3,1],si64>) -> !torch.vtensor<[3,1],f32> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.sub.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[3,8],f32>, !torch.vtensor<[3,1],f32>, !torch.int -> !torch.vtensor<[3,8],f32>
  %1 = torch.aten.mul.Tensor %0, %arg2 : !torch.vtensor<[3,8],f32>, !torch.vtensor<[8],f32> -> !torch.vtensor<[3,8],f32>
  %2 = torch.aten.gather %1, %int1, %arg3, %false : !torch.vtensor<[3,8],f32>, !torch.int, !torch.vtensor<[3,1],si64>, !torch.bool -> !torch.vtensor<[3,1],f32>
  return %2 : !torch.vtensor<[3,1],f32>
}

// An index of fewer rows takes the first of what its operands have.
// CHECK-LABEL: func.func @gather_fewer_rows(
// CHECK: %[[FIRST:.+]] = fact.slice %{{.+}} dim 0 start 0 : (tensor<3x1xf32>) -> tensor<2x1xf32>
// CHECK: fact.sub %{{.+}}, %[[FIRST]] : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
func.func @gather_fewer_rows(%arg0: !torch.vtensor<[3,8],f32>, %arg1: !torch.vtensor<[3,1],f32>, %arg2: !torch.vtensor<[2,1],si64>) -> !torch.vtensor<[2,1],f32> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.sub.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[3,8],f32>, !torch.vtensor<[3,1],f32>, !torch.int -> !torch.vtensor<[3,8],f32>
  %1 = torch.aten.gather %0, %int1, %arg2, %false : !torch.vtensor<[3,8],f32>, !torch.int, !torch.vtensor<[2,1],si64>, !torch.bool -> !torch.vtensor<[2,1],f32>
  return %1 : !torch.vtensor<[2,1],f32>
}

// Many elements are computed first, and none twice.
// CHECK-LABEL: func.func @gather_many(
// CHECK: %[[SUM:.+]] = fact.sub %{{.+}} -> tensor<3x8xf32>
// CHECK: %[[FLAT:.+]] = fact.reshape %[[SUM]]
// CHECK: fact.gather %[[FLAT]]
func.func @gather_many(%arg0: !torch.vtensor<[3,8],f32>, %arg1: !torch.vtensor<[3,1],f32>, %arg2: !torch.vtensor<[3,3],si64>) -> !torch.vtensor<[3,3],f32> {
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %0 = torch.aten.sub.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[3,8],f32>, !torch.vtensor<[3,1],f32>, !torch.int -> !torch.vtensor<[3,8],f32>
  %1 = torch.aten.gather %0, %int1, %arg2, %false : !torch.vtensor<[3,8],f32>, !torch.int, !torch.vtensor<[3,3],si64>, !torch.bool -> !torch.vtensor<[3,3],f32>
  return %1 : !torch.vtensor<[3,3],f32>
}
