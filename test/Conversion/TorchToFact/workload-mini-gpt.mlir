// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("mini_gpt_block.py":40:0)
module @mini_gpt_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[2,16,64],f32> {fact.name = "x"} loc("mini_gpt_block.py":40:0)) -> (!torch.vtensor<[2,16,64],f32> {fact.name = "output0"}) {
    %int64 = torch.constant.int 64 loc(#loc1)
    %0 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int> loc(#loc1)
    %1 = "torch.fact.weight"() {name = "norm1.weight"} : () -> !torch.vtensor<[64],f32> loc(#loc1)
    %2 = "torch.fact.weight"() {name = "norm1.bias"} : () -> !torch.vtensor<[64],f32> loc(#loc1)
    %float1.000000e-05 = torch.constant.float 1.000000e-05 loc(#loc1)
    %false = torch.constant.bool false loc(#loc1)
    %3 = torch.aten.layer_norm %arg0, %0, %1, %2, %float1.000000e-05, %false : !torch.vtensor<[2,16,64],f32>, !torch.list<int>, !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,16,64],f32> loc(#loc1)
    %4 = "torch.fact.weight"() {name = "attention.qkv.weight"} : () -> !torch.vtensor<[192,64],f32> loc(#loc9)
    %5 = "torch.fact.weight"() {name = "attention.qkv.bias"} : () -> !torch.vtensor<[192],f32> loc(#loc9)
    %6 = torch.aten.linear %3, %4, %5 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[192,64],f32>, !torch.vtensor<[192],f32> -> !torch.vtensor<[2,16,192],f32> loc(#loc9)
    %int64_0 = torch.constant.int 64 loc(#loc9)
    %int2 = torch.constant.int 2 loc(#loc9)
    %7 = torch.aten.split.Tensor %6, %int64_0, %int2 : !torch.vtensor<[2,16,192],f32>, !torch.int, !torch.int -> !torch.list<vtensor> loc(#loc9)
    %8:3 = torch.prim.ListUnpack %7 : !torch.list<vtensor> -> !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32> loc(#loc9)
    %int2_1 = torch.constant.int 2 loc(#loc10)
    %int16 = torch.constant.int 16 loc(#loc10)
    %int4 = torch.constant.int 4 loc(#loc10)
    %int16_2 = torch.constant.int 16 loc(#loc10)
    %9 = torch.prim.ListConstruct %int2_1, %int16, %int4, %int16_2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc10)
    %10 = torch.aten.view %8#0, %9 : !torch.vtensor<[2,16,64],f32>, !torch.list<int> -> !torch.vtensor<[2,16,4,16],f32> loc(#loc10)
    %int1 = torch.constant.int 1 loc(#loc10)
    %int2_3 = torch.constant.int 2 loc(#loc10)
    %11 = torch.aten.transpose.int %10, %int1, %int2_3 : !torch.vtensor<[2,16,4,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,16,16],f32> loc(#loc10)
    %int2_4 = torch.constant.int 2 loc(#loc10)
    %int16_5 = torch.constant.int 16 loc(#loc10)
    %int4_6 = torch.constant.int 4 loc(#loc10)
    %int16_7 = torch.constant.int 16 loc(#loc10)
    %12 = torch.prim.ListConstruct %int2_4, %int16_5, %int4_6, %int16_7 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc10)
    %13 = torch.aten.view %8#1, %12 : !torch.vtensor<[2,16,64],f32>, !torch.list<int> -> !torch.vtensor<[2,16,4,16],f32> loc(#loc10)
    %int1_8 = torch.constant.int 1 loc(#loc10)
    %int2_9 = torch.constant.int 2 loc(#loc10)
    %14 = torch.aten.transpose.int %13, %int1_8, %int2_9 : !torch.vtensor<[2,16,4,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,16,16],f32> loc(#loc10)
    %int2_10 = torch.constant.int 2 loc(#loc10)
    %int16_11 = torch.constant.int 16 loc(#loc10)
    %int4_12 = torch.constant.int 4 loc(#loc10)
    %int16_13 = torch.constant.int 16 loc(#loc10)
    %15 = torch.prim.ListConstruct %int2_10, %int16_11, %int4_12, %int16_13 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc10)
    %16 = torch.aten.view %8#2, %15 : !torch.vtensor<[2,16,64],f32>, !torch.list<int> -> !torch.vtensor<[2,16,4,16],f32> loc(#loc10)
    %int1_14 = torch.constant.int 1 loc(#loc10)
    %int2_15 = torch.constant.int 2 loc(#loc10)
    %17 = torch.aten.transpose.int %16, %int1_14, %int2_15 : !torch.vtensor<[2,16,4,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,16,16],f32> loc(#loc10)
    %int-2 = torch.constant.int -2 loc(#loc11)
    %int-1 = torch.constant.int -1 loc(#loc11)
    %18 = torch.aten.transpose.int %14, %int-2, %int-1 : !torch.vtensor<[2,4,16,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,4,16,16],f32> loc(#loc11)
    %19 = torch.aten.matmul %11, %18 : !torch.vtensor<[2,4,16,16],f32>, !torch.vtensor<[2,4,16,16],f32> -> !torch.vtensor<[2,4,16,16],f32> loc(#loc11)
    %float2.500000e-01 = torch.constant.float 2.500000e-01 loc(#loc11)
    %20 = torch.aten.mul.Scalar %19, %float2.500000e-01 : !torch.vtensor<[2,4,16,16],f32>, !torch.float -> !torch.vtensor<[2,4,16,16],f32> loc(#loc11)
    %21 = "torch.fact.weight"() {name = "attention.causal", value = dense_resource<attention_causal> : tensor<1x1x16x16xf32>} : () -> !torch.vtensor<[1,1,16,16],f32> loc(#loc12)
    %int0 = torch.constant.int 0 loc(#loc12)
    %22 = torch.aten.eq.Scalar %21, %int0 : !torch.vtensor<[1,1,16,16],f32>, !torch.int -> !torch.vtensor<[1,1,16,16],i1> loc(#loc12)
    %float-Inf = torch.constant.float 0xFFF0000000000000 loc(#loc12)
    %23 = torch.aten.masked_fill.Scalar %20, %22, %float-Inf : !torch.vtensor<[2,4,16,16],f32>, !torch.vtensor<[1,1,16,16],i1>, !torch.float -> !torch.vtensor<[2,4,16,16],f32> loc(#loc12)
    %int-1_16 = torch.constant.int -1 loc(#loc13)
    %none = torch.constant.none loc(#loc13)
    %24 = torch.aten.softmax.int %23, %int-1_16, %none : !torch.vtensor<[2,4,16,16],f32>, !torch.int, !torch.none -> !torch.vtensor<[2,4,16,16],f32> loc(#loc13)
    %25 = torch.aten.matmul %24, %17 : !torch.vtensor<[2,4,16,16],f32>, !torch.vtensor<[2,4,16,16],f32> -> !torch.vtensor<[2,4,16,16],f32> loc(#loc13)
    %int1_17 = torch.constant.int 1 loc(#loc14)
    %int2_18 = torch.constant.int 2 loc(#loc14)
    %26 = torch.aten.transpose.int %25, %int1_17, %int2_18 : !torch.vtensor<[2,4,16,16],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,16,4,16],f32> loc(#loc14)
    %int0_19 = torch.constant.int 0 loc(#loc14)
    %27 = torch.aten.clone %26, %int0_19 : !torch.vtensor<[2,16,4,16],f32>, !torch.int -> !torch.vtensor<[2,16,4,16],f32> loc(#loc14)
    %int2_20 = torch.constant.int 2 loc(#loc14)
    %int16_21 = torch.constant.int 16 loc(#loc14)
    %int64_22 = torch.constant.int 64 loc(#loc14)
    %28 = torch.prim.ListConstruct %int2_20, %int16_21, %int64_22 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int> loc(#loc14)
    %29 = torch.aten.view %27, %28 : !torch.vtensor<[2,16,4,16],f32>, !torch.list<int> -> !torch.vtensor<[2,16,64],f32> loc(#loc14)
    %30 = "torch.fact.weight"() {name = "attention.proj.weight"} : () -> !torch.vtensor<[64,64],f32> loc(#loc14)
    %31 = "torch.fact.weight"() {name = "attention.proj.bias"} : () -> !torch.vtensor<[64],f32> loc(#loc14)
    %32 = torch.aten.linear %29, %30, %31 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[64,64],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc14)
    %int1_23 = torch.constant.int 1 loc(#loc1)
    %33 = torch.aten.add.Tensor %arg0, %32, %int1_23 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc1)
    %int64_24 = torch.constant.int 64 loc(#loc8)
    %34 = torch.prim.ListConstruct %int64_24 : (!torch.int) -> !torch.list<int> loc(#loc8)
    %35 = "torch.fact.weight"() {name = "norm2.weight"} : () -> !torch.vtensor<[64],f32> loc(#loc8)
    %36 = "torch.fact.weight"() {name = "norm2.bias"} : () -> !torch.vtensor<[64],f32> loc(#loc8)
    %float1.000000e-05_25 = torch.constant.float 1.000000e-05 loc(#loc8)
    %false_26 = torch.constant.bool false loc(#loc8)
    %37 = torch.aten.layer_norm %33, %34, %35, %36, %float1.000000e-05_25, %false_26 : !torch.vtensor<[2,16,64],f32>, !torch.list<int>, !torch.vtensor<[64],f32>, !torch.vtensor<[64],f32>, !torch.float, !torch.bool -> !torch.vtensor<[2,16,64],f32> loc(#loc8)
    %38 = "torch.fact.weight"() {name = "up.weight"} : () -> !torch.vtensor<[256,64],f32> loc(#loc8)
    %39 = "torch.fact.weight"() {name = "up.bias"} : () -> !torch.vtensor<[256],f32> loc(#loc8)
    %40 = torch.aten.linear %37, %38, %39 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[256,64],f32>, !torch.vtensor<[256],f32> -> !torch.vtensor<[2,16,256],f32> loc(#loc8)
    %str = torch.constant.str "tanh" loc(#loc8)
    %41 = torch.aten.gelu %40, %str : !torch.vtensor<[2,16,256],f32>, !torch.str -> !torch.vtensor<[2,16,256],f32> loc(#loc8)
    %42 = "torch.fact.weight"() {name = "down.weight"} : () -> !torch.vtensor<[64,256],f32> loc(#loc8)
    %43 = "torch.fact.weight"() {name = "down.bias"} : () -> !torch.vtensor<[64],f32> loc(#loc8)
    %44 = torch.aten.linear %41, %42, %43 : !torch.vtensor<[2,16,256],f32>, !torch.vtensor<[64,256],f32>, !torch.vtensor<[64],f32> -> !torch.vtensor<[2,16,64],f32> loc(#loc8)
    %int1_27 = torch.constant.int 1 loc(#loc8)
    %45 = torch.aten.add.Tensor %33, %44, %int1_27 : !torch.vtensor<[2,16,64],f32>, !torch.vtensor<[2,16,64],f32>, !torch.int -> !torch.vtensor<[2,16,64],f32> loc(#loc8)
    return %45 : !torch.vtensor<[2,16,64],f32> loc(#loc8)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("mini_gpt_block.py":22:0)
#loc3 = loc("mini_gpt_block.py":23:0)
#loc4 = loc("mini_gpt_block.py":24:0)
#loc5 = loc("mini_gpt_block.py":25:0)
#loc6 = loc("mini_gpt_block.py":26:0)
#loc7 = loc("mini_gpt_block.py":27:0)
#loc8 = loc("mini_gpt_block.py":41:0)
#loc9 = loc(callsite(#loc2 at #loc1))
#loc10 = loc(callsite(#loc3 at #loc1))
#loc11 = loc(callsite(#loc4 at #loc1))
#loc12 = loc(callsite(#loc5 at #loc1))
#loc13 = loc(callsite(#loc6 at #loc1))
#loc14 = loc(callsite(#loc7 at #loc1))

{-#
  dialect_resources: {
    builtin: {
      attention_causal: "0x040000000000803F0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F000000000000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000000000000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000000000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F000000000000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000000000000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000000000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F000000000000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000000000000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
    }
  }
#-}

// CHECK: module @mini_gpt_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: fact.weight @norm1.weight : tensor<64xf32>
// CHECK: fact.weight @norm1.bias : tensor<64xf32>
// CHECK: fact.weight @attention.qkv.weight : tensor<192x64xf32>
// CHECK: fact.weight @attention.qkv.bias : tensor<192xf32>
// CHECK: fact.weight @attention.causal = dense_resource<attention_causal> : tensor<1x1x16x16xf32>
// CHECK: fact.weight @attention.proj.weight : tensor<64x64xf32>
// CHECK: fact.weight @attention.proj.bias : tensor<64xf32>
// CHECK: fact.weight @norm2.weight : tensor<64xf32>
// CHECK: fact.weight @norm2.bias : tensor<64xf32>
// CHECK: fact.weight @up.weight : tensor<256x64xf32>
// CHECK: fact.weight @up.bias : tensor<256xf32>
// CHECK: fact.weight @down.weight : tensor<64x256xf32>
// CHECK: fact.weight @down.bias : tensor<64xf32>
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<2x16x64xf32> {fact.name = "x"}) -> (tensor<2x16x64xf32> {fact.name = "output0"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.get_weight @norm1.weight : tensor<64xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.get_weight @norm1.bias : tensor<64xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.norm layer %[[ARG0]] weight %[[V0]] bias %[[V1]] eps 1.000000e-05 : (tensor<2x16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.get_weight @attention.qkv.weight : tensor<192x64xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.get_weight @attention.qkv.bias : tensor<192xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.matmul %[[V2]], %[[V3]] transpose_b : (tensor<2x16x64xf32>, tensor<192x64xf32>) -> tensor<2x16x192xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.add %[[V5]], %[[V4]] : (tensor<2x16x192xf32>, tensor<192xf32>) -> tensor<2x16x192xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.slice %[[V6]] dim 2 start 0 : (tensor<2x16x192xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.slice %[[V6]] dim 2 start 64 : (tensor<2x16x192xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.slice %[[V6]] dim 2 start 128 : (tensor<2x16x192xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.reshape %[[V7]] : (tensor<2x16x64xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V11:.+]] = fact.permute %[[V10]] [0, 2, 1, 3] : (tensor<2x16x4x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V12:.+]] = fact.reshape %[[V8]] : (tensor<2x16x64xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V13:.+]] = fact.permute %[[V12]] [0, 2, 1, 3] : (tensor<2x16x4x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.reshape %[[V9]] : (tensor<2x16x64xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V15:.+]] = fact.permute %[[V14]] [0, 2, 1, 3] : (tensor<2x16x4x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V16:.+]] = fact.permute %[[V13]] [0, 1, 3, 2] : (tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V17:.+]] = fact.matmul %[[V11]], %[[V16]] : (tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V18:.+]] = fact.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[V19:.+]] = fact.mul %[[V17]], %[[V18]] : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V20:.+]] = fact.get_weight @attention.causal : tensor<1x1x16x16xf32>
// CHECK-NEXT: %[[V21:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V22:.+]] = fact.compare eq %[[V20]], %[[V21]] : (tensor<1x1x16x16xf32>, tensor<f32>) -> tensor<1x1x16x16xi1>
// CHECK-NEXT: %[[V23:.+]] = fact.constant dense<0xFF800000> : tensor<f32>
// CHECK-NEXT: %[[V24:.+]] = fact.select %[[V22]], %[[V23]], %[[V19]] : (tensor<1x1x16x16xi1>, tensor<f32>, tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V25:.+]] = fact.softmax %[[V24]] dim 3 : tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V26:.+]] = fact.matmul %[[V25]], %[[V15]] : (tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
// CHECK-NEXT: %[[V27:.+]] = fact.permute %[[V26]] [0, 2, 1, 3] : (tensor<2x4x16x16xf32>) -> tensor<2x16x4x16xf32>
// CHECK-NEXT: %[[V28:.+]] = fact.reshape %[[V27]] : (tensor<2x16x4x16xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V29:.+]] = fact.get_weight @attention.proj.weight : tensor<64x64xf32>
// CHECK-NEXT: %[[V30:.+]] = fact.get_weight @attention.proj.bias : tensor<64xf32>
// CHECK-NEXT: %[[V31:.+]] = fact.matmul %[[V28]], %[[V29]] transpose_b : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V32:.+]] = fact.add %[[V31]], %[[V30]] : (tensor<2x16x64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V33:.+]] = fact.add %[[ARG0]], %[[V32]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V34:.+]] = fact.get_weight @norm2.weight : tensor<64xf32>
// CHECK-NEXT: %[[V35:.+]] = fact.get_weight @norm2.bias : tensor<64xf32>
// CHECK-NEXT: %[[V36:.+]] = fact.norm layer %[[V33]] weight %[[V34]] bias %[[V35]] eps 1.000000e-05 : (tensor<2x16x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V37:.+]] = fact.get_weight @up.weight : tensor<256x64xf32>
// CHECK-NEXT: %[[V38:.+]] = fact.get_weight @up.bias : tensor<256xf32>
// CHECK-NEXT: %[[V39:.+]] = fact.matmul %[[V36]], %[[V37]] transpose_b : (tensor<2x16x64xf32>, tensor<256x64xf32>) -> tensor<2x16x256xf32>
// CHECK-NEXT: %[[V40:.+]] = fact.add %[[V39]], %[[V38]] : (tensor<2x16x256xf32>, tensor<256xf32>) -> tensor<2x16x256xf32>
// CHECK-NEXT: %[[V41:.+]] = fact.gelu %[[V40]] approximate tanh : (tensor<2x16x256xf32>) -> tensor<2x16x256xf32>
// CHECK-NEXT: %[[V42:.+]] = fact.get_weight @down.weight : tensor<64x256xf32>
// CHECK-NEXT: %[[V43:.+]] = fact.get_weight @down.bias : tensor<64xf32>
// CHECK-NEXT: %[[V44:.+]] = fact.matmul %[[V41]], %[[V42]] transpose_b : (tensor<2x16x256xf32>, tensor<64x256xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V45:.+]] = fact.add %[[V44]], %[[V43]] : (tensor<2x16x64xf32>, tensor<64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: %[[V46:.+]] = fact.add %[[V33]], %[[V45]] : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x64xf32>
// CHECK-NEXT: return %[[V46]] : tensor<2x16x64xf32>
