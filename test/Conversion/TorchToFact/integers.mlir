// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @bits(
// CHECK: fact.and %arg0, %arg1 : (tensor<3x4xi64>, tensor<4xi64>) -> tensor<3x4xi64>
// CHECK: fact.or %{{.*}}, %arg1
// CHECK: fact.xor
// CHECK: %[[ONES:.+]] = fact.constant dense<-1> : tensor<i64>
// CHECK: fact.xor %{{.*}}, %[[ONES]]
func.func @bits(%arg0: !torch.vtensor<[3,4],si64>, %arg1: !torch.vtensor<[4],si64>) -> !torch.vtensor<[3,4],si64> {
  %int6 = torch.constant.int 6
  %0 = torch.aten.bitwise_and.Tensor %arg0, %arg1 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[3,4],si64>
  %1 = torch.aten.bitwise_or.Tensor %0, %arg1 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[3,4],si64>
  %2 = torch.aten.bitwise_xor.Scalar %1, %int6 : !torch.vtensor<[3,4],si64>, !torch.int -> !torch.vtensor<[3,4],si64>
  %3 = torch.aten.bitwise_not %2 : !torch.vtensor<[3,4],si64> -> !torch.vtensor<[3,4],si64>
  return %3 : !torch.vtensor<[3,4],si64>
}

// Masks are what the proofs about them read: selections and comparisons.
// CHECK-LABEL: func.func @masks(
// CHECK: fact.select %arg0, %arg1, %arg0
// CHECK: fact.compare ne
// CHECK-NOT: fact.and
func.func @masks(%arg0: !torch.vtensor<[4],i1>, %arg1: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.bitwise_and.Tensor %arg0, %arg1 : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  %1 = torch.aten.bitwise_xor.Tensor %0, %arg1 : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %1 : !torch.vtensor<[4],i1>
}

// Importers write a boolean as an integer where a number may be.
// CHECK-LABEL: func.func @boolean_numbers(
// CHECK: fact.select %arg0, %{{.*}} : (tensor<4xi1>, tensor<i1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK: fact.constant dense<true> : tensor<2xi1>
func.func @boolean_numbers(%arg0: !torch.vtensor<[4],i1>) -> (!torch.vtensor<[4],i1>, !torch.vtensor<[2],i1>) {
  %true = torch.constant.bool true
  %none = torch.constant.none
  %int2 = torch.constant.int 2
  %0 = torch.aten.Int.bool %true : !torch.bool -> !torch.int
  %1 = torch.aten.__and__.Scalar %arg0, %0 : !torch.vtensor<[4],i1>, !torch.int -> !torch.vtensor<[4],i1>
  %size = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
  %2 = torch.aten.Float.bool %true : !torch.bool -> !torch.float
  %3 = torch.aten.full %size, %2, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[2],i1>
  return %1, %3 : !torch.vtensor<[4],i1>, !torch.vtensor<[2],i1>
}

// CHECK-LABEL: func.func @shifts(
// CHECK: %[[TWO:.+]] = fact.constant dense<2> : tensor<i32>
// CHECK: fact.shift_left %arg0, %[[TWO]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK: fact.shift_right
func.func @shifts(%arg0: !torch.vtensor<[4],si32>, %arg1: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],si32> {
  %int2 = torch.constant.int 2
  %0 = torch.aten.__lshift__.Scalar %arg0, %int2 : !torch.vtensor<[4],si32>, !torch.int -> !torch.vtensor<[4],si32>
  %1 = torch.aten.bitwise_right_shift.Tensor %0, %arg1 : !torch.vtensor<[4],si32>, !torch.vtensor<[4],si32> -> !torch.vtensor<[4],si32>
  return %1 : !torch.vtensor<[4],si32>
}

// CHECK-LABEL: func.func @product(
// CHECK: %[[COLUMNS:.+]] = fact.permute %arg1 [1, 0]
// CHECK: %[[X:.+]] = fact.reshape %arg0 : (tensor<3x4xi64>) -> tensor<3x1x4xi64>
// CHECK: %[[Y:.+]] = fact.reshape %[[COLUMNS]] : (tensor<5x4xi64>) -> tensor<1x5x4xi64>
// CHECK: %[[XY:.+]] = fact.mul %[[X]], %[[Y]]
// CHECK: fact.reduce sum %[[XY]] dims [2] : (tensor<3x5x4xi64>) -> tensor<3x5xi64>
func.func @product(%arg0: !torch.vtensor<[3,4],si64>, %arg1: !torch.vtensor<[4,5],si64>) -> !torch.vtensor<[3,5],si64> {
  %0 = torch.aten.mm %arg0, %arg1 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[4,5],si64> -> !torch.vtensor<[3,5],si64>
  return %0 : !torch.vtensor<[3,5],si64>
}

// Squares, as often as an exponent has bits.
// CHECK-LABEL: func.func @power(
// CHECK-COUNT-6: fact.and %arg1
// CHECK: fact.and %arg0
// CHECK: %[[VANISHES:.+]] = fact.select %{{.*}} -> tensor<4xi1>
// CHECK-NEXT: %[[CHOICE:.+]] = fact.select %{{.*}} -> tensor<4xi1>
// CHECK-NEXT: %[[ZERO:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[POWER:.+]] = fact.select %[[CHOICE]], %[[ZERO]], %{{.*}}
// CHECK-NEXT: return %[[POWER]]
func.func @power(%arg0: !torch.vtensor<[4],si64>, %arg1: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %0 = torch.aten.pow.Tensor_Tensor %arg0, %arg1 : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}
