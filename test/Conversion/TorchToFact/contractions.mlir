// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x5x8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>, %[[ARG2:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] transpose_b : (tensor<2x5x8xf32>, tensor<4x8xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[V0]], %[[ARG2]] : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] transpose_b : (tensor<2x5x8xf32>, tensor<4x8xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: return %[[V1]], %[[V2]] : tensor<2x5x4xf32>, tensor<2x5x4xf32>
func.func @linear(%x: !torch.vtensor<[2,5,8],f32>, %w: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[2,5,4],f32>, !torch.vtensor<[2,5,4],f32>) {
  %none = torch.constant.none
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[2,5,8],f32>, !torch.vtensor<[4,8],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[2,5,4],f32>
  %1 = torch.aten.linear %x, %w, %none : !torch.vtensor<[2,5,8],f32>, !torch.vtensor<[4,8],f32>, !torch.none -> !torch.vtensor<[2,5,4],f32>
  return %0, %1 : !torch.vtensor<[2,5,4],f32>, !torch.vtensor<[2,5,4],f32>
}

// CHECK-LABEL: func.func @linear_of_a_vector(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8xf32>, %[[ARG1:.+]]: tensor<4x8xf32>, %[[ARG2:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.matmul %[[V0]], %[[ARG1]] transpose_b : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[V1]] : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.add %[[V2]], %[[ARG2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<4xf32>
func.func @linear_of_a_vector(%x: !torch.vtensor<[8],f32>, %w: !torch.vtensor<[4,8],f32>, %b: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],f32>) {
  %0 = torch.aten.linear %x, %w, %b : !torch.vtensor<[8],f32>, !torch.vtensor<[4,8],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x1x3x4xf32>, %[[ARG1:.+]]: tensor<5x4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<2x1x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x5x3x6xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x5x3x6xf32>
func.func @matmul(%x: !torch.vtensor<[2,1,3,4],f32>, %y: !torch.vtensor<[5,4,6],f32>) -> (!torch.vtensor<[2,5,3,6],f32>) {
  %0 = torch.aten.matmul %x, %y : !torch.vtensor<[2,1,3,4],f32>, !torch.vtensor<[5,4,6],f32> -> !torch.vtensor<[2,5,3,6],f32>
  return %0 : !torch.vtensor<[2,5,3,6],f32>
}

// CHECK-LABEL: func.func @matmul_of_vectors(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<2x4x3xf32>, %[[ARG2:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[ARG0]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.matmul %[[V0]], %[[V1]] : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[V2]] : (tensor<1x1xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[ARG0]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.matmul %[[V4]], %[[ARG1]] : (tensor<1x4xf32>, tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.reshape %[[V5]] : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.reshape %[[ARG0]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.matmul %[[ARG2]], %[[V7]] : (tensor<2x3x4xf32>, tensor<4x1xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.reshape %[[V8]] : (tensor<2x3x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V3]], %[[V6]], %[[V9]] : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>
func.func @matmul_of_vectors(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[2,4,3],f32>, %z: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) {
  %0 = torch.aten.matmul %x, %x : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[],f32>
  %1 = torch.aten.matmul %x, %y : !torch.vtensor<[4],f32>, !torch.vtensor<[2,4,3],f32> -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.matmul %z, %x : !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[4],f32> -> !torch.vtensor<[2,3],f32>
  return %0, %1, %2 : !torch.vtensor<[],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>
}

// CHECK-LABEL: func.func @mm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x6xf32>
func.func @mm(%x: !torch.vtensor<[3,4],f32>, %y: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[3,6],f32>) {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,6],f32> -> !torch.vtensor<[3,6],f32>
  return %0 : !torch.vtensor<[3,6],f32>
}

// CHECK-LABEL: func.func @bmm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>, %[[ARG1:.+]]: tensor<2x4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<2x3x4xf32>, tensor<2x4x6xf32>) -> tensor<2x3x6xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x6xf32>
func.func @bmm(%x: !torch.vtensor<[2,3,4],f32>, %y: !torch.vtensor<[2,4,6],f32>) -> (!torch.vtensor<[2,3,6],f32>) {
  %0 = torch.aten.bmm %x, %y : !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,4,6],f32> -> !torch.vtensor<[2,3,6],f32>
  return %0 : !torch.vtensor<[2,3,6],f32>
}

// CHECK-LABEL: func.func @addmm(
// CHECK-SAME: %[[ARG0:.+]]: tensor<6xf32>, %[[ARG1:.+]]: tensor<3x4xf32>, %[[ARG2:.+]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG1]], %[[ARG2]] : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.add %[[V0]], %[[ARG0]] : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.matmul %[[ARG1]], %[[ARG2]] : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = fact.mul %[[V2]], %[[V3]] : (tensor<3x6xf32>, tensor<f32>) -> tensor<3x6xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V6:.+]] = fact.mul %[[ARG0]], %[[V5]] : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.add %[[V4]], %[[V6]] : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: return %[[V1]], %[[V7]] : tensor<3x6xf32>, tensor<3x6xf32>
func.func @addmm(%c: !torch.vtensor<[6],f32>, %x: !torch.vtensor<[3,4],f32>, %y: !torch.vtensor<[4,6],f32>) -> (!torch.vtensor<[3,6],f32>, !torch.vtensor<[3,6],f32>) {
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %half = torch.constant.float 5.0e-1
  %0 = torch.aten.addmm %c, %x, %y, %int1, %int1 : !torch.vtensor<[6],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,6],f32>
  %1 = torch.aten.addmm %c, %x, %y, %half, %int2 : !torch.vtensor<[6],f32>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,6],f32>, !torch.float, !torch.int -> !torch.vtensor<[3,6],f32>
  return %0, %1 : !torch.vtensor<[3,6],f32>, !torch.vtensor<[3,6],f32>
}

// CHECK-LABEL: func.func @baddbmm_ignores_its_addend(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x6xf32>, %[[ARG1:.+]]: tensor<2x3x4xf32>, %[[ARG2:.+]]: tensor<2x4x6xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG1]], %[[ARG2]] : (tensor<2x3x4xf32>, tensor<2x4x6xf32>) -> tensor<2x3x6xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x6xf32>
func.func @baddbmm_ignores_its_addend(%c: !torch.vtensor<[2,3,6],f32>, %x: !torch.vtensor<[2,3,4],f32>, %y: !torch.vtensor<[2,4,6],f32>) -> (!torch.vtensor<[2,3,6],f32>) {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %0 = torch.aten.baddbmm %c, %x, %y, %int0, %int1 : !torch.vtensor<[2,3,6],f32>, !torch.vtensor<[2,3,4],f32>, !torch.vtensor<[2,4,6],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,3,6],f32>
  return %0 : !torch.vtensor<[2,3,6],f32>
}

// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x16xf32>, %[[ARG1:.+]]: tensor<2x4x7x16xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.attention %[[ARG0]], %[[ARG1]], %[[ARG1]] scale 2.500000e-01 : (tensor<2x4x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) -> tensor<2x4x5x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x5x16xf32>
func.func @attention(%q: !torch.vtensor<[2,4,5,16],f32>, %k: !torch.vtensor<[2,4,7,16],f32>) -> (!torch.vtensor<[2,4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %false, %none, %false : !torch.vtensor<[2,4,5,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,16],f32>
  return %0 : !torch.vtensor<[2,4,5,16],f32>
}

// CHECK-LABEL: func.func @causal_attention(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x16xf32>, %[[ARG1:.+]]: tensor<2x4x7x16xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.attention %[[ARG0]], %[[ARG1]], %[[ARG1]] causal scale 3.000000e-01 : (tensor<2x4x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) -> tensor<2x4x5x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x5x16xf32>
func.func @causal_attention(%q: !torch.vtensor<[2,4,5,16],f32>, %k: !torch.vtensor<[2,4,7,16],f32>) -> (!torch.vtensor<[2,4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %true, %scale, %false : !torch.vtensor<[2,4,5,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> !torch.vtensor<[2,4,5,16],f32>
  return %0 : !torch.vtensor<[2,4,5,16],f32>
}

// CHECK-LABEL: func.func @grouped_attention(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x16xf32>, %[[ARG1:.+]]: tensor<2x2x7x16xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.attention %[[ARG0]], %[[ARG1]], %[[ARG1]] scale 2.500000e-01 : (tensor<2x4x5x16xf32>, tensor<2x2x7x16xf32>, tensor<2x2x7x16xf32>) -> tensor<2x4x5x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x5x16xf32>
func.func @grouped_attention(%q: !torch.vtensor<[2,4,5,16],f32>, %k: !torch.vtensor<[2,2,7,16],f32>) -> (!torch.vtensor<[2,4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %false, %none, %true : !torch.vtensor<[2,4,5,16],f32>, !torch.vtensor<[2,2,7,16],f32>, !torch.vtensor<[2,2,7,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,16],f32>
  return %0 : !torch.vtensor<[2,4,5,16],f32>
}

// CHECK-LABEL: func.func @masked_attention(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x16xf32>, %[[ARG1:.+]]: tensor<2x4x7x16xf32>, %[[ARG2:.+]]: tensor<5x7xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.attention %[[ARG0]], %[[ARG1]], %[[ARG1]] mask %[[ARG2]] scale 2.500000e-01 : (tensor<2x4x5x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>, tensor<5x7xf32>) -> tensor<2x4x5x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x4x5x16xf32>
func.func @masked_attention(%q: !torch.vtensor<[2,4,5,16],f32>, %k: !torch.vtensor<[2,4,7,16],f32>, %m: !torch.vtensor<[5,7],f32>) -> (!torch.vtensor<[2,4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %m, %zero, %false, %none, %false : !torch.vtensor<[2,4,5,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.vtensor<[2,4,7,16],f32>, !torch.vtensor<[5,7],f32>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,16],f32>
  return %0 : !torch.vtensor<[2,4,5,16],f32>
}

// CHECK-LABEL: func.func @boolean_mask(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x5x16xbf16>, %[[ARG1:.+]]: tensor<2x4x7x16xbf16>, %[[ARG2:.+]]: tensor<2x1x5x7xi1>
// CHECK-NEXT: %[[V0:.+]] = fact.constant dense<0.000000e+00> : tensor<bf16>
// CHECK-NEXT: %[[V1:.+]] = fact.constant dense<0xFF80> : tensor<bf16>
// CHECK-NEXT: %[[V2:.+]] = fact.select %[[ARG2]], %[[V0]], %[[V1]] : (tensor<2x1x5x7xi1>, tensor<bf16>, tensor<bf16>) -> tensor<2x1x5x7xbf16>
// CHECK-NEXT: %[[V3:.+]] = fact.attention %[[ARG0]], %[[ARG1]], %[[ARG1]] mask %[[V2]] scale 2.500000e-01 : (tensor<2x4x5x16xbf16>, tensor<2x4x7x16xbf16>, tensor<2x4x7x16xbf16>, tensor<2x1x5x7xbf16>) -> tensor<2x4x5x16xbf16>
// CHECK-NEXT: return %[[V3]] : tensor<2x4x5x16xbf16>
func.func @boolean_mask(%q: !torch.vtensor<[2,4,5,16],bf16>, %k: !torch.vtensor<[2,4,7,16],bf16>, %m: !torch.vtensor<[2,1,5,7],i1>) -> (!torch.vtensor<[2,4,5,16],bf16>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %m, %zero, %false, %none, %false : !torch.vtensor<[2,4,5,16],bf16>, !torch.vtensor<[2,4,7,16],bf16>, !torch.vtensor<[2,4,7,16],bf16>, !torch.vtensor<[2,1,5,7],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,5,16],bf16>
  return %0 : !torch.vtensor<[2,4,5,16],bf16>
}

// CHECK-LABEL: func.func @attention_of_rank_3(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x5x16xf32>, %[[ARG1:.+]]: tensor<4x7x16xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<4x5x16xf32>) -> tensor<1x4x5x16xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[ARG1]] : (tensor<4x7x16xf32>) -> tensor<1x4x7x16xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[ARG1]] : (tensor<4x7x16xf32>) -> tensor<1x4x7x16xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.attention %[[V0]], %[[V1]], %[[V2]] scale 2.500000e-01 : (tensor<1x4x5x16xf32>, tensor<1x4x7x16xf32>, tensor<1x4x7x16xf32>) -> tensor<1x4x5x16xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[V3]] : (tensor<1x4x5x16xf32>) -> tensor<4x5x16xf32>
// CHECK-NEXT: return %[[V4]] : tensor<4x5x16xf32>
func.func @attention_of_rank_3(%q: !torch.vtensor<[4,5,16],f32>, %k: !torch.vtensor<[4,7,16],f32>) -> (!torch.vtensor<[4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %zero, %false, %none, %false : !torch.vtensor<[4,5,16],f32>, !torch.vtensor<[4,7,16],f32>, !torch.vtensor<[4,7,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[4,5,16],f32>
  return %0 : !torch.vtensor<[4,5,16],f32>
}

// CHECK-LABEL: func.func @attention_of_rank_5(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x2x4x5x16xf32>, %[[ARG1:.+]]: tensor<3x2x4x7x16xf32>, %[[ARG2:.+]]: tensor<2x1x5x7xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expand %[[ARG2]] : (tensor<2x1x5x7xf32>) -> tensor<3x2x4x5x7xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[V0]] : (tensor<3x2x4x5x7xf32>) -> tensor<6x4x5x7xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[ARG0]] : (tensor<3x2x4x5x16xf32>) -> tensor<6x4x5x16xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[ARG1]] : (tensor<3x2x4x7x16xf32>) -> tensor<6x4x7x16xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[ARG1]] : (tensor<3x2x4x7x16xf32>) -> tensor<6x4x7x16xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.attention %[[V2]], %[[V3]], %[[V4]] mask %[[V1]] scale 2.500000e-01 : (tensor<6x4x5x16xf32>, tensor<6x4x7x16xf32>, tensor<6x4x7x16xf32>, tensor<6x4x5x7xf32>) -> tensor<6x4x5x16xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.reshape %[[V5]] : (tensor<6x4x5x16xf32>) -> tensor<3x2x4x5x16xf32>
// CHECK-NEXT: return %[[V6]] : tensor<3x2x4x5x16xf32>
func.func @attention_of_rank_5(%q: !torch.vtensor<[3,2,4,5,16],f32>, %k: !torch.vtensor<[3,2,4,7,16],f32>, %m: !torch.vtensor<[2,1,5,7],f32>) -> (!torch.vtensor<[3,2,4,5,16],f32>) {
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %scale = torch.constant.float 3.0e-1
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %k, %m, %zero, %false, %none, %false : !torch.vtensor<[3,2,4,5,16],f32>, !torch.vtensor<[3,2,4,7,16],f32>, !torch.vtensor<[3,2,4,7,16],f32>, !torch.vtensor<[2,1,5,7],f32>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[3,2,4,5,16],f32>
  return %0 : !torch.vtensor<[3,2,4,5,16],f32>
}
