// RUN: fact-translate --fact-to-host %s | FileCheck %s

// Both products of a register tile are done before the epilogue; their panels
// are packed in turns.
module attributes {fact.target = #fact.machine<"neoverse-n1">} {
  func.func @gated(%x: tensor<64x96xf32>, %g: tensor<48x96xf32>, %u: tensor<48x96xf32>, %b: tensor<48xf32>) -> tensor<64x48xf32> {
    // CHECK: // gated_gemm_0: 2 tiles
    // CHECK-LABEL: func.func @pack(
    // CHECK: arith.remui
    // CHECK-COUNT-2: scf.if
    // CHECK-LABEL: func.func @tile(
    // CHECK-COUNT-2: vector.fma
    // CHECK: math.exp
    %0 = fact.fused "gated_gemm" ins(%x, %g, %u, %b : tensor<64x96xf32>, tensor<48x96xf32>, tensor<48x96xf32>, tensor<48xf32>) {
    ^bb0(%a: tensor<64x96xf32>, %c: tensor<48x96xf32>, %d: tensor<48x96xf32>, %e: tensor<48xf32>):
      %1 = fact.matmul %a, %c transpose_b : (tensor<64x96xf32>, tensor<48x96xf32>) -> tensor<64x48xf32>
      %2 = fact.add %1, %e : (tensor<64x48xf32>, tensor<48xf32>) -> tensor<64x48xf32>
      %3 = fact.silu %2 : (tensor<64x48xf32>) -> tensor<64x48xf32>
      %4 = fact.matmul %a, %d transpose_b : (tensor<64x96xf32>, tensor<48x96xf32>) -> tensor<64x48xf32>
      %5 = fact.mul %3, %4 : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
      fact.yield %5 : tensor<64x48xf32>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 48>) : tensor<64x48xf32>
    return %0 : tensor<64x48xf32>
  }

  // Panels of 3 and of 2: five, of which a tile has two at most.
  func.func @grouped(%x: tensor<64x96xbf16>, %q: tensor<48x96xbf16>, %k: tensor<32x96xbf16>) -> (tensor<64x48xbf16>, tensor<64x32xbf16>) {
    // CHECK: // grouped_gemm_1: 6 tiles
    // CHECK-LABEL: func.func @pack(
    // CHECK-COUNT-2: arith.cmpi ult
    // CHECK-LABEL: func.func @tile(
    // CHECK: arith.maxsi
    // CHECK: arith.maximumf
    // CHECK: arith.maxsi
    %0:2 = fact.fused "grouped_gemm" ins(%x, %q, %k : tensor<64x96xbf16>, tensor<48x96xbf16>, tensor<32x96xbf16>) {
    ^bb0(%a: tensor<64x96xbf16>, %b: tensor<48x96xbf16>, %c: tensor<32x96xbf16>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<64x96xbf16>, tensor<48x96xbf16>) -> tensor<64x48xbf16>
      %2 = fact.relu %1 : (tensor<64x48xbf16>) -> tensor<64x48xbf16>
      %3 = fact.matmul %a, %c transpose_b : (tensor<64x96xbf16>, tensor<32x96xbf16>) -> tensor<64x32xbf16>
      fact.yield %2, %3 : tensor<64x48xbf16>, tensor<64x32xbf16>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 32>) : tensor<64x48xbf16>, tensor<64x32xbf16>
    return %0#0, %0#1 : tensor<64x48xbf16>, tensor<64x32xbf16>
  }

  // A row that is reduced lies in one tile, a column that is reduced too.
  func.func @reductions(%x: tensor<64x96xf32>, %w: tensor<96x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    // CHECK: // gemm_epilogue_2: 2 tiles
    // CHECK: vector.reduction <add>
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x96xf32>, tensor<96x64xf32>) {
    ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>):
      %1 = fact.matmul %a, %b : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
      %2 = fact.reduce sum %1 dims [1] : (tensor<64x64xf32>) -> tensor<64xf32>
      fact.yield %2 : tensor<64xf32>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 16>) : tensor<64xf32>
    // CHECK: // gemm_epilogue_3: 4 tiles
    // CHECK-NOT: vector.reduction
    // CHECK: arith.maximumf
    // CHECK: vector.reduction <maximumf>
    // CHECK-NOT: vector.reduction
    %3 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x96xf32>, tensor<96x64xf32>) {
    ^bb0(%a: tensor<64x96xf32>, %b: tensor<96x64xf32>):
      %1 = fact.matmul %a, %b : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>
      %2 = fact.reduce max %1 dims [0] : (tensor<64x64xf32>) -> tensor<64xf32>
      fact.yield %2 : tensor<64xf32>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 16>) : tensor<64xf32>
    return %0, %3 : tensor<64xf32>, tensor<64xf32>
  }
}
