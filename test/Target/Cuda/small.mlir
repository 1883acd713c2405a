// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// Steps on few elements are functions of one kernel of one block, with barriers between them.

// CHECK-LABEL: namespace fact::small_0 {
// CHECK:       __device__ void step0(int block, f32 const *p0, f32 *p1) {
// CHECK:         a0 = combine_lanes<32, 32>(a0, lane, slot, combine0);
// CHECK:       __device__ void step1(int block, f32 const *p0, f32 *p1) {
// CHECK:         const Index point = Index(block) * {{.*}};
// CHECK:       __global__ void __launch_bounds__(1024) steps(Buffers const state) {
// CHECK:         for (int block = 0; block < 3; ++block)
// CHECK-NEXT:      step0(block, m0, {{.*}});
// CHECK-NEXT:    __syncthreads();
// CHECK-NEXT:    for (int block = 0; block < 1; ++block)
// CHECK-NEXT:      step1(block, {{.*}}, m1);
// CHECK-NEXT:    __syncthreads();
// CHECK-NEXT:  }
// CHECK:         return enqueue(steps, 1, 1024, stream, state);
// CHECK:       FACT_KERNEL(small_0, Kernel)
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @rows(%x: tensor<70x300xf32>) -> tensor<f32> {
    %0 = fact.fused "small" ins(%x : tensor<70x300xf32>) {
    ^bb0(%a: tensor<70x300xf32>):
      %1 = fact.reduce sum %a dims [1] : (tensor<70x300xf32>) -> tensor<70xf32>
      %2 = fact.log %1 : (tensor<70xf32>) -> tensor<70xf32>
      %3 = fact.reduce sum %2 dims [0] : (tensor<70xf32>) -> tensor<f32>
      fact.yield %3 : tensor<f32>
    } : tensor<f32>
    return %0 : tensor<f32>
  }
}
