// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" --split-input-file | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" --split-input-file | FileCheck %s

// A residual sum that others read too is stored by the kernel that normalizes it.

// CHECK-LABEL: func.func @residual
// CHECK: %[[R:.*]]:2 = fact.fused "rowwise" ins(%arg0, %arg1
// CHECK: fact.add
// CHECK-NEXT: fact.norm rms
// CHECK-NOT: fact.fused
// CHECK: return %[[R]]#{{[01]}}, %[[R]]#{{[01]}}
func.func @residual(%x: tensor<2048x512xbf16>, %y: tensor<2048x512xbf16>) -> (tensor<2048x512xbf16>, tensor<2048x512xbf16>) {
  %0 = fact.add %x, %y : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %1 = fact.norm rms %0 eps 1.0e-5 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %0, %1 : tensor<2048x512xbf16>, tensor<2048x512xbf16>
}

// -----

// Several functions of one value read it once.

// CHECK-LABEL: func.func @siblings
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.exp
// CHECK-NEXT: fact.tanh
// CHECK-NEXT: fact.sin
// CHECK-NOT: fact.fused
func.func @siblings(%x: tensor<2048x512xbf16>) -> (tensor<2048x512xbf16>, tensor<2048x512xbf16>, tensor<2048x512xbf16>) {
  %0 = fact.exp %x : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %1 = fact.tanh %x : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %2 = fact.sin %x : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %0, %1, %2 : tensor<2048x512xbf16>, tensor<2048x512xbf16>, tensor<2048x512xbf16>
}

// -----

// Two products that one value is made of, by any graph of pointwise ops.

fact.weight @gate : tensor<512x256xbf16>
fact.weight @up : tensor<512x256xbf16>

// CHECK-LABEL: func.func @squared
// CHECK: fact.fused "gated_gemm"
// CHECK-COUNT-2: fact.matmul
// CHECK-NOT: fact.fused
func.func @squared(%x: tensor<2048x256xbf16>) -> tensor<2048x512xbf16> {
  %g = fact.get_weight @gate : tensor<512x256xbf16>
  %u = fact.get_weight @up : tensor<512x256xbf16>
  %0 = fact.matmul %x, %g transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %1 = fact.relu %0 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %2 = fact.mul %1, %1 : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %3 = fact.matmul %x, %u transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %4 = fact.mul %2, %3 : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %4 : tensor<2048x512xbf16>
}

// CHECK-LABEL: func.func @highway
// CHECK: fact.fused "gated_gemm"
// CHECK-COUNT-2: fact.matmul
// CHECK-NOT: fact.fused
func.func @highway(%x: tensor<2048x256xbf16>, %y: tensor<2048x512xbf16>) -> tensor<2048x512xbf16> {
  %g = fact.get_weight @gate : tensor<512x256xbf16>
  %u = fact.get_weight @up : tensor<512x256xbf16>
  %one = fact.constant dense<1.0> : tensor<bf16>
  %0 = fact.matmul %x, %g transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %z = fact.sigmoid %0 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %1 = fact.matmul %x, %u transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %h = fact.tanh %1 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %2 = fact.mul %z, %h : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %3 = fact.sub %one, %z : (tensor<bf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %4 = fact.mul %3, %y : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %5 = fact.add %2, %4 : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %5 : tensor<2048x512xbf16>
}

// What follows both joins them.
// CHECK-LABEL: func.func @bounded
// CHECK: fact.fused "gated_gemm"
// CHECK-COUNT-2: fact.matmul
// CHECK: fact.mul
// CHECK-NEXT: fact.tanh
// CHECK-NOT: fact.fused
func.func @bounded(%x: tensor<2048x256xbf16>) -> tensor<2048x512xbf16> {
  %g = fact.get_weight @gate : tensor<512x256xbf16>
  %u = fact.get_weight @up : tensor<512x256xbf16>
  %0 = fact.matmul %x, %g transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %1 = fact.matmul %x, %u transpose_b : (tensor<2048x256xbf16>, tensor<512x256xbf16>) -> tensor<2048x512xbf16>
  %2 = fact.mul %0, %1 : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  %3 = fact.tanh %2 : (tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
  return %3 : tensor<2048x512xbf16>
}
