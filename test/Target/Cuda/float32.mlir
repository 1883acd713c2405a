// Products of f32: strict as promoted sums of TF32 parts, and in TF32.

// RUN: fact-opt --fact-discover="target=h200" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: sed 's/transpose_b :/transpose_b tf32 :/' %s | fact-opt --fact-discover="target=h200" \
// RUN:   | fact-translate --fact-to-cutlass | FileCheck %s --check-prefix=TF32

// CHECK: #include "fact/cutlass/Float32Gemm.cuh"
// CHECK: using Kernel = Float32Gemm<
// CHECK-NEXT: Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: RowMajor<0, f32, Size(4), Size(5), Size(6)>,
// CHECK-NEXT: ColumnMajor<1, f32, Size(7), Size(8), Size(9)>,
// CHECK: Results<Result<Epilogue, RowMajor<3, f32, Size(12), Size(13), Size(14)>>>,
// CHECK-NEXT: GemmSchedule<Tile<128, 128, 32>, Cluster<{{[12], [12]}}>, Promoted<{{StreamK|Cooperative}}>, Swizzle<Size(15)>>>;
// CHECK: using Kernel = GatedGemm<
// CHECK: GemmSchedule<Tile<{{[0-9]+, [0-9]+}}, 32>, Cluster<{{[12], [12]}}>, Promoted<

// TF32: using Kernel = Float32Gemm<
// TF32: GemmSchedule<Tile<{{[0-9]+, [0-9]+}}, 32>, Cluster<{{[12], [12]}}>, {{Pingpong|Cooperative}}, Swizzle<
// TF32: using Kernel = GatedGemm<
// TF32-NOT: Promoted
func.func @main(%x: tensor<4096x768xf32>, %w: tensor<3072x768xf32>, %b: tensor<3072xf32>, %g: tensor<1024x768xf32>, %u: tensor<1024x768xf32>) -> (tensor<4096x3072xf32>, tensor<4096x1024xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4096x768xf32>, tensor<3072x768xf32>) -> tensor<4096x3072xf32>
  %1 = fact.add %0, %b : (tensor<4096x3072xf32>, tensor<3072xf32>) -> tensor<4096x3072xf32>
  %2 = fact.matmul %x, %g transpose_b : (tensor<4096x768xf32>, tensor<1024x768xf32>) -> tensor<4096x1024xf32>
  %3 = fact.silu %2 : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %4 = fact.matmul %x, %u transpose_b : (tensor<4096x768xf32>, tensor<1024x768xf32>) -> tensor<4096x1024xf32>
  %5 = fact.mul %3, %4 : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %1, %5 : tensor<4096x3072xf32>, tensor<4096x1024xf32>
}
