// RUN: fact-opt --fact-raise-activations %s | FileCheck %s --implicit-check-not=fact.silu --implicit-check-not=fact.gelu

// Near misses of activations, which must stay as they are.

// x / (1 + exp(x)): the exponent has the wrong sign.
// CHECK-LABEL: func @exponent_sign
func.func @exponent_sign(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.add %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = fact.div %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// x / (2 + exp(-x)): another constant.
// CHECK-LABEL: func @two_plus
func.func @two_plus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = fact.constant dense<2.0> : tensor<f32>
  %0 = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.div %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// (1 + exp(-x)) / x: the reciprocal.
// CHECK-LABEL: func @reciprocal
func.func @reciprocal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.div %2, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// y / (1 + exp(-x)): another dividend.
// CHECK-LABEL: func @other_dividend
func.func @other_dividend(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.div %y, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// x_j * sigmoid(x_i): an outer product of equal values.
// CHECK-LABEL: func @outer_product
func.func @outer_product(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = fact.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
  %2 = fact.mul %x, %1 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// The sigmoid of a rounded value.
// CHECK-LABEL: func @rounded
func.func @rounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fact.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = fact.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = fact.sigmoid %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = fact.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// x * (1 + sigmoid(x)).
// CHECK-LABEL: func @one_plus_sigmoid
func.func @one_plus_sigmoid(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.add %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = fact.mul %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// x (1 + erf(x / sqrt(2))), without the factor 0.5.
// CHECK-LABEL: func @no_half
func.func @no_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<f32>
  %root = fact.constant dense<1.41421354> : tensor<f32>
  %0 = fact.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// 0.5 x (1 - erf(x / sqrt(2))).
// CHECK-LABEL: func @complement
func.func @complement(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %root = fact.constant dense<1.41421354> : tensor<f32>
  %0 = fact.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.sub %one, %1 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = fact.mul %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// 0.5 x (1 + erf(x / 1.4)): a divisor that is only near sqrt(2).
// CHECK-LABEL: func @other_divisor
func.func @other_divisor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %root = fact.constant dense<1.4> : tensor<f32>
  %0 = fact.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = fact.mul %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// The form with tanh: another cubic coefficient, x^2 in place of x^3, another
// scale.
// CHECK-LABEL: func @tanh_coefficient
func.func @tanh_coefficient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %cubic = fact.constant dense<4.4e-02> : tensor<f32>
  %scale = fact.constant dense<0.797884583> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.mul %1, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.add %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = fact.mul %3, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = fact.tanh %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = fact.add %5, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %8 = fact.mul %7, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %8 : tensor<4xf32>
}

// CHECK-LABEL: func @tanh_square
func.func @tanh_square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %cubic = fact.constant dense<4.471500e-02> : tensor<f32>
  %scale = fact.constant dense<0.797884583> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.mul %0, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = fact.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = fact.mul %2, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = fact.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = fact.add %4, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = fact.mul %6, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}

// CHECK-LABEL: func @tanh_scale
func.func @tanh_scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %cubic = fact.constant dense<4.471500e-02> : tensor<f32>
  %scale = fact.constant dense<0.8> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.mul %1, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = fact.add %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = fact.mul %3, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = fact.tanh %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = fact.add %5, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = fact.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %8 = fact.mul %7, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %8 : tensor<4xf32>
}
