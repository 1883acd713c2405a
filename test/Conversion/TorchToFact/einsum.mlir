// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @einsum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>, %[[ARG1:.+]]: tensor<2x4x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x5xf32>
func.func @einsum(%arg0: !torch.vtensor<[2,3,4],f32>, %arg1: !torch.vtensor<[2,4,5],f32>) -> (!torch.vtensor<[2,3,5],f32>) {
  %str = torch.constant.str "bij,bjk->bik"
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,4,5],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,3,5],f32>
  return %1 : !torch.vtensor<[2,3,5],f32>
}

// CHECK-LABEL: func.func @einsum2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x8xf32>, %[[ARG1:.+]]: tensor<2x4x6x8xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] transpose_b : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x5x6xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x5x6xf32>
func.func @einsum2(%arg0: !torch.vtensor<[2,4,5,8],f32>, %arg1: !torch.vtensor<[2,4,6,8],f32>) -> (!torch.vtensor<[2,4,5,6],f32>) {
  %str = torch.constant.str "bhid,bhjd->bhij"
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[2,4,5,8],f32>, !torch.vtensor<[2,4,6,8],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[2,4,5,6],f32>
  return %1 : !torch.vtensor<[2,4,5,6],f32>
}

// CHECK-LABEL: func.func @einsum3(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce sum %[[ARG0]] dims [0] : (tensor<3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @einsum3(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[4],f32>) {
  %str = torch.constant.str "ij->j"
  %0 = torch.prim.ListConstruct %arg0 : (!torch.vtensor<[3,4],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @einsum4(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<4x4xf32>) -> tensor<16xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[V0]] dim 0 start 0 step 5 : (tensor<16xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
func.func @einsum4(%arg0: !torch.vtensor<[4,4],f32>) -> (!torch.vtensor<[4],f32>) {
  %str = torch.constant.str "ii->i"
  %0 = torch.prim.ListConstruct %arg0 : (!torch.vtensor<[4,4],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @einsum5(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<4x5xf32>, %[[ARG2:.+]]: tensor<5x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.matmul %[[V0]], %[[ARG2]] : (tensor<3x5xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x6xf32>
func.func @einsum5(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[4,5],f32>, %arg2: !torch.vtensor<[5,6],f32>) -> (!torch.vtensor<[3,6],f32>) {
  %str = torch.constant.str "ij,jk,kl->il"
  %0 = torch.prim.ListConstruct %arg0, %arg1, %arg2 : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4,5],f32>, !torch.vtensor<[5,6],f32>) -> !torch.list<vtensor>
  %none = torch.constant.none
  %1 = torch.aten.einsum %str, %0, %none : !torch.str, !torch.list<vtensor>, !torch.none -> !torch.vtensor<[3,6],f32>
  return %1 : !torch.vtensor<[3,6],f32>
}
