// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t --candidates=1
// RUN: FileCheck %s < %t/bundle.json
// RUN: rm -rf %t.tf32 && sed 's/fact.matmul %%a, %%b/fact.matmul %%a, %%b tf32/' %s > %t.tf32.mlir
// RUN: fact-compile %t.tf32.mlir --target=h200 --until=bundle --bundle=%t.tf32 --candidates=1
// RUN: FileCheck %s < %t.tf32/bundle.json
// RUN: rm -rf %t.long && sed 's/x64x/x68x/g; s/<64x/<68x/g' %s > %t.long.mlir
// RUN: fact-compile %t.long.mlir --target=h200 --until=bundle --bundle=%t.long --candidates=16
// RUN: FileCheck %s --check-prefix=LONG --implicit-check-not=sm80_gemm < %t.long/bundle.json
// RUN: rm -rf %t.all && fact-compile %s --target=h200 --until=bundle --bundle=%t.all --candidates=16
// RUN: FileCheck %s --check-prefix=ALL < %t.all/bundle.json

// Few steps of K: wgmma needs a copy of the rhs along K, which is another
// launch; kernels of sm_80 read it as it lies. The best predicted one is first,
// before cuBLAS, which is a candidate at any prediction.

// CHECK: "key": "sm80_gemm<
// LONG: "key": "sm90_gemm<
// ALL: "key": "sm80_gemm<
// ALL: "key": "cublas_gemm
// ALL: "key": "sm90_gemm<

module @short_sums {
  func.func @main(%x: tensor<1024x64xf32>, %y: tensor<64x1024xf32>) -> tensor<1024x1024xf32> {
    %r = fact.fused "gemm_epilogue" ins(%x, %y : tensor<1024x64xf32>, tensor<64x1024xf32>) {
    ^bb0(%a: tensor<1024x64xf32>, %b: tensor<64x1024xf32>):
      %m = fact.matmul %a, %b : (tensor<1024x64xf32>, tensor<64x1024xf32>) -> tensor<1024x1024xf32>
      fact.yield %m : tensor<1024x1024xf32>
    } : tensor<1024x1024xf32>
    return %r : tensor<1024x1024xf32>
  }
}
