// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @div_floor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.fmod %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.compare lt %[[ARG1]], %[[V3]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V5:.+]] = fact.compare ne %[[V2]], %[[V4]] : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V6:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V7:.+]] = fact.compare ne %[[V0]], %[[V6]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V8:.+]] = fact.select %[[V7]], %[[V5]], %[[V7]] : (tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.div %[[V9]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V11:.+]] = fact.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.+]] = fact.sub %[[V10]], %[[V11]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V13:.+]] = fact.select %[[V8]], %[[V12]], %[[V10]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V15:.+]] = fact.compare eq %[[ARG1]], %[[V14]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V16:.+]] = fact.div %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V17:.+]] = fact.round %[[V13]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V18:.+]] = fact.select %[[V15]], %[[V16]], %[[V17]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V18]] : tensor<3x4xf32>
func.func @div_floor(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %str = torch.constant.str "floor"
  %0 = torch.aten.div.Tensor_mode %arg0, %arg1, %str : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.str -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @div_trunc(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.div %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.ceil %[[V0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.floor %[[V0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.select %[[V2]], %[[V3]], %[[V4]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V5]] : tensor<3x4xf32>
func.func @div_trunc(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %str = torch.constant.str "trunc"
  %0 = torch.aten.div.Tensor_mode %arg0, %arg1, %str : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.str -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @div_ifloor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>, %[[ARG1:.+]]: tensor<3x4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.fmod %[[ARG0]], %[[ARG1]] : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V4:.+]] = fact.compare lt %[[ARG1]], %[[V3]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V5:.+]] = fact.compare ne %[[V2]], %[[V4]] : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V6:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V7:.+]] = fact.compare ne %[[V0]], %[[V6]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V8:.+]] = fact.select %[[V7]], %[[V5]], %[[V7]] : (tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.div %[[ARG0]], %[[ARG1]] : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V10:.+]] = fact.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V11:.+]] = fact.sub %[[V9]], %[[V10]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V12:.+]] = fact.select %[[V8]], %[[V11]], %[[V9]] : (tensor<3x4xi1>, tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: return %[[V12]] : tensor<3x4xi64>
func.func @div_ifloor(%arg0: !torch.vtensor<[3,4],si64>, %arg1: !torch.vtensor<[3,4],si64>) -> (!torch.vtensor<[3,4],si64>) {
  %str = torch.constant.str "floor"
  %0 = torch.aten.div.Tensor_mode %arg0, %arg1, %str : !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>, !torch.str -> !torch.vtensor<[3,4],si64>
  return %0 : !torch.vtensor<[3,4],si64>
}

// CHECK-LABEL: func.func @div_itrunc(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>, %[[ARG1:.+]]: tensor<3x4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.div %[[ARG0]], %[[ARG1]] : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xi64>
func.func @div_itrunc(%arg0: !torch.vtensor<[3,4],si64>, %arg1: !torch.vtensor<[3,4],si64>) -> (!torch.vtensor<[3,4],si64>) {
  %str = torch.constant.str "trunc"
  %0 = torch.aten.div.Tensor_mode %arg0, %arg1, %str : !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>, !torch.str -> !torch.vtensor<[3,4],si64>
  return %0 : !torch.vtensor<[3,4],si64>
}

// CHECK-LABEL: func.func @floor_divide(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.fmod %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.compare lt %[[ARG1]], %[[V3]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V5:.+]] = fact.compare ne %[[V2]], %[[V4]] : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V6:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V7:.+]] = fact.compare ne %[[V0]], %[[V6]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V8:.+]] = fact.select %[[V7]], %[[V5]], %[[V7]] : (tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.sub %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.div %[[V9]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V11:.+]] = fact.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.+]] = fact.sub %[[V10]], %[[V11]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V13:.+]] = fact.select %[[V8]], %[[V12]], %[[V10]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V15:.+]] = fact.compare eq %[[ARG1]], %[[V14]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V16:.+]] = fact.div %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V17:.+]] = fact.round %[[V13]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V18:.+]] = fact.select %[[V15]], %[[V16]], %[[V17]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V18]] : tensor<3x4xf32>
func.func @floor_divide(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.floor_divide %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @remainder(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.fmod %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.compare lt %[[ARG1]], %[[V3]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V5:.+]] = fact.compare ne %[[V2]], %[[V4]] : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V6:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V7:.+]] = fact.compare ne %[[V0]], %[[V6]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V8:.+]] = fact.select %[[V7]], %[[V5]], %[[V7]] : (tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.add %[[V0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.select %[[V8]], %[[V9]], %[[V0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V10]] : tensor<3x4xf32>
func.func @remainder(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.remainder.Tensor %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @remainder_i(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<2> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.fmod %[[ARG0]], %[[V0]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V3:.+]] = fact.compare lt %[[V1]], %[[V2]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V5:.+]] = fact.compare lt %[[V0]], %[[V4]] : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %[[V6:.+]] = fact.compare ne %[[V3]], %[[V5]] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V7:.+]] = fact.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V8:.+]] = fact.compare ne %[[V1]], %[[V7]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.select %[[V8]], %[[V6]], %[[V8]] : (tensor<3x4xi1>, tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V10:.+]] = fact.add %[[V1]], %[[V0]] : (tensor<3x4xi64>, tensor<i64>) -> tensor<3x4xi64>
// CHECK-NEXT: %[[V11:.+]] = fact.select %[[V9]], %[[V10]], %[[V1]] : (tensor<3x4xi1>, tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: return %[[V11]] : tensor<3x4xi64>
func.func @remainder_i(%arg0: !torch.vtensor<[3,4],si64>) -> (!torch.vtensor<[3,4],si64>) {
  %int2 = torch.constant.int 2
  %0 = torch.aten.remainder.Scalar %arg0, %int2 : !torch.vtensor<[3,4],si64>, !torch.int -> !torch.vtensor<[3,4],si64>
  return %0 : !torch.vtensor<[3,4],si64>
}

// CHECK-LABEL: func.func @fmod(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.fmod %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @fmod(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.fmod.Tensor %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @lerp(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>, %[[ARG2:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.sub %[[ARG1]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[V0]], %[[ARG2]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.add %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xf32>
func.func @lerp(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>, %arg2: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.lerp.Tensor %arg0, %arg1, %arg2 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @lerps(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<3.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.sub %[[ARG1]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V1]], %[[V0]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.add %[[ARG0]], %[[V2]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @lerps(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %float3.000000e-01 = torch.constant.float 3.000000e-01
  %0 = torch.aten.lerp.Scalar %arg0, %arg1, %float3.000000e-01 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>, !torch.float -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @fmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.maximum %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.compare eq %[[ARG0]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V2:.+]] = fact.compare eq %[[ARG1]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[V0]], %[[ARG0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V1]], %[[V3]], %[[ARG1]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @fmax(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.fmax %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @fmin(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.minimum %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.compare eq %[[ARG0]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V2:.+]] = fact.compare eq %[[ARG1]], %[[ARG1]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[V0]], %[[ARG0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V1]], %[[V3]], %[[ARG1]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @fmin(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.fmin %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @pow_i(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG0]] : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi64>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xi64>
func.func @pow_i(%arg0: !torch.vtensor<[3,4],si64>) -> (!torch.vtensor<[3,4],si64>) {
  %int2 = torch.constant.int 2
  %0 = torch.aten.pow.Tensor_Scalar %arg0, %int2 : !torch.vtensor<[3,4],si64>, !torch.int -> !torch.vtensor<[3,4],si64>
  return %0 : !torch.vtensor<[3,4],si64>
}
