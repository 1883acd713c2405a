// RUN: fact-opt %s --convert-fact-to-linalg=wide | FileCheck %s

// CHECK-LABEL: func @silu
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: arith.extf %{{.+}} : f32 to f64
  // CHECK: math.exp %{{.+}} : f64
  // CHECK: arith.truncf %{{.+}} : f64 to f32
  %0 = fact.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An operand of a contraction that was computed is rounded to its type.

// CHECK-LABEL: func @rounded_operand
func.func @rounded_operand(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>) -> tensor<4x2xbf16> {
  // CHECK: math.tanh %{{.+}} : f64
  // CHECK: arith.truncf %{{.+}} : f32 to bf16
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
  // CHECK: arith.mulf %{{.+}}, %{{.+}} : f64
  %0 = fact.tanh %x : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.matmul %0, %w : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
  return %1 : tensor<4x2xbf16>
}
