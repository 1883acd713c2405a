// RUN: fact-opt %s --fact-discover=target=h200 --fact-outline-program --fact-add-alternatives="factor=1000" --fact-plan-memory | FileCheck %s
// RUN: fact-opt %s --fact-discover=target=neoverse-n1 --fact-outline-program --fact-add-alternatives="factor=1000" --fact-plan-memory | FileCheck %s
// What is predicted to be slower is not added.
// RUN: fact-opt %s --fact-discover=target=h200 --fact-outline-program --fact-add-alternatives="factor=0.5" | FileCheck %s --check-prefix=NONE

// NONE-NOT: replaces

fact.weight @gate : tensor<512x256xbf16>
fact.weight @up : tensor<512x256xbf16>
fact.weight @down : tensor<256x512xbf16>

// Kernels of alternatives follow those of the program, and are tuned after them.
// CHECK: program.kernel @gated_gemm_0(
// CHECK: program.kernel @gemm_epilogue_1(
// CHECK: program.kernel @gemm_epilogue_2(
// CHECK-NEXT: fact.fused "gemm_epilogue"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.matmul
// CHECK-NEXT: fact.yield
// CHECK-NEXT: priority(-1)
// CHECK: program.kernel @gemm_epilogue_3(
// CHECK-NEXT: fact.fused "gemm_epilogue"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.matmul
// CHECK-NEXT: fact.silu
// CHECK-NEXT: fact.mul
// CHECK: program.kernel @pointwise_4(
// CHECK: fact.silu
// CHECK-NEXT: fact.mul

// The program is as it was fused.
// CHECK: program.model @forward
// CHECK-NOT: replaces
// CHECK: program.run
// CHECK-NEXT: program.launch @gated_gemm_0(
// CHECK-NEXT: program.launch @gemm_epilogue_1(
// CHECK-NEXT: }

// One product with its own epilogue each.
// CHECK: program.model @gated_gemm_0_single {{.*}} replaces(@gated_gemm_0) workspace(1048576)
// CHECK: program.run
// CHECK-NEXT: program.launch @gemm_epilogue_2(%input0, %input2) -> (%[[UP:.*]])
// CHECK-NEXT: program.launch @gemm_epilogue_3(%input0, %input1, %[[UP]]) -> (%output0)
// CHECK-NEXT: }

// Both products are one kernel.
// CHECK: program.model @gated_gemm_0_apart {{.*}} replaces(@gated_gemm_0) workspace(2097152)
// CHECK: program.run
// CHECK-NEXT: program.launch @gemm_epilogue_2(%input0, %input1) -> (%[[GATE:.*]])
// CHECK-NEXT: program.launch @gemm_epilogue_2(%input0, %input2) -> (%[[UP:.*]])
// CHECK-NEXT: program.launch @pointwise_4(%[[GATE]], %[[UP]]) -> (%output0)
// CHECK-NEXT: }

// CHECK: program.model @gemm_epilogue_1_apart {{.*}} replaces(@gemm_epilogue_1)
// CHECK: program.run
// CHECK-NEXT: program.launch @gemm_epilogue_5(%input0, %input1) -> (%[[PRODUCT:.*]])
// CHECK-NEXT: program.launch @pointwise_6(%[[PRODUCT]], %input2) -> (%output0)
// CHECK-NEXT: }
// CHECK-NOT: program.model

func.func @forward(%x: tensor<1024x256xbf16>) -> tensor<1024x256xbf16> {
  %gate = fact.get_weight @gate : tensor<512x256xbf16>
  %up = fact.get_weight @up : tensor<512x256xbf16>
  %down = fact.get_weight @down : tensor<256x512xbf16>
  %0 = fact.matmul %x, %gate transpose_b : (tensor<1024x256xbf16>, tensor<512x256xbf16>) -> tensor<1024x512xbf16>
  %1 = fact.silu %0 : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  %2 = fact.matmul %x, %up transpose_b : (tensor<1024x256xbf16>, tensor<512x256xbf16>) -> tensor<1024x512xbf16>
  %3 = fact.mul %1, %2 : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  %4 = fact.matmul %3, %down transpose_b : (tensor<1024x512xbf16>, tensor<256x512xbf16>) -> tensor<1024x256xbf16>
  %5 = fact.add %4, %x : (tensor<1024x256xbf16>, tensor<1024x256xbf16>) -> tensor<1024x256xbf16>
  return %5 : tensor<1024x256xbf16>
}
