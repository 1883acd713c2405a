// RUN: fact-opt --fact-raise-attention --canonicalize %s | FileCheck %s --implicit-check-not=fact.attention

// Near misses of attention, which must stay as they are.

// A sigmoid in place of the softmax.
// CHECK-LABEL: func @sigmoid
func.func @sigmoid(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.sigmoid %0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2 : tensor<1x3x2x8xf32>
}

// A softmax of something that is no product.
// CHECK-LABEL: func @no_product
func.func @no_product(%s: tensor<1x3x2x2xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.softmax %s dim 3 : tensor<1x3x2x2xf32>
  %1 = fact.matmul %0, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %1 : tensor<1x3x2x8xf32>
}

// The probabilities are transposed.
// CHECK-LABEL: func @transposed_probabilities
func.func @transposed_probabilities(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v transpose_a : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2 : tensor<1x3x2x8xf32>
}

// The probabilities are the right operand.
// CHECK-LABEL: func @right_operand
func.func @right_operand(%q: tensor<1x3x8x2xf32>, %k: tensor<1x3x8x2xf32>, %v: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x8x2xf32>, tensor<1x3x8x2xf32>) -> tensor<1x3x8x8xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x8x8xf32>
  %2 = fact.matmul %v, %1 : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %2 : tensor<1x3x8x8xf32>
}

// The scores have another user, so they would be computed twice.
// CHECK-LABEL: func @scores_needed
func.func @scores_needed(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> (tensor<1x3x2x8xf32>, tensor<1x3x2x2xf32>) {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2, %0 : tensor<1x3x2x8xf32>, tensor<1x3x2x2xf32>
}

// A function of the scores that is neither a factor nor a mask.
// CHECK-LABEL: func @capped
func.func @capped(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.tanh %0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// The probabilities are scaled after the softmax.
// CHECK-LABEL: func @scaled_late
func.func @scaled_late(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %half = fact.constant dense<0.5> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.mul %1, %half : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// A number divided by the scores.
// CHECK-LABEL: func @divided_by_scores
func.func @divided_by_scores(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %two = fact.constant dense<2.0> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.div %two, %0 : (tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// A fill value that differs between elements.
// CHECK-LABEL: func @filled_by_tensor
func.func @filled_by_tensor(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %c: tensor<2x2xi1>, %f: tensor<2x2xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.select %c, %f, %0 : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// A fill value of +inf shows a key instead of hiding it.
// CHECK-LABEL: func @filled_with_infinity
func.func @filled_with_infinity(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %c: tensor<2x2xi1>) -> tensor<1x3x2x8xf32> {
  %infinity = fact.constant dense<0x7F800000> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.select %c, %infinity, %0 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// A negative factor after the choice turns -inf into +inf.
// CHECK-LABEL: func @negated_fill
func.func @negated_fill(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %c: tensor<2x2xi1>) -> tensor<1x3x2x8xf32> {
  %infinity = fact.constant dense<0xFF800000> : tensor<f32>
  %minus = fact.constant dense<-1.0> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.select %c, %infinity, %0 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.mul %1, %minus : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %3 = fact.softmax %2 dim 3 : tensor<1x3x2x2xf32>
  %4 = fact.matmul %3, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %4 : tensor<1x3x2x8xf32>
}

// Probabilities that are rounded to another type than that of the values.
// CHECK-LABEL: func @rounded_elsewhere
func.func @rounded_elsewhere(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.cast %1 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xbf16>
  %3 = fact.cast %2 : (tensor<1x3x2x2xbf16>) -> tensor<1x3x2x2xf32>
  %4 = fact.matmul %3, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %4 : tensor<1x3x2x8xf32>
}
