// RUN: fact-opt --fact-raise-norms -split-input-file %s | FileCheck %s

// Near misses of norms, which must stay as they are.

// The scale of row i multiplies column i: broadcast along the wrong dimension.
// CHECK-LABEL: func @columns_scaled
// CHECK-NOT: fact.norm
func.func @columns_scaled(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = fact.reduce mean %0 dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %2 = fact.add %1, %eps : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = fact.rsqrt %2 : (tensor<8xf32>) -> tensor<8xf32>
  %4 = fact.mul %x, %3 : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// The mean of row i is subtracted from column i.
// CHECK-LABEL: func @columns_centered
// CHECK-NOT: fact.norm layer
func.func @columns_centered(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %m = fact.reduce mean %x dims [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %c = fact.sub %x, %m : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %0 = fact.mul %c, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %2 = fact.add %1, %eps : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %3 = fact.rsqrt %2 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %4 = fact.mul %c, %3 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// The mean of x * z, a maximum, and a sum over another count.
// CHECK-LABEL: func @not_a_square
// CHECK-NOT: fact.norm
func.func @not_a_square(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.mul %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.rsqrt %1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = fact.mul %x, %2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func @maximum
// CHECK-NOT: fact.norm
func.func @maximum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce max %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.rsqrt %1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = fact.mul %x, %2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func @other_count
// CHECK-NOT: fact.norm
func.func @other_count(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %n = fact.constant dense<7.0> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce sum %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.div %1, %n : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// `eps` is a tensor, and `eps` is subtracted.
// CHECK-LABEL: func @eps_not_constant
// CHECK-NOT: fact.norm
func.func @eps_not_constant(%x: tensor<4x8xf32>, %eps: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.add %1, %eps : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// CHECK-LABEL: func @eps_subtracted
// CHECK-NOT: fact.norm
func.func @eps_subtracted(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.sub %1, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// x * sqrt(mean): the inverse scale.
// CHECK-LABEL: func @multiplied_root
// CHECK-NOT: fact.norm
func.func @multiplied_root(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = fact.sqrt %1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = fact.mul %x, %2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// mean(x * x) - mean(z)^2: not a variance.
// CHECK-LABEL: func @other_mean
// CHECK-NOT: fact.norm
func.func @other_mean(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = fact.reduce mean %x dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %o = fact.reduce mean %z dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %c = fact.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %oo = fact.mul %o, %o : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = fact.sub %1, %oo : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = fact.mul %c, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// A factor after the bias scales the bias too, so it is not the norm's weight.
// CHECK-LABEL: func @weight_after_bias
// CHECK: %[[NORM:.*]] = fact.norm layer %arg0 bias %arg2
// CHECK: fact.mul %[[NORM]], %arg1
func.func @weight_after_bias(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = fact.norm layer %x bias %b eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.mul %0, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A second weight and a second bias.
// CHECK-LABEL: func @second_parameters
// CHECK: %[[NORM:.*]] = fact.norm layer %arg0 weight %arg1 bias %arg2
// CHECK: fact.add %[[NORM]], %arg2
func.func @second_parameters(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = fact.norm layer %x weight %w bias %b eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A weight that varies over rows, and one that widens the result.
// CHECK-LABEL: func @full_weight
// CHECK: %[[NORM:.*]] = fact.norm rms %arg0 eps
// CHECK: fact.mul %[[NORM]], %arg1
func.func @full_weight(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.mul %0, %w : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func @wider_weight
// CHECK: %[[NORM:.*]] = fact.norm rms %arg0 eps
// CHECK: fact.mul %[[NORM]], %arg1
func.func @wider_weight(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.norm rms %x eps 1.0e-5 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = fact.mul %0, %w : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
