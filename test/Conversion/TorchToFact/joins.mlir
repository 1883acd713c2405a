// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @hstack(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.concat %[[ARG0]], %[[ARG1]] dim 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x8xf32>
func.func @hstack(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,8],f32>) {
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.hstack %0 : !torch.list<vtensor> -> !torch.vtensor<[3,8],f32>
  return %1 : !torch.vtensor<[3,8],f32>
}

// CHECK-LABEL: func.func @vstack(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.concat %[[ARG0]], %[[ARG1]] dim 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<6x4xf32>
func.func @vstack(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[6,4],f32>) {
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) -> !torch.list<vtensor>
  %1 = torch.operator "torch.aten.vstack"(%0) : (!torch.list<vtensor>) -> !torch.vtensor<[6,4],f32> 
  return %1 : !torch.vtensor<[6,4],f32>
}

// CHECK-LABEL: func.func @dstack(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[ARG1]] : (tensor<3x4xf32>) -> tensor<3x4x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.concat %[[V0]], %[[V1]] dim 2 : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4x2xf32>
func.func @dstack(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4,2],f32>) {
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) -> !torch.list<vtensor>
  %1 = torch.operator "torch.aten.dstack"(%0) : (!torch.list<vtensor>) -> !torch.vtensor<[3,4,2],f32> 
  return %1 : !torch.vtensor<[3,4,2],f32>
}

// CHECK-LABEL: func.func @meshgrid(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3xf32>, %[[ARG1:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<3xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.expand %[[V0]] : (tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[ARG1]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.expand %[[V2]] : (tensor<1x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V1]], %[[V3]] : tensor<3x4xf32>, tensor<3x4xf32>
func.func @meshgrid(%arg0: !torch.vtensor<[3],f32>, %arg1: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) {
  %0 = torch.prim.ListConstruct %arg0, %arg1 : (!torch.vtensor<[3],f32>, !torch.vtensor<[4],f32>) -> !torch.list<vtensor>
  %str = torch.constant.str "ij"
  %1 = torch.aten.meshgrid.indexing %0, %str : !torch.list<vtensor>, !torch.str -> !torch.list<vtensor>
  %2:2 = torch.prim.ListUnpack %1 : !torch.list<vtensor> -> !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>
  return %2#0, %2#1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @eye(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<{{.+}}> : tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.cast %[[V0]] : (tensor<3x4xi1>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.add %[[V1]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xf32>
func.func @eye(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int3 = torch.constant.int 3
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %none_0 = torch.constant.none
  %cpu = torch.constant.device "cpu"
  %false = torch.constant.bool false
  %0 = torch.aten.eye.m %int3, %int4, %none, %none_0, %cpu, %false : !torch.int, !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !torch.vtensor<[3,4],f32>
  %int1 = torch.constant.int 1
  %1 = torch.aten.add.Tensor %0, %arg0, %int1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.int -> !torch.vtensor<[3,4],f32>
  return %1 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @linspace(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<[0.000000e+00, 0.333333343, 0.666666686, 1.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[V0]], %[[ARG0]] : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x4xf32>
func.func @linspace(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int4 = torch.constant.int 4
  %none = torch.constant.none
  %none_0 = torch.constant.none
  %cpu = torch.constant.device "cpu"
  %false = torch.constant.bool false
  %0 = torch.aten.linspace %int0, %int1, %int4, %none, %none_0, %cpu, %false : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.Device, !torch.bool -> !torch.vtensor<[4],f32>
  %int1_1 = torch.constant.int 1
  %1 = torch.aten.add.Tensor %0, %arg0, %int1_1 : !torch.vtensor<[4],f32>, !torch.vtensor<[3,4],f32>, !torch.int -> !torch.vtensor<[3,4],f32>
  return %1 : !torch.vtensor<[3,4],f32>
}

// Nothing is left of a concatenation of tensors without elements.
// CHECK-LABEL: func.func @cat_of_nothing(
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.000000e+00> : tensor<0x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<0xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @cat_of_nothing(%arg0: !torch.vtensor<[0],f32>) -> (!torch.vtensor<[0,4],f32>, !torch.vtensor<[0],f32>) {
  %int0 = torch.constant.int 0
  %0 = torch.prim.ListConstruct : () -> !torch.list<vtensor>
  %1 = torch.aten.cat %0, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[0,4],f32>
  %2 = torch.prim.ListConstruct %arg0, %arg0 : (!torch.vtensor<[0],f32>, !torch.vtensor<[0],f32>) -> !torch.list<vtensor>
  %3 = torch.aten.cat %2, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[0],f32>
  return %1, %3 : !torch.vtensor<[0,4],f32>, !torch.vtensor<[0],f32>
}
