// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("linear_chain.py":14:0)
module @linear_chain_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[32,32],f32> {fact.name = "x"} loc("linear_chain.py":14:0), %arg1: !torch.vtensor<[32,32],f32> {fact.name = "residual"} loc("linear_chain.py":14:0)) -> (!torch.vtensor<[32,32],f32> {fact.name = "output0"}) {
    %0 = "torch.fact.weight"() {name = "linear.weight"} : () -> !torch.vtensor<[32,32],f32> loc(#loc1)
    %1 = "torch.fact.weight"() {name = "linear.bias"} : () -> !torch.vtensor<[32],f32> loc(#loc1)
    %2 = torch.aten.linear %arg0, %0, %1 : !torch.vtensor<[32,32],f32>, !torch.vtensor<[32,32],f32>, !torch.vtensor<[32],f32> -> !torch.vtensor<[32,32],f32> loc(#loc1)
    %3 = torch.aten.mish %2 : !torch.vtensor<[32,32],f32> -> !torch.vtensor<[32,32],f32> loc(#loc2)
    %4 = "torch.fact.weight"() {name = "scale"} : () -> !torch.vtensor<[32],f32> loc(#loc2)
    %5 = torch.aten.mul.Tensor %3, %4 : !torch.vtensor<[32,32],f32>, !torch.vtensor<[32],f32> -> !torch.vtensor<[32,32],f32> loc(#loc2)
    %float-2.000000e00 = torch.constant.float -2.000000e+00 loc(#loc2)
    %float2.000000e00 = torch.constant.float 2.000000e+00 loc(#loc2)
    %6 = torch.aten.clamp %5, %float-2.000000e00, %float2.000000e00 : !torch.vtensor<[32,32],f32>, !torch.float, !torch.float -> !torch.vtensor<[32,32],f32> loc(#loc2)
    %int1 = torch.constant.int 1 loc(#loc3)
    %7 = torch.aten.add.Tensor %6, %arg1, %int1 : !torch.vtensor<[32,32],f32>, !torch.vtensor<[32,32],f32>, !torch.int -> !torch.vtensor<[32,32],f32> loc(#loc3)
    %8 = torch.aten.tanh %7 : !torch.vtensor<[32,32],f32> -> !torch.vtensor<[32,32],f32> loc(#loc3)
    %float5.000000e-01 = torch.constant.float 5.000000e-01 loc(#loc3)
    %9 = torch.aten.mul.Scalar %8, %float5.000000e-01 : !torch.vtensor<[32,32],f32>, !torch.float -> !torch.vtensor<[32,32],f32> loc(#loc3)
    return %9 : !torch.vtensor<[32,32],f32> loc(#loc3)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("linear_chain.py":15:0)
#loc3 = loc("linear_chain.py":16:0)

// CHECK: module @linear_chain_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: fact.weight @linear.weight : tensor<32x32xf32>
// CHECK: fact.weight @linear.bias : tensor<32xf32>
// CHECK: fact.weight @scale : tensor<32xf32>
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<32x32xf32> {fact.name = "x"}, %[[ARG1:.+]]: tensor<32x32xf32> {fact.name = "residual"}) -> (tensor<32x32xf32> {fact.name = "output0"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.get_weight @linear.weight : tensor<32x32xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.get_weight @linear.bias : tensor<32xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.matmul %[[ARG0]], %[[V0]] transpose_b : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.add %[[V2]], %[[V1]] : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.mish %[[V3]] : (tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.get_weight @scale : tensor<32xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.mul %[[V4]], %[[V5]] : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.clamp %[[V6]] min -2.000000e+00 max 2.000000e+00 : (tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.add %[[V7]], %[[ARG1]] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.tanh %[[V8]] : (tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V11:.+]] = fact.mul %[[V9]], %[[V10]] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
// CHECK-NEXT: return %[[V11]] : tensor<32x32xf32>
