// RUN: fact-opt %s --fact-outline-program --fact-add-alternatives="factor=1000" | FileCheck %s

// A region with a space of its own has no alternative that is the same region with another space.
// CHECK: program.kernel @gemm_epilogue_0(
// CHECK: program.kernel @gemm_epilogue_1(
// CHECK: fact.matmul
// CHECK-NEXT: fact.yield
// CHECK-NOT: program.model @gemm_epilogue_0_single
// CHECK: program.model @gemm_epilogue_0_apart
module attributes {fact.target = #fact.machine<"neoverse-n1">} {
  func.func @forward(%x: tensor<13x40xf32>, %w: tensor<37x40xf32>) -> tensor<13x37xf32> {
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<13x40xf32>, tensor<37x40xf32>) {
    ^bb0(%a: tensor<13x40xf32>, %b: tensor<37x40xf32>):
      %1 = fact.matmul %a, %b transpose_b : (tensor<13x40xf32>, tensor<37x40xf32>) -> tensor<13x37xf32>
      %2 = fact.gelu %1 : (tensor<13x37xf32>) -> tensor<13x37xf32>
      fact.yield %2 : tensor<13x37xf32>
    } space(#fact.host_gemm_space<micro = [4x8], rows = [24], columns = [96]>) : tensor<13x37xf32>
    return %0 : tensor<13x37xf32>
  }
}
