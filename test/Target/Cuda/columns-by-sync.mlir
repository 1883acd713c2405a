// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=4
// RUN: FileCheck %s < %t/bundle.json
// RUN: cat %t/kernels/*/*.cu | FileCheck %s --check-prefix=CODE

// A 1x1 convolution of channels-first images in f32: wgmma takes A from
// registers there, so kernels with mma.sync are candidates too.

// CHECK: "key": "sm80_gemm<tile = [[TILE:[0-9x]+]],
// CHECK-NOT: "key": "sm80_gemm<tile = [[TILE]],
// CHECK: "key": "sm80_gemm<

// CODE-DAG: using Kernel = Float32Gemm<
// CODE-DAG: using Kernel = Sm80Gemm<
// CODE-DAG: ColumnMajor<0, f32, 784,
module @pointwise {
  fact.weight @w : tensor<64x256xf32>
  func.func @main(%x: tensor<16x256x784xf32>) -> tensor<16x64x784xf32> {
    %w = fact.get_weight @w : tensor<64x256xf32>
    %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<16x256x784xf32>, tensor<64x256xf32>) {
    ^bb0(%i: tensor<16x256x784xf32>, %f: tensor<64x256xf32>):
      %m = fact.matmul %i, %f transpose_a transpose_b tf32 : (tensor<16x256x784xf32>, tensor<64x256xf32>) -> tensor<16x784x64xf32>
      %y = fact.relu %m : (tensor<16x784x64xf32>) -> tensor<16x784x64xf32>
      %p = fact.permute %y [0, 2, 1] : (tensor<16x784x64xf32>) -> tensor<16x64x784xf32>
      fact.yield %p : tensor<16x64x784xf32>
    } : tensor<16x64x784xf32>
    return %r : tensor<16x64x784xf32>
  }
}

// Without an epilogue, cuBLAS is a candidate too: it stores the transposed product.
// RUN: rm -rf %t.plain && sed -e '/fact.relu/d' -e 's/permute %%y/permute %%m/' %s > %t.plain.mlir
// RUN: fact-compile %t.plain.mlir --target=h200 --until=bundle --bundle=%t.plain --candidates=4
// RUN: cat %t.plain/kernels/*/*.cu | FileCheck %s --check-prefix=CUBLAS
// RUN: fact-compile %t.plain.mlir --target=a100 --until=bundle --bundle=%t.plain --candidates=4
// RUN: cat %t.plain/kernels/*/*.cu | FileCheck %s --check-prefix=CUBLAS
// CUBLAS: using Kernel = CublasGemm<
// CUBLAS-NEXT: Problem<64, 784, 256, 16>,
// CUBLAS-NEXT: RowMajor<1, f32, 256>,
// CUBLAS-NEXT: RowMajor<0, f32, 784, 200704>,
// CUBLAS-NEXT: Operands<>,
// CUBLAS-NEXT: RowMajor<2, f32, 784, 50176>,
// CUBLAS-NEXT: AllowTf32>;
