// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

#loc1 = loc("gemm_large_k.py":8:0)
module @gemm_large_k_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%arg0: !torch.vtensor<[16,512],f32> {fact.name = "a"} loc("gemm_large_k.py":8:0), %arg1: !torch.vtensor<[512,16],f32> {fact.name = "b"} loc("gemm_large_k.py":8:0)) -> (!torch.vtensor<[16,16],f32> {fact.name = "output0"}) {
    %0 = torch.aten.matmul %arg0, %arg1 : !torch.vtensor<[16,512],f32>, !torch.vtensor<[512,16],f32> -> !torch.vtensor<[16,16],f32> loc(#loc1)
    return %0 : !torch.vtensor<[16,16],f32> loc(#loc1)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)

// CHECK: module @gemm_large_k_small_f32 attributes {fact.float32_matmul_precision = "highest"} {
// CHECK: func.func @main(%[[ARG0:.+]]: tensor<16x512xf32> {fact.name = "a"}, %[[ARG1:.+]]: tensor<512x16xf32> {fact.name = "b"}) -> (tensor<16x16xf32> {fact.name = "output0"}) {
// CHECK-NEXT: %[[V0:.+]] = fact.matmul %[[ARG0]], %[[ARG1]] : (tensor<16x512xf32>, tensor<512x16xf32>) -> tensor<16x16xf32>
// CHECK-NEXT: return %[[V0]] : tensor<16x16xf32>
