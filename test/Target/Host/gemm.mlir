// RUN: fact-translate --fact-to-host %s | FileCheck %s

// Rows of A and columns of B are packed four by four; a long K is taken in
// blocks, and the epilogue follows the last.
//
// Few rows read B in place: nothing is packed before the launch, four rows of B
// share the loads and stores of a sum, and K is taken in chains.
//
// A tile can also pack blocks of B when it comes to them, after those of A.
//
// Windows are read from a copy of what a box of them sees.
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
  func.func @few(%x: tensor<7x512xf32>, %w: tensor<512x4096xf32>) -> tensor<7x4096xf32> {
    // CHECK: // gemm_epilogue_1: 2 tiles
    // CHECK-NOT: func.func @pack(
    // CHECK-LABEL: func.func @tile(
    // CHECK-COUNT-56: vector.fma
    // CHECK: arith.addf
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<7x512xf32>, tensor<512x4096xf32>) {
    ^bb0(%a: tensor<7x512xf32>, %c: tensor<512x4096xf32>):
      %1 = fact.matmul %a, %c : (tensor<7x512xf32>, tensor<512x4096xf32>) -> tensor<7x4096xf32>
      fact.yield %1 : tensor<7x4096xf32>
    } schedule(#fact.host_stream<columns = 2048>) : tensor<7x4096xf32>
    return %0 : tensor<7x4096xf32>
  }
  func.func @blocked(%x: tensor<64x512xf32>, %w: tensor<512x384xf32>) -> tensor<64x384xf32> {
    // CHECK: // gemm_epilogue_2: 2 tiles
    // CHECK-NOT: func.func @pack(
    // CHECK-LABEL: func.func @tile(
    // CHECK: vector.shuffle {{.*}} [0, 4, 1, 5]
    // CHECK: llvm.load {{.*}} -> vector<4xf32>
    // CHECK: vector.fma
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x512xf32>, tensor<512x384xf32>) {
    ^bb0(%a: tensor<64x512xf32>, %c: tensor<512x384xf32>):
      %1 = fact.matmul %a, %c : (tensor<64x512xf32>, tensor<512x384xf32>) -> tensor<64x384xf32>
      fact.yield %1 : tensor<64x384xf32>
    } schedule(#fact.host_blocked<micro = 8x12, rows = 64, columns = 192>) : tensor<64x384xf32>
    return %0 : tensor<64x384xf32>
  }
  // A box has 6 lines of 20 windows in two register tiles each; it copies 8 lines
  // of 22 pixels, of all 4 channels.
  func.func @windows(%x: tensor<2x4x32x22xf32>, %w: tensor<16x36xf32>) -> tensor<2x16x30x20xf32> {
    // CHECK: // gemm_epilogue_3: 10 tiles
    // CHECK-LABEL: func.func @tile(
    // CHECK: scf.for {{.*}} to %c8_i64
    // CHECK: scf.for {{.*}} to %c22_i64
    // CHECK: scf.for {{.*}} step %c10_i64
    // CHECK-COUNT-40: vector.fma
    // CHECK: vector.shuffle
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x4x32x22xf32>, tensor<16x36xf32>) {
    ^bb0(%a: tensor<2x4x32x22xf32>, %c: tensor<16x36xf32>):
      %1 = fact.permute %a [0, 2, 3, 1] : (tensor<2x4x32x22xf32>) -> tensor<2x32x22x4xf32>
      %2 = fact.windows %1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x32x22x4xf32>) -> tensor<2x30x20x3x3x4xf32>
      %3 = fact.reshape %2 : (tensor<2x30x20x3x3x4xf32>) -> tensor<2x30x20x36xf32>
      %4 = fact.matmul %3, %c transpose_b : (tensor<2x30x20x36xf32>, tensor<16x36xf32>) -> tensor<2x30x20x16xf32>
      %5 = fact.permute %4 [0, 3, 1, 2] : (tensor<2x30x20x16xf32>) -> tensor<2x16x30x20xf32>
      fact.yield %5 : tensor<2x16x30x20xf32>
    } schedule(#fact.host_windows<micro = 10x16, rows = 120, columns = 16>) : tensor<2x16x30x20xf32>
    return %0 : tensor<2x16x30x20xf32>
  }
}
