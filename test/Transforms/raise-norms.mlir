// RUN: fact-opt --fact-raise-norms %s | FileCheck %s
// RUN: fact-opt --fact-raise-norms --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: func @rms(
func.func @rms(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm rms %arg0 weight %arg1 eps 9.9999999747524271E-7 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  // CHECK-NEXT: return
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %y = fact.mul %w, %4 : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A quotient by a root, the mean as a sum over the count, `1 + weight`.
// CHECK-LABEL: func @rms_root(
func.func @rms_root(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: %[[W:.*]] = fact.add %arg1
  // CHECK: fact.norm rms %arg0 weight %[[W]] eps
  // CHECK-NEXT: return
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %n = fact.constant dense<8.0> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce sum %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.div %1, %n : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.add %2, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %4 = fact.sqrt %3 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %5 = fact.div %x, %4 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %6 = fact.add %w, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = fact.mul %5, %6 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// The weight among the factors, and a mean whose dimension comes back by a reshape.
// CHECK-LABEL: func @rms_reassociated(
func.func @rms_reassociated(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm rms %arg0 weight %arg1 eps
  // CHECK-NEXT: return
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %2 = fact.reshape %1 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %3 = fact.add %2, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %4 = fact.rsqrt %3 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %5 = fact.mul %4, %w : (tensor<2x4x1xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %y = fact.mul %x, %5 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Computed in f32 between casts, as Llama does it. The weight is multiplied with
// what was rounded to bf16, and stays outside.
// CHECK-LABEL: func @rms_casts(
func.func @rms_casts(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) -> tensor<4x8xbf16> {
  // CHECK: %[[WIDE:.*]] = fact.cast %arg0
  // CHECK: %[[NORM:.*]] = fact.norm rms %[[WIDE]] eps 9.9999999747524271E-7 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[ROUND:.*]] = fact.cast %[[NORM]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // CHECK: fact.mul %arg1, %[[ROUND]]
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.cast %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = fact.mul %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = fact.reduce mean %1 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %3 = fact.add %2, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = fact.rsqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = fact.mul %0, %4 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %6 = fact.cast %5 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %7 = fact.mul %w, %6 : (tensor<8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %7 : tensor<4x8xbf16>
}

// The root is rounded to bf16 before it scales: not the same.
// CHECK-LABEL: func @rms_rounded_root(
func.func @rms_rounded_root(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.cast %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = fact.mul %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = fact.reduce mean %1 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %3 = fact.add %2, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = fact.rsqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = fact.cast %4 : (tensor<4x1xf32>) -> tensor<4x1xbf16>
  %6 = fact.mul %x, %5 : (tensor<4x8xbf16>, tensor<4x1xbf16>) -> tensor<4x8xbf16>
  return %6 : tensor<4x8xbf16>
}

// CHECK-LABEL: func @layer(
func.func @layer(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm layer %arg0 weight %arg1 bias %arg2 eps 9.9999999747524271E-7
  // CHECK-NEXT: return
  %m = fact.reduce mean %x dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %c = fact.sub %x, %m : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %c, %c : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %4 = fact.mul %c, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %5 = fact.mul %4, %w : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %y = fact.add %b, %5 : (tensor<8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// The variance as the mean of squares less the square of the mean, the weight before the quotient, all trailing dimensions.
// CHECK-LABEL: func @layer_moments(
func.func @layer_moments(%x: tensor<2x4x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm layer %arg0 weight %arg1 eps 9.9999999747524271E-7 dims 2
  // CHECK-NEXT: return
  %m = fact.reduce mean %x dims [1, 2] keep : (tensor<2x4x8xf32>) -> tensor<2x1x1xf32>
  %c = fact.sub %x, %m : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [1, 2] keep : (tensor<2x4x8xf32>) -> tensor<2x1x1xf32>
  %mm = fact.mul %m, %m : (tensor<2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %2 = fact.sub %1, %mm : (tensor<2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %3 = fact.add %2, %eps : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %4 = fact.sqrt %3 : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %5 = fact.mul %w, %c : (tensor<4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %y = fact.div %5, %4 : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Another tensor is scaled.
// CHECK-LABEL: func @other_operand(
func.func @other_operand(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = fact.mul %z, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// `eps` beside the root, and beside the mean of squares times the count.
// CHECK-LABEL: func @eps_outside(
func.func @eps_outside(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.sqrt %1 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %3 = fact.add %2, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %y = fact.div %x, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A sum is not a mean.
// CHECK-LABEL: func @sum_of_squares(
func.func @sum_of_squares(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce sum %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = fact.mul %x, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Over a dimension that is not the last.
// CHECK-LABEL: func @other_dimension(
func.func @other_dimension(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<2x4x8xf32>) -> tensor<2x1x8xf32>
  %2 = fact.add %1, %eps : (tensor<2x1x8xf32>, tensor<f32>) -> tensor<2x1x8xf32>
  %3 = fact.rsqrt %2 : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %y = fact.mul %x, %3 : (tensor<2x4x8xf32>, tensor<2x1x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// The variance over n - 1.
// CHECK-LABEL: func @unbiased(
func.func @unbiased(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %m = fact.reduce mean %x dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %c = fact.sub %x, %m : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %n = fact.constant dense<1.14285719> : tensor<f32>
  %0 = fact.mul %c, %c : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %v = fact.mul %1, %n : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %2 = fact.add %v, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = fact.mul %c, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Centered over other dimensions than the variance is taken over: the rms of it, not a layer norm.
// CHECK-LABEL: func @centered_differently(
func.func @centered_differently(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: %[[C:.*]] = fact.sub
  // CHECK: fact.norm rms %[[C]]
  %m = fact.reduce mean %x dims [1] keep : (tensor<2x4x8xf32>) -> tensor<2x1x8xf32>
  %c = fact.sub %x, %m : (tensor<2x4x8xf32>, tensor<2x1x8xf32>) -> tensor<2x4x8xf32>
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %c, %c : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = fact.mul %c, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A quotient by the mean of squares itself.
// CHECK-LABEL: func @no_root(
func.func @no_root(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NOT: fact.norm
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %y = fact.div %x, %2 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A weight that varies over rows stays outside.
// CHECK-LABEL: func @row_weight(
func.func @row_weight(%x: tensor<2x4x8xf32>, %w: tensor<2x4x1xf32>) -> tensor<2x4x8xf32> {
  // CHECK: fact.norm rms %arg0 eps
  // CHECK: fact.mul
  %eps = fact.constant dense<1.0e-6> : tensor<f32>
  %0 = fact.mul %x, %x : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = fact.reduce mean %0 dims [2] keep : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %2 = fact.add %1, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %3 = fact.rsqrt %2 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %4 = fact.mul %x, %3 : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %y = fact.mul %4, %w : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A norm that is used beside its product with a weight is not computed twice.
// CHECK-LABEL: func @used_elsewhere(
func.func @used_elsewhere(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[NORM:.*]] = fact.norm layer %arg0 eps
  // CHECK-NEXT: %[[Y:.*]] = fact.mul %[[NORM]], %arg1
  // CHECK-NEXT: return %[[NORM]], %[[Y]]
  %0 = fact.norm layer %x eps 1.0e-5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fact.mul %0, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Every line that made a norm is its location.
// LOC-LABEL: func @locations
func.func @locations(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // LOC: fact.norm rms {{.*}} loc(#[[NORM:.*]])
  // LOC-DAG: #[[SQUARE:.*]] = loc("norm.py":1:1)
  // LOC-DAG: #[[MEAN:.*]] = loc("norm.py":2:1)
  // LOC-DAG: #[[ROOT:.*]] = loc("norm.py":3:1)
  // LOC-DAG: #[[SCALE:.*]] = loc("norm.py":4:1)
  // LOC-DAG: #[[NORM]] = loc(fused[#[[SQUARE]], #[[MEAN]], #[[ROOT]], #[[SCALE]]])
  %0 = fact.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("norm.py":1:1)
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32> loc("norm.py":2:1)
  %2 = fact.rsqrt %1 : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("norm.py":3:1)
  %3 = fact.mul %x, %2 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> loc("norm.py":4:1)
  return %3 : tensor<4x8xf32>
}
