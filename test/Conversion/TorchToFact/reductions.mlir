// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @logsumexp_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce max %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.abs %[[V0]] : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = fact.compare eq %[[V1]], %[[V2]] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.select %[[V3]], %[[V4]], %[[V0]] : (tensor<3x1xi1>, tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.sub %[[ARG0]], %[[V5]] : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.exp %[[V6]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.reduce sum %[[V7]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.log %[[V8]] : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.add %[[V9]], %[[V5]] : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: return %[[V10]] : tensor<3x1xf32>
func.func @logsumexp_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],f32>) {
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %1 = torch.aten.logsumexp %arg0, %0, %true : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[3,1],f32>
  return %1 : !torch.vtensor<[3,1],f32>
}

// CHECK-LABEL: func.func @max_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce max %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce argmax %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xi64>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<3x1xf32>, tensor<3x1xi64>
func.func @max_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %values, %indices = torch.aten.max.dim %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>
  return %values, %indices : !torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>
}

// CHECK-LABEL: func.func @min_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce min %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce argmin %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xi64>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<3x1xf32>, tensor<3x1xi64>
func.func @min_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %values, %indices = torch.aten.min.dim %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>
  return %values, %indices : !torch.vtensor<[3,1],f32>, !torch.vtensor<[3,1],si64>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce argmax %[[ARG0]] dims [0, 1] : (tensor<3x4xf32>) -> tensor<i64>
// CHECK-NEXT: return %[[V0]] : tensor<i64>
func.func @argmax(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[],si64>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.argmax %arg0, %none, %false : !torch.vtensor<[3,4],f32>, !torch.none, !torch.bool -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}

// CHECK-LABEL: func.func @argmax_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce argmax %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xi64>
// CHECK-NEXT: return %[[V0]] : tensor<3x1xi64>
func.func @argmax_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],si64>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %0 = torch.aten.argmax %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],si64>
  return %0 : !torch.vtensor<[3,1],si64>
}

// CHECK-LABEL: func.func @argmin_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce argmin %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xi64>
// CHECK-NEXT: return %[[V0]] : tensor<3x1xi64>
func.func @argmin_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],si64>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %0 = torch.aten.argmin %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],si64>
  return %0 : !torch.vtensor<[3,1],si64>
}

// CHECK-LABEL: func.func @any(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce max %[[V0]] dims [0, 1] : (tensor<3x4xi1>) -> tensor<i1>
// CHECK-NEXT: return %[[V1]] : tensor<i1>
func.func @any(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[],i1>) {
  %0 = torch.aten.any %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[],i1>
  return %0 : !torch.vtensor<[],i1>
}

// CHECK-LABEL: func.func @any_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce max %[[V0]] dims [1] keep : (tensor<3x4xi1>) -> tensor<3x1xi1>
// CHECK-NEXT: return %[[V1]] : tensor<3x1xi1>
func.func @any_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],i1>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %0 = torch.aten.any.dim %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],i1>
  return %0 : !torch.vtensor<[3,1],i1>
}

// CHECK-LABEL: func.func @all_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce min %[[V0]] dims [1] keep : (tensor<3x4xi1>) -> tensor<3x1xi1>
// CHECK-NEXT: return %[[V1]] : tensor<3x1xi1>
func.func @all_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],i1>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %0 = torch.aten.all.dim %arg0, %int-1, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,1],i1>
  return %0 : !torch.vtensor<[3,1],i1>
}

// CHECK-LABEL: func.func @prod(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce prod %[[ARG0]] dims [0, 1] : (tensor<3x4xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[V0]] : tensor<f32>
func.func @prod(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.prod %arg0, %none : !torch.vtensor<[3,4],f32>, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// CHECK-LABEL: func.func @prod_d(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce prod %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x1xf32>
func.func @prod_d(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,1],f32>) {
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.prod.dim_int %arg0, %int-1, %true, %none : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool, !torch.none -> !torch.vtensor<[3,1],f32>
  return %0 : !torch.vtensor<[3,1],f32>
}

// CHECK-LABEL: func.func @varm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce mean %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V1]], %[[V1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reduce mean %[[V2]] dims [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<1.33333337> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.mul %[[V3]], %[[V4]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.reduce mean %[[ARG0]] dims [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[V5]], %[[V6]] : tensor<3xf32>, tensor<3xf32>
func.func @varm(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %result0, %result1 = torch.aten.var_mean.dim %arg0, %0, %true, %false : !torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.bool, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
  return %result0, %result1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @aminmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce min %[[ARG0]] dims [0] : (tensor<3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce max %[[ARG0]] dims [0] : (tensor<3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<4xf32>, tensor<4xf32>
func.func @aminmax(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) {
  %int0 = torch.constant.int 0
  %false = torch.constant.bool false
  %min, %max = torch.aten.aminmax %arg0, %int0, %false : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
  return %min, %max : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @norm1(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.abs %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce sum %[[V0]] dims [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3xf32>
func.func @norm1(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3],f32>) {
  %int1 = torch.constant.int 1
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %1 = torch.aten.linalg_vector_norm %arg0, %int1, %0, %false, %none : !torch.vtensor<[3,4],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[3],f32>
  return %1 : !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @count(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.cast %[[V0]] : (tensor<3x4xi1>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.reduce sum %[[V1]] dims [0] : (tensor<3x4xi64>) -> tensor<4xi64>
// CHECK-NEXT: return %[[V2]] : tensor<4xi64>
func.func @count(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[4],si64>) {
  %int0 = torch.constant.int 0
  %0 = torch.aten.count_nonzero %arg0, %int0 : !torch.vtensor<[3,4],f32>, !torch.int -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<2x4x5xf32>) -> tensor<2x2x10xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.norm layer %[[V0]] eps 1.000000e-05 : (tensor<2x2x10xf32>) -> tensor<2x2x10xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[V1]] : (tensor<2x2x10xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[ARG1]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.mul %[[V2]], %[[V3]] : (tensor<2x4x5xf32>, tensor<4x1xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.reshape %[[ARG2]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.add %[[V4]], %[[V5]] : (tensor<2x4x5xf32>, tensor<4x1xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: return %[[V6]] : tensor<2x4x5xf32>
func.func @group_norm(%arg0: !torch.vtensor<[2,4,5],f32>, %arg1: !torch.vtensor<[4],f32>, %arg2: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2,4,5],f32>) {
  %int2 = torch.constant.int 2
  %float1.000000e-05 = torch.constant.float 1.000000e-05
  %false = torch.constant.bool false
  %0 = torch.aten.group_norm %arg0, %int2, %arg1, %arg2, %float1.000000e-05, %false : !torch.vtensor<[2,4,5],f32>, !torch.int, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,4,5],f32>
  return %0 : !torch.vtensor<[2,4,5],f32>
}

// CHECK-LABEL: func.func @group_norm0(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<2x4x5xf32>) -> tensor<2x2x10xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.norm layer %[[V0]] eps 1.000000e-05 : (tensor<2x2x10xf32>) -> tensor<2x2x10xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[V1]] : (tensor<2x2x10xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: return %[[V2]] : tensor<2x4x5xf32>
func.func @group_norm0(%arg0: !torch.vtensor<[2,4,5],f32>) -> (!torch.vtensor<[2,4,5],f32>) {
  %int2 = torch.constant.int 2
  %none = torch.constant.none
  %none_0 = torch.constant.none
  %float1.000000e-05 = torch.constant.float 1.000000e-05
  %false = torch.constant.bool false
  %0 = torch.aten.group_norm %arg0, %int2, %none, %none_0, %float1.000000e-05, %false : !torch.vtensor<[2,4,5],f32>, !torch.int, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,4,5],f32>
  return %0 : !torch.vtensor<[2,4,5],f32>
}

// CHECK-LABEL: func.func @var_mean(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reduce mean %[[ARG0]] dims [1] keep : (tensor<3x4xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V1]], %[[V1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reduce mean %[[V2]] dims [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<1.33333337> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.mul %[[V3]], %[[V4]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.sqrt %[[V5]] : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.reduce mean %[[ARG0]] dims [1] : (tensor<3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[V6]], %[[V7]] : tensor<3xf32>, tensor<3xf32>
func.func @var_mean(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) {
  %int-1 = torch.constant.int -1
  %0 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %1:2 = torch.operator "torch.aten.std_mean.dim"(%arg0, %0, %true, %false) : (!torch.vtensor<[3,4],f32>, !torch.list<int>, !torch.bool, !torch.bool) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) 
  return %1#0, %1#1 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}
