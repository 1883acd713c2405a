// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.neg %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @neg(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.neg %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @abs(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.abs %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @abs(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.abs %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.exp %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @exp(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @log(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.log %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @log(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.log %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.sqrt %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @sqrt(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.sqrt %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.rsqrt %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @rsqrt(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.rsqrt %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reciprocal %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @reciprocal(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.reciprocal %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.sin %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @sin(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.sin %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cos %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @cos(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.cos %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.erf %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @erf(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.erf %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.tanh %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @tanh(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.tanh %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.sigmoid %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @sigmoid(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.sigmoid %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.relu %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @relu(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @silu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.silu %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @silu(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.silu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @mish(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mish %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @mish(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.mish %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @square(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.square %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @exp_of_integers(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.exp %[[V0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
func.func @exp_of_integers(%x: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.exp %x : !torch.vtensor<[4],si64> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.gelu %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.gelu %[[V0]] approximate tanh : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
func.func @gelu(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %none = torch.constant.str "none"
  %tanh = torch.constant.str "tanh"
  %0 = torch.aten.gelu %x, %none : !torch.vtensor<[4],f32>, !torch.str -> !torch.vtensor<[4],f32>
  %1 = torch.aten.gelu %0, %tanh : !torch.vtensor<[4],f32>, !torch.str -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.softplus %[[ARG0]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @softplus(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %int1 = torch.constant.int 1
  %int20 = torch.constant.int 20
  %0 = torch.aten.softplus %x, %int1, %int20 : !torch.vtensor<[4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.00999999977> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG0]], %[[V0]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = fact.compare gt %[[ARG0]], %[[V2]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.select %[[V3]], %[[ARG0]], %[[V1]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V4]] : tensor<4xf32>
func.func @leaky_relu(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %s = torch.constant.float 1.0e-2
  %0 = torch.aten.leaky_relu %x, %s : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @glu(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 3 : (tensor<2x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sigmoid %[[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.slice %[[ARG0]] dim 1 start 0 : (tensor<2x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.mul %[[V2]], %[[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x3xf32>
func.func @glu(%x: !torch.vtensor<[2,6],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %int-1 = torch.constant.int -1
  %0 = torch.aten.glu %x, %int-1 : !torch.vtensor<[2,6],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  return %0 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.add %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.add %[[V0]], %[[V1]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V2]] : tensor<2x3xf32>
func.func @add(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %int1 = torch.constant.int 1
  %half = torch.constant.float 5.0e-1
  %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.add.Scalar %0, %half, %int1 : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @alpha(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG1]], %[[V0]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.sub %[[ARG0]], %[[V1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = fact.mul %[[V2]], %[[V4]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.sub %[[V3]], %[[V5]] : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V6]] : tensor<2x3xf32>
func.func @alpha(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %int2 = torch.constant.int 2
  %half = torch.constant.float 5.0e-1
  %0 = torch.aten.sub.Tensor %x, %y, %int2 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.rsub.Scalar %0, %half, %int2 : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.div %[[V0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = fact.div %[[V1]], %[[V2]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x3xf32>
func.func @products(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %int3 = torch.constant.int 3
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.div.Tensor %0, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.div.Scalar %1, %int3 : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  return %2 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @scalar_of_a_narrow_tensor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xbf16>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V1:.+]] = fact.mul %[[ARG0]], %[[V0]] : (tensor<4xbf16>, tensor<f32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[V1]] : tensor<4xbf16>
func.func @scalar_of_a_narrow_tensor(%x: !torch.vtensor<[4],bf16>) -> (!torch.vtensor<[4],bf16>) {
  %s = torch.constant.float 1.0e-1
  %0 = torch.aten.mul.Scalar %x, %s : !torch.vtensor<[4],bf16>, !torch.float -> !torch.vtensor<[4],bf16>
  return %0 : !torch.vtensor<[4],bf16>
}

// CHECK-LABEL: func.func @promotion(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xbf16>, %[[ARG2:.+]]: tensor<4xf16>, %[[ARG3:.+]]: tensor<4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG1]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[ARG0]], %[[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.cast %[[ARG1]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.cast %[[ARG2]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.mul %[[V2]], %[[V3]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.cast %[[ARG3]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.cast %[[ARG3]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.div %[[V5]], %[[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.cast %[[ARG3]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V10:.+]] = fact.add %[[V8]], %[[V9]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V11:.+]] = fact.cast %[[ARG3]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V12:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V13:.+]] = fact.compare lt %[[V11]], %[[V12]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V14:.+]] = fact.cast %[[ARG1]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V15:.+]] = fact.cast %[[ARG2]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V16:.+]] = fact.compare gt %[[V14]], %[[V15]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V1]], %[[V4]], %[[V7]], %[[V10]], %[[V13]], %[[V16]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>
func.func @promotion(%x: !torch.vtensor<[4],f32>, %h: !torch.vtensor<[4],bf16>, %g: !torch.vtensor<[4],f16>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1>) {
  %int1 = torch.constant.int 1
  %half = torch.constant.float 5.0e-1
  %0 = torch.aten.add.Tensor %x, %h, %int1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],bf16>, !torch.int -> !torch.vtensor<[4],f32>
  %1 = torch.aten.mul.Tensor %h, %g : !torch.vtensor<[4],bf16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[4],f32>
  %2 = torch.aten.div.Tensor %i, %i : !torch.vtensor<[4],si64>, !torch.vtensor<[4],si64> -> !torch.vtensor<[4],f32>
  %3 = torch.aten.add.Scalar %i, %half, %int1 : !torch.vtensor<[4],si64>, !torch.float, !torch.int -> !torch.vtensor<[4],f32>
  %4 = torch.aten.lt.Scalar %i, %half : !torch.vtensor<[4],si64>, !torch.float -> !torch.vtensor<[4],i1>
  %5 = torch.aten.gt.Tensor %h, %g : !torch.vtensor<[4],bf16>, !torch.vtensor<[4],f16> -> !torch.vtensor<[4],i1>
  return %0, %1, %2, %3, %4, %5 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1>
}

// CHECK-LABEL: func.func @pow(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG0]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.sqrt %[[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.rsqrt %[[V1]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<1.500000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.pow %[[V2]], %[[V3]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.constant dense<1.500000e+00> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = fact.pow %[[V5]], %[[V4]] : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V6]] : tensor<2x3xf32>
func.func @pow(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %two = torch.constant.int 2
  %half = torch.constant.float 5.0e-1
  %mhalf = torch.constant.float -5.0e-1
  %other = torch.constant.float 1.5
  %0 = torch.aten.pow.Tensor_Scalar %x, %two : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.pow.Tensor_Scalar %0, %half : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.pow.Tensor_Scalar %1, %mhalf : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  %3 = torch.aten.pow.Tensor_Scalar %2, %other : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  %4 = torch.aten.pow.Scalar %other, %3 : !torch.float, !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %4 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @clamp(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.clamp %[[ARG0]] min 5.000000e-01 max 1.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.clamp %[[V0]] max 1.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.clamp %[[V1]] min 5.000000e-01 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.clamp %[[V2]] max 1.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.clamp %[[V3]] min 5.000000e-01 max 1.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.clamp %[[V4]] min 0.000000e+00 max 6.000000e+00 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V5]] : tensor<2x3xf32>
func.func @clamp(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %half = torch.constant.float 5.0e-1
  %0 = torch.aten.clamp %x, %half, %one : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.clamp %0, %none, %one : !torch.vtensor<[2,3],f32>, !torch.none, !torch.int -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.clamp_min %1, %half : !torch.vtensor<[2,3],f32>, !torch.float -> !torch.vtensor<[2,3],f32>
  %3 = torch.aten.clamp_max %2, %one : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
  %4 = torch.aten.hardtanh %3, %half, %one : !torch.vtensor<[2,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,3],f32>
  %5 = torch.aten.relu6 %4 : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %5 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @clamp_of_integers(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xi64>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V1:.+]] = fact.maximum %[[ARG0]], %[[V0]] : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<5> : tensor<i64>
// CHECK-NEXT: %[[V3:.+]] = fact.minimum %[[V1]], %[[V2]] : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: return %[[V3]] : tensor<4xi64>
func.func @clamp_of_integers(%x: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[4],si64>) {
  %one = torch.constant.int 1
  %five = torch.constant.int 5
  %0 = torch.aten.clamp %x, %one, %five : !torch.vtensor<[4],si64>, !torch.int, !torch.int -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}

// CHECK-LABEL: func.func @extrema(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.minimum %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.maximum %[[V0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x3xf32>
func.func @extrema(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %0 = torch.aten.minimum %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.maximum %0, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @selections(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xi1>, %[[ARG2:.+]]: tensor<f32>
// CHECK-NEXT: %[[V0:.+]] = fact.select %[[ARG1]], %[[ARG0]], %[[ARG2]] : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = fact.select %[[ARG1]], %[[V1]], %[[V0]] : (tensor<3xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[ARG1]], %[[ARG2]], %[[V2]] : (tensor<3xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x3xf32>
func.func @selections(%x: !torch.vtensor<[2,3],f32>, %c: !torch.vtensor<[3],i1>, %v: !torch.vtensor<[],f32>) -> (!torch.vtensor<[2,3],f32>) {
  %inf = torch.constant.float 0xFFF0000000000000
  %0 = torch.aten.where.self %c, %x, %v : !torch.vtensor<[3],i1>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.masked_fill.Scalar %0, %c, %inf : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],i1>, !torch.float -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.masked_fill.Tensor %1, %c, %v : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],i1>, !torch.vtensor<[],f32> -> !torch.vtensor<[2,3],f32>
  return %2 : !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @eq(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare eq %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @eq(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.eq.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @ne(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare ne %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @ne(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.ne.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @lt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare lt %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @lt(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.lt.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @le(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare le %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @le(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.le.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @gt(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare gt %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @gt(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.gt.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @ge(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.compare ge %[[ARG0]], %[[ARG1]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT: return %[[V0]] : tensor<2x3xi1>
func.func @ge(%x: !torch.vtensor<[2,3],f32>, %y: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[2,3],i1>) {
  %0 = torch.aten.ge.Tensor %x, %y : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[2,3],i1>
  return %0 : !torch.vtensor<[2,3],i1>
}

// CHECK-LABEL: func.func @booleans(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xi1>, %[[ARG1:.+]]: tensor<4xi1>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<false> : tensor<i1>
// CHECK-NEXT: %[[V1:.+]] = fact.compare eq %[[ARG0]], %[[V0]] : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V2:.+]] = fact.select %[[V1]], %[[ARG1]], %[[V1]] : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V3:.+]] = fact.select %[[V2]], %[[V2]], %[[ARG1]] : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V4:.+]] = fact.constant dense<false> : tensor<i1>
// CHECK-NEXT: %[[V5:.+]] = fact.compare eq %[[V3]], %[[V4]] : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V6:.+]] = fact.compare lt %[[V5]], %[[ARG1]] : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V6]] : tensor<4xi1>
func.func @booleans(%a: !torch.vtensor<[4],i1>, %b: !torch.vtensor<[4],i1>) -> (!torch.vtensor<[4],i1>) {
  %int0 = torch.constant.int 0
  %0 = torch.aten.eq.Scalar %a, %int0 : !torch.vtensor<[4],i1>, !torch.int -> !torch.vtensor<[4],i1>
  %1 = torch.aten.logical_and %0, %b : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  %2 = torch.aten.logical_or %1, %b : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  %3 = torch.aten.logical_not %2 : !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  %4 = torch.aten.lt.Tensor %3, %b : !torch.vtensor<[4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %4 : !torch.vtensor<[4],i1>
}

// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG0]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[V0]] : tensor<4xbf16>
func.func @copies(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],bf16>) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int15 = torch.constant.int 15
  %false = torch.constant.bool false
  %p = torch.constant.float 1.0e-1
  %0 = torch.aten.clone %x, %int0 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %1 = torch.aten.contiguous %0, %int0 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  %2 = torch.aten.dropout %1, %p, %false : !torch.vtensor<[4],f32>, !torch.float, !torch.bool -> !torch.vtensor<[4],f32>
  %3 = torch.aten.to.dtype %2, %int15, %false, %false, %none : !torch.vtensor<[4],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4],bf16>
  return %3 : !torch.vtensor<[4],bf16>
}
