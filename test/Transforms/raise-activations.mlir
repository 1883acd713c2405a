// RUN: fact-opt --fact-raise-activations %s | FileCheck %s

// CHECK-LABEL: func @silu
func.func @silu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: fact.silu %arg0
  // CHECK-NEXT: fact.silu %arg0
  // CHECK-NEXT: return
  %0 = fact.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %2 = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = fact.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = fact.add %3, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = fact.div %x, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %5 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @gelu
func.func @gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %root = fact.constant dense<1.41421354> : tensor<f32>
  %cubic = fact.constant dense<4.471500e-02> : tensor<f32>
  %scale = fact.constant dense<0.797884583> : tensor<f32>
  // CHECK: %[[EXACT:.*]] = fact.gelu %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  %0 = fact.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = fact.mul %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[TANH:.*]] = fact.gelu %arg0 approximate tanh
  %5 = fact.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = fact.mul %5, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = fact.mul %6, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %8 = fact.add %x, %7 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = fact.mul %8, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %10 = fact.tanh %9 : (tensor<4xf32>) -> tensor<4xf32>
  %11 = fact.add %10, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %12 = fact.mul %3, %11 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[EXACT]], %[[TANH]]
  return %4, %12 : tensor<4xf32>, tensor<4xf32>
}

// Another factor, another argument, another constant.
// CHECK-LABEL: func @others
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: fact.silu
  // CHECK-NOT: fact.gelu
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %quick = fact.constant dense<1.702> : tensor<f32>
  %0 = fact.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.mul %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.mul %x, %quick : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.sigmoid %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = fact.mul %x, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = fact.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  %6 = fact.add %5, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %8 = fact.mul %7, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %4, %8 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
