// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce sum %[[ARG0]] dims [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce sum %[[ARG0]] dims [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.reduce sum %[[ARG0]] dims [0, 1, 2] keep : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]] : tensor<3xf32>, tensor<f32>, tensor<1x1x1xf32>
func.func @sum(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[1,1,1],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %d0 = torch.constant.int -1
  %d1 = torch.constant.int 0
  %dims = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
  %1 = torch.aten.sum %x, %none : !torch.vtensor<[2,3,4],f32>, !torch.none -> !torch.vtensor<[],f32>
  %2 = torch.aten.sum.dim_IntList %x, %none, %true, %none : !torch.vtensor<[2,3,4],f32>, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[1,1,1],f32>
  return %0, %1, %2 : !torch.vtensor<[3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[1,1,1],f32>
}

// CHECK-LABEL: func.func @sum_of_integers(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xi32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce sum %[[V0]] dims [0] : (tensor<4xi64>) -> tensor<i64>
// CHECK-NEXT: return %[[V1]] : tensor<i64>
func.func @sum_of_integers(%x: !torch.vtensor<[4],si32>) -> (!torch.vtensor<[],si64>) {
  %none = torch.constant.none
  %0 = torch.aten.sum %x, %none : !torch.vtensor<[4],si32>, !torch.none -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}

// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xbf16>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce mean %[[ARG0]] dims [2] keep : (tensor<2x3x4xbf16>) -> tensor<2x3x1xbf16>
// CHECK-NEXT: %[[V1:.+]] = fact.cast %[[ARG0]] : (tensor<2x3x4xbf16>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reduce mean %[[V1]] dims [2] keep : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: return %[[V0]], %[[V2]] : tensor<2x3x1xbf16>, tensor<2x3x1xf32>
func.func @mean(%x: !torch.vtensor<[2,3,4],bf16>) -> (!torch.vtensor<[2,3,1],bf16>, !torch.vtensor<[2,3,1],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %f32 = torch.constant.int 6
  %d0 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %d0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.mean.dim %x, %dims, %true, %none : !torch.vtensor<[2,3,4],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,3,1],bf16>
  %1 = torch.aten.mean.dim %x, %dims, %true, %f32 : !torch.vtensor<[2,3,4],bf16>, !torch.list<int>, !torch.bool, !torch.int -> !torch.vtensor<[2,3,1],f32>
  return %0, %1 : !torch.vtensor<[2,3,1],bf16>, !torch.vtensor<[2,3,1],f32>
}

// CHECK-LABEL: func.func @extrema(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce max %[[ARG0]] dims [0, 1] : (tensor<2x3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce min %[[ARG0]] dims [0, 1] keep : (tensor<2x3x4xf32>) -> tensor<1x1x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reduce max %[[ARG0]] dims [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]] : tensor<4xf32>, tensor<1x1x4xf32>, tensor<2x4xf32>
func.func @extrema(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[1,1,4],f32>, !torch.vtensor<[2,4],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %int1 = torch.constant.int 1
  %d0 = torch.constant.int 0
  %d1 = torch.constant.int 1
  %dims = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.amax %x, %dims, %false : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4],f32>
  %1 = torch.aten.amin %x, %dims, %true : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,1,4],f32>
  %2:2 = torch.aten.max.dim %x, %int1, %false : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],si64>
  return %0, %1, %2#0 : !torch.vtensor<[4],f32>, !torch.vtensor<[1,1,4],f32>, !torch.vtensor<[2,4],f32>
}

// CHECK-LABEL: func.func @variance(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce mean %[[ARG0]] dims [2] keep : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V1]], %[[V1]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reduce mean %[[V2]] dims [2] keep : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<1.33333337> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.mul %[[V3]], %[[V4]] : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.reduce mean %[[ARG0]] dims [2] keep : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.sub %[[ARG0]], %[[V6]] : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.mul %[[V7]], %[[V7]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.reduce mean %[[V8]] dims [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.sqrt %[[V9]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V5]], %[[V10]] : tensor<2x3x1xf32>, tensor<2x3xf32>
func.func @variance(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[2,3,1],f32>, !torch.vtensor<[2,3],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %int1 = torch.constant.int 1
  %d0 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %d0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.var.correction %x, %dims, %int1, %true : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.int, !torch.bool -> !torch.vtensor<[2,3,1],f32>
  %1 = torch.aten.std.dim %x, %dims, %false, %false : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[2,3],f32>
  return %0, %1 : !torch.vtensor<[2,3,1],f32>, !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xbf16>
// CHECK-NEXT: %[[V0:.+]] = fact.softmax %[[ARG0]] dim 1 : tensor<2x3xbf16>
// CHECK-NEXT: %[[V1:.+]] = fact.cast %[[ARG0]] : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.softmax %[[V1]] dim 1 : tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.softmax %[[V2]] dim 1 : tensor<2x3xf32>
// CHECK-NEXT: return %[[V0]], %[[V3]] : tensor<2x3xbf16>, tensor<2x3xf32>
func.func @softmax(%x: !torch.vtensor<[2,3],bf16>) -> (!torch.vtensor<[2,3],bf16>, !torch.vtensor<[2,3],f32>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %int-1 = torch.constant.int -1
  %int6 = torch.constant.int 6
  %0 = torch.aten.softmax.int %x, %int-1, %none : !torch.vtensor<[2,3],bf16>, !torch.int, !torch.none -> !torch.vtensor<[2,3],bf16>
  %1 = torch.aten.softmax.int %x, %int-1, %int6 : !torch.vtensor<[2,3],bf16>, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten._softmax %1, %int-1, %false : !torch.vtensor<[2,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[2,3],f32>
  return %0, %2 : !torch.vtensor<[2,3],bf16>, !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce max %[[ARG0]] dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.exp %[[V1]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reduce sum %[[V2]] dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.log %[[V3]] : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.sub %[[V1]], %[[V4]] : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V5]] : tensor<2x3xf32>
func.func @log_softmax(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %none = torch.constant.none
  %int1 = torch.constant.int 1
  %0 = torch.aten.log_softmax.int %x, %int1, %none : !torch.vtensor<[2,3],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>, %[[ARG2:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.norm layer %[[ARG0]] weight %[[ARG1]] bias %[[ARG2]] eps 1.000000e-05 dims 2 : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.norm layer %[[V0]] eps 1.000000e-05 dims 2 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x3x4xf32>
func.func @layer_norm(%x: !torch.vtensor<[2,3,4],f32>, %w: !torch.vtensor<[3,4],f32>, %b: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[2,3,4],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %eps = torch.constant.float 1.0e-5
  %d0 = torch.constant.int 3
  %d1 = torch.constant.int 4
  %dims = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.layer_norm %x, %dims, %w, %b, %eps, %false : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,3,4],f32>
  %1:3 = torch.aten.native_layer_norm %0, %dims, %none, %none, %eps : !torch.vtensor<[2,3,4],f32>, !torch.list<int>, !torch.none, !torch.none, !torch.float -> !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,1,1],f32>, !torch.vtensor<[2,1,1],f32>
  return %1#0 : !torch.vtensor<[2,3,4],f32>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4xf32>, %[[ARG1:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.norm rms %[[ARG0]] weight %[[ARG1]] eps 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.norm rms %[[V0]] eps 1.1920928955078125E-7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x4xf32>
func.func @rms_norm(%x: !torch.vtensor<[2,4],f32>, %w: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2,4],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %eps = torch.constant.float 1.0e-5
  %d0 = torch.constant.int 4
  %dims = torch.prim.ListConstruct %d0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.rms_norm %x, %dims, %w, %eps : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[2,4],f32>
  %1 = torch.aten.rms_norm %0, %dims, %none, %none : !torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[2,4],f32>
  return %1 : !torch.vtensor<[2,4],f32>
}

// CHECK-LABEL: func.func @vector_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG0]] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce sum %[[V0]] dims [1] keep : (tensor<2x4xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.sqrt %[[V1]] : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: return %[[V2]] : tensor<2x1xf32>
func.func @vector_norm(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,1],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %two = torch.constant.int 2
  %d0 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %d0 : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.linalg_vector_norm %x, %two, %dims, %true, %none : !torch.vtensor<[2,4],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,1],f32>
  return %0 : !torch.vtensor<[2,1],f32>
}
