// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @literals(
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<3> : tensor<i64>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<2xi64>, tensor<i64>
func.func @literals() -> (!torch.vtensor<[2],si64>, !torch.vtensor<[],si64>) {
  %int3 = torch.constant.int 3
  %0 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %1 = torch.prim.NumToTensor.Scalar %int3 : !torch.int -> !torch.vtensor<[],si64>
  return %0, %1 : !torch.vtensor<[2],si64>, !torch.vtensor<[],si64>
}

// CHECK-LABEL: func.func @made(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x2xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1.000000e+00> : tensor<2x2xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<2.000000e+00> : tensor<2x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<{{\[\[}}true, false], [true, true{{\]\]}}> : tensor<2x2xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.select %[[V3]], %[[ARG0]], %[[V4]] : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]], %[[V5]] : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xi64>, tensor<2x2xf32>
func.func @made(%x: !torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2],si64>, !torch.vtensor<[2,2],f32>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %size = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.ones %size, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2,2],f32>
  %1 = torch.aten.full %size, %int2, %none, %none, %none, %none : !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2,2],f32>
  %2 = torch.aten.arange %int2, %none, %none, %none, %none : !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],si64>
  %3 = torch.aten.tril %x, %int0 : !torch.vtensor<[2,2],f32>, !torch.int -> !torch.vtensor<[2,2],f32>
  return %0, %1, %2, %3 : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2],si64>, !torch.vtensor<[2,2],f32>
}
