// RUN: fact-opt --fact-discover="target=h200" %s | FileCheck %s

fact.weight @gate_up : tensor<64x32xbf16>
fact.weight @gate : tensor<32x32xbf16>
fact.weight @up : tensor<32x32xbf16>

// Slices of one weight are read in place, however few rows there are.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<8x32xbf16>) -> tensor<8x32xbf16> {
  // CHECK: %[[W:.*]] = fact.get_weight @gate_up
  // CHECK-NEXT: fact.fused "gated_gemm" ins(%[[W]], %arg0
  // CHECK-NOT: fact.fused
  // CHECK: return
  %w = fact.get_weight @gate_up : tensor<64x32xbf16>
  %gate = fact.slice %w dim 0 start 0 : (tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %up = fact.slice %w dim 0 start 32 : (tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %0 = fact.matmul %x, %gate transpose_b : (tensor<8x32xbf16>, tensor<32x32xbf16>) -> tensor<8x32xbf16>
  %1 = fact.silu %0 : (tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %2 = fact.matmul %x, %up transpose_b : (tensor<8x32xbf16>, tensor<32x32xbf16>) -> tensor<8x32xbf16>
  %3 = fact.mul %1, %2 : (tensor<8x32xbf16>, tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return %3 : tensor<8x32xbf16>
}

// Factors that are no weights would be packed on each launch.
// CHECK-LABEL: func.func @inputs
func.func @inputs(%x: tensor<16x32xbf16>, %gate: tensor<32x32xbf16>, %up: tensor<32x32xbf16>) -> tensor<16x32xbf16> {
  // CHECK: fact.fused "gemm_epilogue"
  // CHECK: fact.fused "gemm_epilogue"
  %0 = fact.matmul %x, %gate transpose_b : (tensor<16x32xbf16>, tensor<32x32xbf16>) -> tensor<16x32xbf16>
  %1 = fact.silu %0 : (tensor<16x32xbf16>) -> tensor<16x32xbf16>
  %2 = fact.matmul %x, %up transpose_b : (tensor<16x32xbf16>, tensor<32x32xbf16>) -> tensor<16x32xbf16>
  %3 = fact.mul %1, %2 : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
  return %3 : tensor<16x32xbf16>
}
