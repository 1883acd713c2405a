// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// Any region is a sequence of plain kernels: here one for each reduction, which takes the
// elementwise ops before it along.

// CHECK-LABEL: namespace fact::generic_0 {
// CHECK:       __global__ void __launch_bounds__(256) step0(bf16 const *p0, f32 *p1) {
// CHECK:         const int lane = threadIdx.x % 32, slot = threadIdx.x / 32;
// CHECK:         float a0 = 0.0f;
// CHECK:         for (Index r = lane; r < 300; r += 32) {
// CHECK:           const bf16 x0 = p0[d0 * 300 + d1];
// CHECK:         const auto combine0 = [](float x, float y) -> float { return x + y; };
// CHECK:         a0 = combine_lanes<32, 8>(a0, lane, slot, combine0);
// CHECK:         p1[d0] = combine0(0.0f, a0);
// CHECK:       struct Kernel {
// CHECK:         static constexpr int buffer_count = 2;
// CHECK:         static constexpr uint64_t workspace_bytes = 256;
// CHECK:         enqueue(step0, 1, 256, stream, m0, m2)
// CHECK:       FACT_KERNEL(generic_0, Kernel)
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @rows(%x: tensor<8x300xbf16>) -> tensor<8xbf16> {
    %0 = fact.fused "generic" ins(%x : tensor<8x300xbf16>) {
    ^bb0(%a0: tensor<8x300xbf16>):
      %1 = fact.mul %a0, %a0 : (tensor<8x300xbf16>, tensor<8x300xbf16>) -> tensor<8x300xbf16>
      %2 = fact.reduce sum %1 dims [1] : (tensor<8x300xbf16>) -> tensor<8xbf16>
      fact.yield %2 : tensor<8xbf16>
    } : tensor<8xbf16>
    return %0 : tensor<8xbf16>
  }
}

// -----

// Few points and long sums: several blocks share a point, and a second kernel combines
// what they found.

// CHECK-LABEL: namespace fact::generic_0 {
// CHECK:       step0(f32 const *p0, f32 *partial0) {
// CHECK:         const Index split = blockIdx.x % 61;
// CHECK:         partial0[split * 1 + point] = a0;
// CHECK:       step0_combine(f32 *p0, f32 *partial0) {
// CHECK:         for (Index split = 0; split < 61; ++split)
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @all(%x: tensor<1000000xf32>) -> tensor<f32> {
    %0 = fact.fused "generic" ins(%x : tensor<1000000xf32>) {
    ^bb0(%a0: tensor<1000000xf32>):
      %1 = fact.reduce max %a0 dims [0] : (tensor<1000000xf32>) -> tensor<f32>
      fact.yield %1 : tensor<f32>
    } : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// An index that is negative fails the bound check, as an unsigned number.

// CHECK-LABEL: namespace fact::generic_0 {
// CHECK:       uint64_t({{.*}}) < uint64_t(int64_t(100));
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @gather(%table: tensor<100x16xf32>, %index: tensor<7xi64>) -> tensor<7x16xf32> {
    %0 = fact.fused "generic" ins(%table, %index : tensor<100x16xf32>, tensor<7xi64>) {
    ^bb0(%a0: tensor<100x16xf32>, %a1: tensor<7xi64>):
      %1 = fact.gather %a0, %a1 dim 0 : (tensor<100x16xf32>, tensor<7xi64>) -> tensor<7x16xf32>
      fact.yield %1 : tensor<7x16xf32>
    } : tensor<7x16xf32>
    return %0 : tensor<7x16xf32>
  }
}

// -----

// Constants are arrays of bits.

// CHECK-LABEL: namespace fact::generic_0 {
// CHECK:       __device__ const uint32_t [[NAME:.*]][] = {1056964608u, 1065353216u, };
// CHECK:       reinterpret_cast<f32 const *>([[NAME]])[d1]
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @constant(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
    %0 = fact.fused "generic" ins(%x : tensor<3x2xf32>) {
    ^bb0(%a0: tensor<3x2xf32>):
      %1 = fact.constant dense<[0.5, 1.0]> : tensor<2xf32>
      %2 = fact.mul %a0, %1 : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
      fact.yield %2 : tensor<3x2xf32>
    } : tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}

// -----

// A loop that begins with a slice of what was widened begins with a copy of it.

// CHECK-LABEL: namespace fact::generic_0 {
// CHECK:       void __launch_bounds__(256) step1(f32 const *p0, f32 *p1) {
// CHECK:         x0 = p0[d0 * 31 + d1 + d2 + 1];
// CHECK:         p1[d0 * 30 + d1 + d2] = x0;
// CHECK:       for (int64_t [[I:.*]] = int64_t(0); [[I]] < int64_t(5);
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @slice(%x: tensor<4x31xbf16>) -> tensor<4x30xbf16> {
    %0 = fact.fused "generic" ins(%x : tensor<4x31xbf16>) {
    ^bb0(%a0: tensor<4x31xbf16>):
      %1 = fact.slice %a0 dim 1 start 1 : (tensor<4x31xbf16>) -> tensor<4x30xbf16>
      %2 = fact.scan sum %1 dim 1 : tensor<4x30xbf16>
      fact.yield %2 : tensor<4x30xbf16>
    } : tensor<4x30xbf16>
    return %0 : tensor<4x30xbf16>
  }
}
