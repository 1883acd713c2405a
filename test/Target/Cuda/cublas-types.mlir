// cuBLAS multiplies f32, strict and in TF32, and f64, of any size and alignment.

// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t
// RUN: cat %t/kernels/*_0/*.cu | FileCheck %s --check-prefix=STRICT
// RUN: cat %t/kernels/*_1/*.cu | FileCheck %s --check-prefix=TF32
// RUN: cat %t/kernels/*_2/*.cu | FileCheck %s --check-prefix=F64

// STRICT: using Kernel = CublasGemm<
// STRICT-NEXT: Problem<33, 9, 66>,
// STRICT-NEXT: RowMajor<0, f32, 66>,
// STRICT-NEXT: RowMajor<1, f32, 9>,
// STRICT-NEXT: Operands<>,
// STRICT-NEXT: RowMajor<2, f32, 9>>;
// TF32: using Kernel = CublasGemm<
// TF32: Problem<33, 11, 66>,
// TF32: RowMajor<2, f32, 11>,
// TF32-NEXT: AllowTf32>;
// F64: using Kernel = CublasGemm<
// F64: RowMajor<2, f64, 10>>;
func.func @main(%x: tensor<33x66xf32>, %v: tensor<66x9xf32>, %w: tensor<66x11xf32>, %d: tensor<33x66xf64>, %e: tensor<66x10xf64>) -> (tensor<33x9xf32>, tensor<33x11xf32>, tensor<33x10xf64>) {
  %0 = fact.matmul %x, %v : (tensor<33x66xf32>, tensor<66x9xf32>) -> tensor<33x9xf32>
  %1 = fact.matmul %x, %w tf32 : (tensor<33x66xf32>, tensor<66x11xf32>) -> tensor<33x11xf32>
  %2 = fact.matmul %d, %e : (tensor<33x66xf64>, tensor<66x10xf64>) -> tensor<33x10xf64>
  return %0, %1, %2 : tensor<33x9xf32>, tensor<33x11xf32>, tensor<33x10xf64>
}
