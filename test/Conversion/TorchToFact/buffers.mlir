// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("module.py":14:0)
module @buffers attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[8,8],f32> {fact.name = "x"} loc("module.py":14:0)) -> (!torch.vtensor<[8,8],f64> {fact.name = "logits"}, !torch.vtensor<[8,8],f32> {fact.name = "output1"}, !torch.vtensor<[64],f32> {fact.name = "output2"}, !torch.vtensor<[4],f32> {fact.name = "output3"}) {
    %0 = "torch.fact.weight"() {name = "a.weight"} : () -> !torch.vtensor<[8,8],f32> loc(#loc1)
    %1 = "torch.fact.weight"() {name = "a.bias"} : () -> !torch.vtensor<[8],f32> loc(#loc1)
    %2 = torch.aten.linear %arg0, %0, %1 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32>, !torch.vtensor<[8],f32> -> !torch.vtensor<[8,8],f32> loc(#loc1)
    %3 = "torch.fact.weight"() {name = "b.bias"} : () -> !torch.vtensor<[8],f32> loc(#loc1)
    %4 = torch.aten.linear %2, %0, %3 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],f32>, !torch.vtensor<[8],f32> -> !torch.vtensor<[8,8],f32> loc(#loc1)
    %5 = "torch.fact.weight"() {constant, name = "lifted_tensor_0", value = dense<0.000000e+00> : tensor<f32>} : () -> !torch.vtensor<[],f32> loc(#loc2)
    %none = torch.constant.none loc(#loc2)
    %6 = torch.aten.clone %5, %none : !torch.vtensor<[],f32>, !torch.none -> !torch.vtensor<[],f32> loc(#loc2)
    %7 = "torch.fact.weight"() {name = "mask", value = dense_resource<mask> : tensor<8x8xi8>} : () -> !torch.vtensor<[8,8],i1> loc(#loc2)
    %8 = torch.aten.where.self %7, %4, %6 : !torch.vtensor<[8,8],i1>, !torch.vtensor<[8,8],f32>, !torch.vtensor<[],f32> -> !torch.vtensor<[8,8],f32> loc(#loc2)
    %int0 = torch.constant.int 0 loc(#loc3)
    %9 = torch.aten.eq.Scalar %7, %int0 : !torch.vtensor<[8,8],i1>, !torch.int -> !torch.vtensor<[8,8],i1> loc(#loc3)
    %float1.000000e00 = torch.constant.float 1.000000e+00 loc(#loc3)
    %10 = torch.aten.masked_fill.Scalar %8, %9, %float1.000000e00 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8,8],i1>, !torch.float -> !torch.vtensor<[8,8],f32> loc(#loc3)
    %11 = "torch.fact.weight"() {constant, name = "lifted_tensor_1", value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf32>} : () -> !torch.vtensor<[8],f32> loc(#loc3)
    %none_0 = torch.constant.none loc(#loc3)
    %12 = torch.aten.clone %11, %none_0 : !torch.vtensor<[8],f32>, !torch.none -> !torch.vtensor<[8],f32> loc(#loc3)
    %int1 = torch.constant.int 1 loc(#loc3)
    %13 = torch.aten.add.Tensor %10, %12, %int1 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8],f32>, !torch.int -> !torch.vtensor<[8,8],f32> loc(#loc3)
    %int7 = torch.constant.int 7 loc(#loc4)
    %none_1 = torch.constant.none loc(#loc4)
    %none_2 = torch.constant.none loc(#loc4)
    %none_3 = torch.constant.none loc(#loc4)
    %false = torch.constant.bool false loc(#loc4)
    %none_4 = torch.constant.none loc(#loc4)
    %14 = torch.aten._to_copy %13, %int7, %none_1, %none_2, %none_3, %false, %none_4 : !torch.vtensor<[8,8],f32>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[8,8],f64> loc(#loc4)
    %int3 = torch.constant.int 3 loc(#loc4)
    %15 = torch.aten.mul.Scalar %14, %int3 : !torch.vtensor<[8,8],f64>, !torch.int -> !torch.vtensor<[8,8],f64> loc(#loc4)
    %16 = "torch.fact.weight"() {name = "idx", value = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>} : () -> !torch.vtensor<[8],si64> loc(#loc4)
    %int1_5 = torch.constant.int 1 loc(#loc4)
    %17 = torch.aten.add.Tensor %13, %16, %int1_5 : !torch.vtensor<[8,8],f32>, !torch.vtensor<[8],si64>, !torch.int -> !torch.vtensor<[8,8],f32> loc(#loc4)
    %int64 = torch.constant.int 64 loc(#loc4)
    %18 = torch.prim.ListConstruct %int64 : (!torch.int) -> !torch.list<int> loc(#loc4)
    %19 = torch.aten.view %13, %18 : !torch.vtensor<[8,8],f32>, !torch.list<int> -> !torch.vtensor<[64],f32> loc(#loc4)
    %20 = "torch.fact.weight"() {name = "h", value = dense_resource<h> : tensor<64xbf16>} : () -> !torch.vtensor<[64],bf16> loc(#loc4)
    %int1_6 = torch.constant.int 1 loc(#loc4)
    %21 = torch.aten.add.Tensor %19, %20, %int1_6 : !torch.vtensor<[64],f32>, !torch.vtensor<[64],bf16>, !torch.int -> !torch.vtensor<[64],f32> loc(#loc4)
    %22 = "torch.fact.weight"() {name = "hlf", value = dense<5.000000e-01> : tensor<4xf32>} : () -> !torch.vtensor<[4],f32> loc(#loc4)
    %int2 = torch.constant.int 2 loc(#loc4)
    %23 = torch.aten.mul.Scalar %22, %int2 : !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32> loc(#loc4)
    return %15, %17, %21, %23 : !torch.vtensor<[8,8],f64>, !torch.vtensor<[8,8],f32>, !torch.vtensor<[64],f32>, !torch.vtensor<[4],f32> loc(#loc4)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("module.py":15:0)
#loc3 = loc("module.py":16:0)
#loc4 = loc("module.py":17:0)

{-#
  dialect_resources: {
    builtin: {
      mask: "0x0100000001000000000000000101000000000000010101000000000001010101000000000101010101000000010101010101000001010101010101000101010101010101",
      h: "0x020000000000803F004040408040A040C040E040004110412041304140415041604170418041884190419841A041A841B041B841C041C841D041D841E041E841F041F8410042044208420C421042144218421C422042244228422C423042344238423C424042444248424C425042544258425C426042644268426C427042744278427C42"
    }
  }
#-}

// CHECK: module @buffers attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: fact.weight @a.weight : tensor<8x8xf32>
// CHECK: fact.weight @a.bias : tensor<8xf32>
// CHECK: fact.weight @b.bias : tensor<8xf32>
// CHECK: fact.weight @mask = dense<{{\[\[}}true, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false], [true, true, true, false, false, false, false, false], [true, true, true, true, false, false, false, false], [true, true, true, true, true, false, false, false], [true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true{{\]\]}}> : tensor<8x8xi1>
// CHECK: fact.weight @idx = dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
// CHECK: fact.weight @h = dense_resource<h> : tensor<64xbf16>
// CHECK: fact.weight @hlf = dense<5.000000e-01> : tensor<4xf32>
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<8x8xf32> {fact.name = "x"}) -> (tensor<8x8xf64> {fact.name = "logits"}, tensor<8x8xf32> {fact.name = "output1"}, tensor<64xf32> {fact.name = "output2"}, tensor<4xf32> {fact.name = "output3"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.get_weight @a.weight : tensor<8x8xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.get_weight @a.bias : tensor<8xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.matmul %[[ARG0]], %[[V0]] transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.add %[[V2]], %[[V1]] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.get_weight @b.bias : tensor<8xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.matmul %[[V3]], %[[V0]] transpose_b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.add %[[V5]], %[[V4]] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V8:.+]] = fact.get_weight @mask : tensor<8x8xi1>
// CHECK-NEXT: %[[V9:.+]] = fact.select %[[V8]], %[[V6]], %[[V7]] : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V10:.+]] = fact.constant dense<false> : tensor<i1>
// CHECK-NEXT: %[[V11:.+]] = fact.compare eq %[[V8]], %[[V10]] : (tensor<8x8xi1>, tensor<i1>) -> tensor<8x8xi1>
// CHECK-NEXT: %[[V12:.+]] = fact.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V13:.+]] = fact.select %[[V11]], %[[V12]], %[[V9]] : (tensor<8x8xi1>, tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V14:.+]] = fact.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf32>
// CHECK-NEXT: %[[V15:.+]] = fact.add %[[V13]], %[[V14]] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V16:.+]] = fact.cast %[[V15]] : (tensor<8x8xf32>) -> tensor<8x8xf64>
// CHECK-NEXT: %[[V17:.+]] = fact.constant dense<3.000000e+00> : tensor<f64>
// CHECK-NEXT: %[[V18:.+]] = fact.mul %[[V16]], %[[V17]] : (tensor<8x8xf64>, tensor<f64>) -> tensor<8x8xf64>
// CHECK-NEXT: %[[V19:.+]] = fact.get_weight @idx : tensor<8xi64>
// CHECK-NEXT: %[[V20:.+]] = fact.cast %[[V19]] : (tensor<8xi64>) -> tensor<8xf32>
// CHECK-NEXT: %[[V21:.+]] = fact.add %[[V15]], %[[V20]] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %[[V22:.+]] = fact.reshape %[[V15]] : (tensor<8x8xf32>) -> tensor<64xf32>
// CHECK-NEXT: %[[V23:.+]] = fact.get_weight @h : tensor<64xbf16>
// CHECK-NEXT: %[[V24:.+]] = fact.cast %[[V23]] : (tensor<64xbf16>) -> tensor<64xf32>
// CHECK-NEXT: %[[V25:.+]] = fact.add %[[V22]], %[[V24]] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT: %[[V26:.+]] = fact.get_weight @hlf : tensor<4xf32>
// CHECK-NEXT: %[[V27:.+]] = fact.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V28:.+]] = fact.mul %[[V26]], %[[V27]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V18]], %[[V21]], %[[V25]], %[[V28]] : tensor<8x8xf64>, tensor<8x8xf32>, tensor<64xf32>, tensor<4xf32>
