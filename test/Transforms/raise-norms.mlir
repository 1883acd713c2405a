// RUN: fact-opt --fact-raise-norms %s | FileCheck %s

// CHECK-LABEL: func @rms
func.func @rms(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm rms %arg0 weight %arg1 eps 9.9999999999999995E-7 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: return
  %eps = fact.constant dense<1.0e-6> : tensor<f64>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f64>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %5 = fact.mul %w, %4 : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %5 : tensor<2x4x8xf32>
}

// Another tensor is scaled: not a norm.
// CHECK-LABEL: func @not_rms
func.func @not_rms(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: fact.norm
  %c = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.add %1, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %y, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
