// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @floor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.floor %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @floor(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.floor %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.ceil %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @ceil(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.ceil %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @round(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.round %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @round(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.round %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @trunc(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.compare lt %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V2:.+]] = fact.ceil %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.floor %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V1]], %[[V2]], %[[V3]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @trunc(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.trunc %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @sign(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.sign %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @sign(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.sign %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expm1 %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @expm1(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.expm1 %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.log1p %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xf32>
func.func @log1p(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.log1p %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @log2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.log %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<1.44269502> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xf32>
func.func @log2(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.log2 %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @exp2(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.pow %[[V0]], %[[ARG0]] : (tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x4xf32>
func.func @exp2(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.exp2 %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @frac(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.compare lt %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V2:.+]] = fact.ceil %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.floor %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V1]], %[[V2]], %[[V3]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.sub %[[ARG0]], %[[V4]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V5]] : tensor<3x4xf32>
func.func @frac(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.frac %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @isnan(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare ne %[[ARG0]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: return %[[V0]] : tensor<3x4xi1>
func.func @isnan(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],i1>) {
  %0 = torch.aten.isnan %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],i1>
  return %0 : !torch.vtensor<[3,4],i1>
}

// CHECK-LABEL: func.func @isinf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.abs %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare eq %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xi1>
func.func @isinf(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],i1>) {
  %0 = torch.aten.isinf %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],i1>
  return %0 : !torch.vtensor<[3,4],i1>
}

// CHECK-LABEL: func.func @isfinite(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.abs %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare lt %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: return %[[V2]] : tensor<3x4xi1>
func.func @isfinite(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],i1>) {
  %0 = torch.aten.isfinite %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],i1>
  return %0 : !torch.vtensor<[3,4],i1>
}

// CHECK-LABEL: func.func @nan_to_num(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare ne %[[ARG0]], %[[ARG0]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.select %[[V0]], %[[V1]], %[[ARG0]] : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<0x7F800000> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.compare eq %[[ARG0]], %[[V3]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V5:.+]] = fact.constant dense<3.40282347E+38> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = fact.select %[[V4]], %[[V5]], %[[V2]] : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[V8:.+]] = fact.compare eq %[[ARG0]], %[[V7]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.constant dense<-3.40282347E+38> : tensor<f32>
// CHECK-NEXT: %[[V10:.+]] = fact.select %[[V8]], %[[V9]], %[[V6]] : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V10]] : tensor<3x4xf32>
func.func @nan_to_num(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %none = torch.constant.none
  %none_0 = torch.constant.none
  %none_1 = torch.constant.none
  %0 = torch.aten.nan_to_num %arg0, %none, %none_0, %none_1 : !torch.vtensor<[3,4],f32>, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expm1 %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare gt %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[ARG0]], %[[V0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @elu(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %float1.000000e00 = torch.constant.float 1.000000e+00
  %int1 = torch.constant.int 1
  %int1_0 = torch.constant.int 1
  %0 = torch.aten.elu %arg0, %float1.000000e00, %int1, %int1_0 : !torch.vtensor<[3,4],f32>, !torch.float, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @celu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expm1 %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare gt %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[ARG0]], %[[V0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @celu(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %float1.000000e00 = torch.constant.float 1.000000e+00
  %0 = torch.aten.celu %arg0, %float1.000000e00 : !torch.vtensor<[3,4],f32>, !torch.float -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @selu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expm1 %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<1.75809932> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.mul %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<1.05070102> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.mul %[[ARG0]], %[[V3]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = fact.compare gt %[[ARG0]], %[[V5]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V7:.+]] = fact.select %[[V6]], %[[V4]], %[[V2]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V7]] : tensor<3x4xf32>
func.func @selu(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.selu %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @softsign(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.abs %[[ARG0]] : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.add %[[V0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.div %[[ARG0]], %[[V2]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @softsign(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.abs %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  %int1 = torch.constant.int 1
  %int1_0 = torch.constant.int 1
  %1 = torch.aten.add.Scalar %0, %int1, %int1_0 : !torch.vtensor<[3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,4],f32>
  %2 = torch.aten.div.Tensor %arg0, %1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32> -> !torch.vtensor<[3,4],f32>
  return %2 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @prelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare gt %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[ARG0]], %[[V0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @prelu(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.prelu %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @prelu1(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<1xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare gt %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[ARG0]], %[[V0]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @prelu1(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[1],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %0 = torch.aten.prelu %arg0, %arg1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[1],f32> -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @threshold(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<2.000000e+01> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<1.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.compare le %[[ARG0]], %[[V1]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[V0]], %[[ARG0]] : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x4xf32>
func.func @threshold(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %float1.000000e-01 = torch.constant.float 1.000000e-01
  %int20 = torch.constant.int 20
  %0 = torch.aten.threshold %arg0, %float1.000000e-01, %int20 : !torch.vtensor<[3,4],f32>, !torch.float, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}

// CHECK-LABEL: func.func @rrelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.229166672> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG0]], %[[V0]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = fact.compare gt %[[ARG0]], %[[V2]] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V3]], %[[ARG0]], %[[V1]] : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<3x4xf32>
func.func @rrelu(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>) {
  %float1.250000e-01 = torch.constant.float 1.250000e-01
  %float3.333330e-01 = torch.constant.float 0.33333333333333331
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.rrelu %arg0, %float1.250000e-01, %float3.333330e-01, %false, %none : !torch.vtensor<[3,4],f32>, !torch.float, !torch.float, !torch.bool, !torch.none -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}
