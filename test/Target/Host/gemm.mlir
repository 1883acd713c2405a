// RUN: fact-translate --fact-to-host %s | FileCheck %s

// Rows of A and columns of B are packed four by four; a long K is taken in
// blocks, and the epilogue follows the last.
module attributes {fact.target = #fact.machine<"neoverse-n1">} {
  func.func @main(%x: tensor<64x4096xf32>, %w: tensor<48x4096xf32>) -> tensor<64x48xf32> {
    // CHECK: // gemm_epilogue_0: 2 tiles
    // CHECK-LABEL: func.func @pack(
    // CHECK: vector.shuffle {{.*}} [0, 4, 1, 5]
    // CHECK-LABEL: func.func @tile(
    // CHECK-SAME: i64, %{{.*}}: !llvm.ptr, %[[WORKSPACE:.*]]: !llvm.ptr)
    // CHECK: llvm.getelementptr %[[WORKSPACE]]
    // CHECK: scf.for
    // CHECK: vector.shuffle {{.*}} [0, 4, 1, 5]
    // CHECK: vector.fma
    // CHECK: arith.cmpi eq
    // CHECK: scf.if
    // CHECK: arith.maximumf
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x4096xf32>, tensor<48x4096xf32>) {
    ^bb0(%a: tensor<64x4096xf32>, %c: tensor<48x4096xf32>):
      %1 = fact.matmul %a, %c transpose_b : (tensor<64x4096xf32>, tensor<48x4096xf32>) -> tensor<64x48xf32>
      %2 = fact.relu %1 : (tensor<64x48xf32>) -> tensor<64x48xf32>
      fact.yield %2 : tensor<64x48xf32>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 48>) : tensor<64x48xf32>
    return %0 : tensor<64x48xf32>
  }
}
