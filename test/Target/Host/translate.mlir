// RUN: fact-translate --fact-to-host %s | FileCheck %s
// RUN: fact-translate --fact-to-host-reference %s | FileCheck %s --check-prefix=REFERENCE
// RUN: not fact-translate --fact-to-cutlass %s 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: the module's kernels are for 'host', but this translation is for 'h200'
module attributes {fact.target = #fact.machine<"host">} {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<48x32xf32>, %b: tensor<48xf32>) -> tensor<64x48xf32> {
    // CHECK: // gemm_epilogue_0: {{[0-9]+}} tiles
    // CHECK-DAG: func.func @pack
    // CHECK-DAG: func.func @tile
    // CHECK: vector.fma
    // REFERENCE: namespace fact::gemm_epilogue_0_reference {
    // REFERENCE: FACT_REFERENCE(gemm_epilogue_0_reference, Region, 4,
    %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<64x32xf32>, tensor<48x32xf32>, tensor<48xf32>) {
    ^bb0(%a: tensor<64x32xf32>, %c: tensor<48x32xf32>, %d: tensor<48xf32>):
      %1 = fact.matmul %a, %c transpose_b : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
      %2 = fact.add %1, %d : (tensor<64x48xf32>, tensor<48xf32>) -> tensor<64x48xf32>
      fact.yield %2 : tensor<64x48xf32>
    } schedule(#fact.host_gemm<micro = 4x16, rows = 32, columns = 48>) : tensor<64x48xf32>
    return %0 : tensor<64x48xf32>
  }
}
