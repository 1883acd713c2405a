// PyTorch's precision of f32 products goes into the ops; other types have none.

// RUN: fact-opt --convert-torch-to-fact %s | FileCheck %s --check-prefix=STRICT --implicit-check-not=tf32
// RUN: sed 's/"highest"/"high"/' %s | fact-opt --convert-torch-to-fact | FileCheck %s --check-prefix=TF32
// RUN: sed 's/"highest"/"medium"/' %s | fact-opt --convert-torch-to-fact | FileCheck %s --check-prefix=TF32
// RUN: sed 's/ attributes {.*{/ {/' %s | fact-opt --convert-torch-to-fact | FileCheck %s --check-prefix=STRICT --implicit-check-not=tf32

// STRICT: fact.matmul %{{.*}}, %{{.*}} :
// STRICT: fact.attention %{{.*}} scale 2.500000e-01 :
// STRICT: fact.matmul
// STRICT: fact.matmul
// TF32: fact.matmul %{{.*}}, %{{.*}} tf32 : (tensor<4x8xf32>
// PyTorch's attention is strict at any precision of products.
// TF32: fact.attention %{{.*}} scale 2.500000e-01 :
// TF32: fact.matmul %{{.*}}, %{{.*}} : (tensor<4x8xbf16>
// So are Fourier transforms.
// TF32: fact.matmul %{{.*}}, %{{.*}} : (tensor<4x8xf32>
module attributes {fact.float32_matmul_precision = "highest"} {
  func.func @main(%x: !torch.vtensor<[4,8],f32>, %w: !torch.vtensor<[8,6],f32>, %q: !torch.vtensor<[1,2,4,16],f32>, %h: !torch.vtensor<[4,8],bf16>, %v: !torch.vtensor<[8,6],bf16>) -> (!torch.vtensor<[4,6],f32>, !torch.vtensor<[1,2,4,16],f32>, !torch.vtensor<[4,6],bf16>, !torch.vtensor<[4,6],f32>) {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.float 0.000000e+00
    %0 = torch.aten.mm %x, %w : !torch.vtensor<[4,8],f32>, !torch.vtensor<[8,6],f32> -> !torch.vtensor<[4,6],f32>
    %1 = torch.aten.scaled_dot_product_attention %q, %q, %q, %none, %zero, %false, %none, %false : !torch.vtensor<[1,2,4,16],f32>, !torch.vtensor<[1,2,4,16],f32>, !torch.vtensor<[1,2,4,16],f32>, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,4,16],f32>
    %2 = torch.aten.mm %h, %v : !torch.vtensor<[4,8],bf16>, !torch.vtensor<[8,6],bf16> -> !torch.vtensor<[4,6],bf16>
    %3 = torch.operator "torch.fact.strict_matmul"(%x, %w) : (!torch.vtensor<[4,8],f32>, !torch.vtensor<[8,6],f32>) -> !torch.vtensor<[4,6],f32>
    return %0, %1, %2, %3 : !torch.vtensor<[4,6],f32>, !torch.vtensor<[1,2,4,16],f32>, !torch.vtensor<[4,6],bf16>, !torch.vtensor<[4,6],f32>
  }
}
