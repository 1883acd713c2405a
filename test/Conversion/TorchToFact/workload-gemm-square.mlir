// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("gemm_square.py":8:0)
module @gemm_square_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[48,32],f32> {fact.name = "a"} loc("gemm_square.py":8:0), %arg1: !torch.vtensor<[32,64],f32> {fact.name = "b"} loc("gemm_square.py":8:0)) -> (!torch.vtensor<[48,64],f32> {fact.name = "output0"}) {
    %0 = torch.aten.matmul %arg0, %arg1 : !torch.vtensor<[48,32],f32>, !torch.vtensor<[32,64],f32> -> !torch.vtensor<[48,64],f32> loc(#loc1)
    return %0 : !torch.vtensor<[48,64],f32> loc(#loc1)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)

// CHECK: module @gemm_square_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<48x32xf32> {fact.name = "a"}, %[[ARG1:.+]]: tensor<32x64xf32> {fact.name = "b"}) -> (tensor<48x64xf32> {fact.name = "output0"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<48x32xf32>, tensor<32x64xf32>) -> tensor<48x64xf32>
// CHECK-NEXT: return %[[V0]] : tensor<48x64xf32>
