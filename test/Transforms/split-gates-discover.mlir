// RUN: fact-opt --fact-split-gates --fact-discover=target=h200 %s | FileCheck %s

// One weight of twice the width is one kernel, which reads both parts of it in
// place.
fact.weight @both : tensor<512x128xbf16>
// CHECK-LABEL: func @merged_weight
func.func @merged_weight(%x: tensor<1024x128xbf16>) -> tensor<1024x256xbf16> {
  // CHECK: %[[W:.*]] = fact.get_weight @both
  // CHECK-NEXT: fact.fused "gated_gemm" ins(%{{.*}}, %{{.*}} : {{.*}})
  // CHECK-COUNT-2: fact.slice
  // CHECK-NOT: fact.fused
  %w = fact.get_weight @both : tensor<512x128xbf16>
  %0 = fact.matmul %x, %w transpose_b : (tensor<1024x128xbf16>, tensor<512x128xbf16>) -> tensor<1024x512xbf16>
  %1 = fact.slice %0 dim 1 start 0 : (tensor<1024x512xbf16>) -> tensor<1024x256xbf16>
  %2 = fact.slice %0 dim 1 start 256 : (tensor<1024x512xbf16>) -> tensor<1024x256xbf16>
  %3 = fact.silu %1 : (tensor<1024x256xbf16>) -> tensor<1024x256xbf16>
  %4 = fact.mul %3, %2 : (tensor<1024x256xbf16>, tensor<1024x256xbf16>) -> tensor<1024x256xbf16>
  return %4 : tensor<1024x256xbf16>
}
