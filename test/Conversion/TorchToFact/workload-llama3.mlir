// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("llama3_block.py":16:0)
#loc2 = loc("llama3_block.py":45:0)
#loc6 = loc(callsite(#loc1 at #loc2))
module @llama3_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[2,16,64],f32> {fact.name = "x"} loc(callsite(#loc1 at #loc2))) -> (!torch.vtensor<[2,16,64],f32> {fact.name = "output0"}) {
    %int2 = torch.constant.int 2 loc(#loc6)
    %0 = torch.aten.pow.Tensor_Scalar %arg0, %int2 : !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc6)
    %int-1 = torch.constant.int -1 loc(#loc6)
    %1 = torch.prim.ListConstruct %int-1 : (!torch.int) -> !torch.list<int> loc(#loc6)
    %true = torch.constant.bool true loc(#loc6)
    %none = torch.constant.none loc(#loc6)
    %2 = torch.aten.mean.dim %0, %1, %true, %none : !torch.vtensor<[2,16,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,16,1],f32> loc(#loc6)
    %float1.000000e-05 = torch.constant.float 1.000000e-05 loc(#loc6)
    %int1 = torch.constant.int 1 loc(#loc6)
    %3 = torch.aten.add.Scalar %2, %float1.000000e-05, %int1 : !torch.vtensor<[2,16,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,16,1],f32> loc(#loc6)
    %4 = torch.aten.rsqrt %3 : !torch.vtensor<[2,16,1],f32> -> !torch.vtensor<[2,16,1],f32> loc(#loc6)
    %5 = torch.aten.mul.Tensor %arg0, %4 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,1],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc7)
    %6 = "torch.fact.weight"() {name = "norm1.weight"} : () -> !torch.vtensor<[64],f32> loc(#loc7)
    %7 = torch.aten.mul.Tensor %5, %6 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc7)
    %8 = "torch.fact.weight"() {name = "wq.weight"} : () -> !torch.vtensor<[64,64],f32> loc(#loc2)
    %none_0 = torch.constant.none loc(#loc2)
    %9 = torch.aten.linear %7, %8, %none_0 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[64,64],f32>, !torch.none -> !torch.vtensor<[2,16,64],f32> loc(#loc2)
    %int2_1 = torch.constant.int 2 loc(#loc2)
    %int16 = torch.constant.int 16 loc(#loc2)
    %int4 = torch.constant.int 4 loc(#loc2)
    %int16_2 = torch.constant.int 16 loc(#loc2)
    %10 = torch.prim.ListConstruct %int2_1, %int16, %int4, %int16_2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc2)
    %11 = torch.aten.view %9, %10 : !torch.vtensor<[2,16,64],f32>, !torch.list<int> -> !torch.vtensor<[2,16,4,16],f32> loc(#loc2)
    %int1_3 = torch.constant.int 1 loc(#loc2)
    %int2_4 = torch.constant.int 2 loc(#loc2)
    %12 = torch.aten.transpose.int %11, %int1_3, %int2_4 : !torch.vtensor<[2,16,4,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,16,16],f32> loc(#loc2)
    %13 = "torch.fact.weight"() {name = "wk.weight"} : () -> !torch.vtensor<[32,64],f32> loc(#loc2)
    %none_5 = torch.constant.none loc(#loc2)
    %14 = torch.aten.linear %7, %13, %none_5 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[32,64],f32>, !torch.none -> !torch.vtensor<[2,16,32],f32> loc(#loc2)
    %int2_6 = torch.constant.int 2 loc(#loc2)
    %int16_7 = torch.constant.int 16 loc(#loc2)
    %int2_8 = torch.constant.int 2 loc(#loc2)
    %int16_9 = torch.constant.int 16 loc(#loc2)
    %15 = torch.prim.ListConstruct %int2_6, %int16_7, %int2_8, %int16_9 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc2)
    %16 = torch.aten.view %14, %15 : !torch.vtensor<[2,16,32],f32>, !torch.list<int> -> !torch.vtensor<[2,16,2,16],f32> loc(#loc2)
    %int1_10 = torch.constant.int 1 loc(#loc2)
    %int2_11 = torch.constant.int 2 loc(#loc2)
    %17 = torch.aten.transpose.int %16, %int1_10, %int2_11 : !torch.vtensor<[2,16,2,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,2,16,16],f32> loc(#loc2)
    %18 = "torch.fact.weight"() {name = "wv.weight"} : () -> !torch.vtensor<[32,64],f32> loc(#loc2)
    %none_12 = torch.constant.none loc(#loc2)
    %19 = torch.aten.linear %7, %18, %none_12 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[32,64],f32>, !torch.none -> !torch.vtensor<[2,16,32],f32> loc(#loc2)
    %int2_13 = torch.constant.int 2 loc(#loc2)
    %int16_14 = torch.constant.int 16 loc(#loc2)
    %int2_15 = torch.constant.int 2 loc(#loc2)
    %int16_16 = torch.constant.int 16 loc(#loc2)
    %20 = torch.prim.ListConstruct %int2_13, %int16_14, %int2_15, %int16_16 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc2)
    %21 = torch.aten.view %19, %20 : !torch.vtensor<[2,16,32],f32>, !torch.list<int> -> !torch.vtensor<[2,16,2,16],f32> loc(#loc2)
    %int1_17 = torch.constant.int 1 loc(#loc2)
    %int2_18 = torch.constant.int 2 loc(#loc2)
    %22 = torch.aten.transpose.int %21, %int1_17, %int2_18 : !torch.vtensor<[2,16,2,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,2,16,16],f32> loc(#loc2)
    %int2_19 = torch.constant.int 2 loc(#loc2)
    %int1_20 = torch.constant.int 1 loc(#loc2)
    %none_21 = torch.constant.none loc(#loc2)
    %23 = torch.aten.repeat_interleave.self_int %17, %int2_19, %int1_20, %none_21 : !torch.vtensor<[2,2,16,16],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,4,16,16],f32> loc(#loc2)
    %int2_22 = torch.constant.int 2 loc(#loc2)
    %int1_23 = torch.constant.int 1 loc(#loc2)
    %none_24 = torch.constant.none loc(#loc2)
    %24 = torch.aten.repeat_interleave.self_int %22, %int2_22, %int1_23, %none_24 : !torch.vtensor<[2,2,16,16],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,4,16,16],f32> loc(#loc2)
    %none_25 = torch.constant.none loc(#loc2)
    %float0.000000e00 = torch.constant.float 0.000000e+00 loc(#loc2)
    %false = torch.constant.bool false loc(#loc2)
    %none_26 = torch.constant.none loc(#loc2)
    %false_27 = torch.constant.bool false loc(#loc2)
    %25 = torch.aten.scaled_dot_product_attention %12, %23, %24, %none_25, %float0.000000e00, %false, %none_26, %false_27 : !torch.vtensor<[2,4,16,16],f32>, !torch.vtensor<[2,4,16,16],f32>, !torch.vtensor<[2,4,16,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,4,16,16],f32> loc(#loc2)
    %int1_28 = torch.constant.int 1 loc(#loc2)
    %int2_29 = torch.constant.int 2 loc(#loc2)
    %26 = torch.aten.transpose.int %25, %int1_28, %int2_29 : !torch.vtensor<[2,4,16,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,16,4,16],f32> loc(#loc2)
    %int2_30 = torch.constant.int 2 loc(#loc2)
    %int16_31 = torch.constant.int 16 loc(#loc2)
    %int-1_32 = torch.constant.int -1 loc(#loc2)
    %27 = torch.prim.ListConstruct %int2_30, %int16_31, %int-1_32 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc2)
    %28 = torch.aten.view %26, %27 : !torch.vtensor<[2,16,4,16],f32>, !torch.list<int> -> !torch.vtensor<[2,16,64],f32> loc(#loc2)
    %29 = "torch.fact.weight"() {name = "wo.weight"} : () -> !torch.vtensor<[64,64],f32> loc(#loc2)
    %none_33 = torch.constant.none loc(#loc2)
    %30 = torch.aten.linear %28, %29, %none_33 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[64,64],f32>, !torch.none -> !torch.vtensor<[2,16,64],f32> loc(#loc2)
    %int1_34 = torch.constant.int 1 loc(#loc2)
    %31 = torch.aten.add.Tensor %arg0, %30, %int1_34 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc2)
    %int2_35 = torch.constant.int 2 loc(#loc8)
    %32 = torch.aten.pow.Tensor_Scalar %31, %int2_35 : !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc8)
    %int-1_36 = torch.constant.int -1 loc(#loc8)
    %33 = torch.prim.ListConstruct %int-1_36 : (!torch.int) -> !torch.list<int> loc(#loc8)
    %true_37 = torch.constant.bool true loc(#loc8)
    %none_38 = torch.constant.none loc(#loc8)
    %34 = torch.aten.mean.dim %32, %33, %true_37, %none_38 : !torch.vtensor<[2,16,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[2,16,1],f32> loc(#loc8)
    %float1.000000e-05_39 = torch.constant.float 1.000000e-05 loc(#loc8)
    %int1_40 = torch.constant.int 1 loc(#loc8)
    %35 = torch.aten.add.Scalar %34, %float1.000000e-05_39, %int1_40 : !torch.vtensor<[2,16,1],f32>, !torch.float, !torch.int -> !torch.vtensor<[2,16,1],f32> loc(#loc8)
    %36 = torch.aten.rsqrt %35 : !torch.vtensor<[2,16,1],f32> -> !torch.vtensor<[2,16,1],f32> loc(#loc8)
    %37 = torch.aten.mul.Tensor %31, %36 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,1],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc9)
    %38 = "torch.fact.weight"() {name = "norm2.weight"} : () -> !torch.vtensor<[64],f32> loc(#loc9)
    %39 = torch.aten.mul.Tensor %37, %38 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc9)
    %40 = "torch.fact.weight"() {name = "gate.weight"} : () -> !torch.vtensor<[96,64],f32> loc(#loc5)
    %none_41 = torch.constant.none loc(#loc5)
    %41 = torch.aten.linear %39, %40, %none_41 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[96,64],f32>, !torch.none -> !torch.vtensor<[2,16,96],f32> loc(#loc5)
    %42 = torch.aten.silu %41 : !torch.vtensor<[2,16,96],f32> -> !torch.vtensor<[2,16,96],f32> loc(#loc5)
    %43 = "torch.fact.weight"() {name = "up.weight"} : () -> !torch.vtensor<[96,64],f32> loc(#loc5)
    %none_42 = torch.constant.none loc(#loc5)
    %44 = torch.aten.linear %39, %43, %none_42 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[96,64],f32>, !torch.none -> !torch.vtensor<[2,16,96],f32> loc(#loc5)
    %45 = torch.aten.mul.Tensor %42, %44 : !torch.vtensor<[2,16,96],f32>, !torch.vtensor<[2,16,96],f32> -> !torch.vtensor<[2,16,96],f32> loc(#loc5)
    %46 = "torch.fact.weight"() {name = "down.weight"} : () -> !torch.vtensor<[64,96],f32> loc(#loc5)
    %none_43 = torch.constant.none loc(#loc5)
    %47 = torch.aten.linear %45, %46, %none_43 : !torch.vtensor<[2,16,96],f32>, !torch.vtensor<[64,96],f32>, !torch.none -> !torch.vtensor<[2,16,64],f32> loc(#loc5)
    %int1_44 = torch.constant.int 1 loc(#loc5)
    %48 = torch.aten.add.Tensor %31, %47, %int1_44 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc5)
    return %48 : !torch.vtensor<[2,16,64],f32> loc(#loc5)
  } loc(#loc6)
} loc(#loc)
#loc = loc(unknown)
#loc3 = loc("llama3_block.py":17:0)
#loc4 = loc("llama3_block.py":46:0)
#loc5 = loc("llama3_block.py":47:0)
#loc7 = loc(callsite(#loc3 at #loc2))
#loc8 = loc(callsite(#loc1 at #loc4))
#loc9 = loc(callsite(#loc3 at #loc4))

// CHECK: module @llama3_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: fact.weight @norm1.weight : tensor<64xf32>
// CHECK: fact.weight @wq.weight : tensor<64x64xf32>
// CHECK: fact.weight @wk.weight : tensor<32x64xf32>
// CHECK: fact.weight @wv.weight : tensor<32x64xf32>
// CHECK: fact.weight @wo.weight : tensor<64x64xf32>
// CHECK: fact.weight @norm2.weight : tensor<64xf32>
// CHECK: fact.weight @gate.weight : tensor<96x64xf32>
// CHECK: fact.weight @up.weight : tensor<96x64xf32>
// CHECK: fact.weight @down.weight : tensor<64x96xf32>
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<2x16x64xf32> {fact.name = "x"}) -> (tensor<2x16x64xf32> {fact.name = "output0"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.mul %[[ARG0]], %[[ARG0]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reduce mean %[[V0]] dims [2] keep : (tensor<2x16x64xf32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = fact.add %[[V1]], %[[V2]] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.rsqrt %[[V3]] : (tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.mul %[[ARG0]], %[[V4]] : (tensor<2x16x64xf32>, tensor<2x16x1xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.get_weight @norm1.weight : tensor<64xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.mul %[[V5]], %[[V6]] : (tensor<2x16x64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.get_weight @wq.weight : tensor<64x64xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.matmul %[[V7]], %[[V8]] transpose_b : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.reshape %[[V9]] : (tensor<2x16x64xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V11:.+]] = fact.permute %[[V10]] [0, 2, 1, 3] : (tensor<2x16x4x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V12:.+]] = fact.get_weight @wk.weight : tensor<32x64xf32>
// CHECK-NEXT: %[[V13:.+]] = fact.matmul %[[V7]], %[[V12]] transpose_b : (tensor<2x16x64xf32>, tensor<32x64xf32>) -> tensor<2x16x32xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.reshape %[[V13]] : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// CHECK-NEXT: %[[V15:.+]] = fact.permute %[[V14]] [0, 2, 1, 3] : (tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
// CHECK-NEXT: %[[V16:.+]] = fact.get_weight @wv.weight : tensor<32x64xf32>
// CHECK-NEXT: %[[V17:.+]] = fact.matmul %[[V7]], %[[V16]] transpose_b : (tensor<2x16x64xf32>, tensor<32x64xf32>) -> tensor<2x16x32xf32>
// CHECK-NEXT: %[[V18:.+]] = fact.reshape %[[V17]] : (tensor<2x16x32xf32>) -> tensor<2x16x2x16xf32>
// CHECK-NEXT: %[[V19:.+]] = fact.permute %[[V18]] [0, 2, 1, 3] : (tensor<2x16x2x16xf32>) -> tensor<2x2x16x16xf32>
// CHECK-NEXT: %[[V20:.+]] = fact.reshape %[[V15]] : (tensor<2x2x16x16xf32>) -> tensor<2x2x1x16x16xf32>
// CHECK-NEXT: %[[V21:.+]] = fact.expand %[[V20]] : (tensor<2x2x1x16x16xf32>) -> tensor<2x2x2x16x16xf32>
// CHECK-NEXT: %[[V22:.+]] = fact.reshape %[[V21]] : (tensor<2x2x2x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V23:.+]] = fact.reshape %[[V19]] : (tensor<2x2x16x16xf32>) -> tensor<2x2x1x16x16xf32>
// CHECK-NEXT: %[[V24:.+]] = fact.expand %[[V23]] : (tensor<2x2x1x16x16xf32>) -> tensor<2x2x2x16x16xf32>
// CHECK-NEXT: %[[V25:.+]] = fact.reshape %[[V24]] : (tensor<2x2x2x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V26:.+]] = fact.attention %[[V11]], %[[V22]], %[[V25]] scale 2.500000e-01 : (tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V27:.+]] = fact.permute %[[V26]] [0, 2, 1, 3] : (tensor<2x4x16x16xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V28:.+]] = fact.reshape %[[V27]] : (tensor<2x16x4x16xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V29:.+]] = fact.get_weight @wo.weight : tensor<64x64xf32>
// CHECK-NEXT: %[[V30:.+]] = fact.matmul %[[V28]], %[[V29]] transpose_b : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V31:.+]] = fact.add %[[ARG0]], %[[V30]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V32:.+]] = fact.mul %[[V31]], %[[V31]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V33:.+]] = fact.reduce mean %[[V32]] dims [2] keep : (tensor<2x16x64xf32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V34:.+]] = fact.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-NEXT: %[[V35:.+]] = fact.add %[[V33]], %[[V34]] : (tensor<2x16x1xf32>, tensor<f32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V36:.+]] = fact.rsqrt %[[V35]] : (tensor<2x16x1xf32>) -> tensor<2x16x1xf32>
// CHECK-NEXT: %[[V37:.+]] = fact.mul %[[V31]], %[[V36]] : (tensor<2x16x64xf32>, tensor<2x16x1xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V38:.+]] = fact.get_weight @norm2.weight : tensor<64xf32>
// CHECK-NEXT: %[[V39:.+]] = fact.mul %[[V37]], %[[V38]] : (tensor<2x16x64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V40:.+]] = fact.get_weight @gate.weight : tensor<96x64xf32>
// CHECK-NEXT: %[[V41:.+]] = fact.matmul %[[V39]], %[[V40]] transpose_b : (tensor<2x16x64xf32>, tensor<96x64xf32>) -> tensor<2x16x96xf32>
// CHECK-NEXT: %[[V42:.+]] = fact.silu %[[V41]] : (tensor<2x16x96xf32>) -> tensor<2x16x96xf32>
// CHECK-NEXT: %[[V43:.+]] = fact.get_weight @up.weight : tensor<96x64xf32>
// CHECK-NEXT: %[[V44:.+]] = fact.matmul %[[V39]], %[[V43]] transpose_b : (tensor<2x16x64xf32>, tensor<96x64xf32>) -> tensor<2x16x96xf32>
// CHECK-NEXT: %[[V45:.+]] = fact.mul %[[V42]], %[[V44]] : (tensor<2x16x96xf32>, tensor<2x16x96xf32>) -> tensor<2x16x96xf32>
// CHECK-NEXT: %[[V46:.+]] = fact.get_weight @down.weight : tensor<64x96xf32>
// CHECK-NEXT: %[[V47:.+]] = fact.matmul %[[V45]], %[[V46]] transpose_b : (tensor<2x16x96xf32>, tensor<64x96xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V48:.+]] = fact.add %[[V31]], %[[V47]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: return %[[V48]] : tensor<2x16x64xf32>
