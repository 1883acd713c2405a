// RUN: fact-opt --fact-raise-attention --canonicalize %s | FileCheck %s
// RUN: fact-opt --fact-raise-attention --canonicalize --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: func @scaled
// LOC-LABEL: func @scaled
func.func @scaled(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale 5.000000e-01
  // Every line that made it is its location.
  // LOC-DAG: #[[SCORES:.*]] = loc("model.py":1:1)
  // LOC-DAG: #[[SCALE:.*]] = loc("model.py":2:1)
  // LOC-DAG: #[[SOFTMAX:.*]] = loc("model.py":3:1)
  // LOC-DAG: #[[MIX:.*]] = loc("model.py":4:1)
  // LOC-DAG: loc(fused[#[[SCORES]], #[[SCALE]], #[[SOFTMAX]], #[[MIX]]])
  %half = fact.constant dense<0.5> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32> loc("model.py":1:1)
  %1 = fact.mul %0, %half : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32> loc("model.py":2:1)
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32> loc("model.py":3:1)
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> loc("model.py":4:1)
  return %3 : tensor<1x3x2x8xf32>
}

// Factors on q, on k, and a divisor after the product; one of them outside of
// the mask, which it scales too.
// CHECK-LABEL: func @factors
func.func @factors(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %m: tensor<2x2xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-DAG: %[[TWO:.*]] = fact.constant dense<2.000000e+00>
  // CHECK-DAG: %[[MASK:.*]] = fact.mul %arg3, %[[TWO]]
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[MASK]] scale 2.500000e-01
  %half = fact.constant dense<0.5> : tensor<f32>
  %two = fact.constant dense<2.0> : tensor<f32>
  %q2 = fact.mul %q, %half : (tensor<1x3x2x8xf32>, tensor<f32>) -> tensor<1x3x2x8xf32>
  %k2 = fact.mul %k, %half : (tensor<1x3x2x8xf32>, tensor<f32>) -> tensor<1x3x2x8xf32>
  %0 = fact.matmul %q2, %k2 transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.div %0, %two : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %2 = fact.add %m, %1 : (tensor<2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %3 = fact.mul %2, %two : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %4 = fact.softmax %3 dim 3 : tensor<1x3x2x2xf32>
  %5 = fact.matmul %4, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %5 : tensor<1x3x2x8xf32>
}

// A softmax in f32 between 16-bit products: nothing rounds that did not.
// CHECK-LABEL: func @float_softmax
func.func @float_softmax(%q: tensor<1x3x2x8xbf16>, %k: tensor<1x3x2x8xbf16>, %v: tensor<1x3x2x8xbf16>, %m: tensor<2x2xf32>) -> tensor<1x3x2x8xbf16> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 mask %arg3 scale 1.000000e+00 : (tensor<1x3x2x8xbf16>, tensor<1x3x2x8xbf16>, tensor<1x3x2x8xbf16>, tensor<2x2xf32>) -> tensor<1x3x2x8xbf16>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xbf16>, tensor<1x3x2x8xbf16>) -> tensor<1x3x2x2xbf16>
  %1 = fact.cast %0 : (tensor<1x3x2x2xbf16>) -> tensor<1x3x2x2xf32>
  %2 = fact.add %1, %m : (tensor<1x3x2x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2x2xf32>
  %3 = fact.softmax %2 dim 3 : tensor<1x3x2x2xf32>
  %4 = fact.cast %3 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xbf16>
  %5 = fact.matmul %4, %v : (tensor<1x3x2x2xbf16>, tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16>
  return %5 : tensor<1x3x2x8xbf16>
}

// The product in f32 too.
// CHECK-LABEL: func @float_scores
func.func @float_scores(%q: tensor<1x3x2x8xbf16>, %k: tensor<1x3x2x8xbf16>, %v: tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale 1.000000e+00
  %q32 = fact.cast %q : (tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xf32>
  %k32 = fact.cast %k : (tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xf32>
  %0 = fact.matmul %q32, %k32 transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %3 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %4 = fact.cast %3 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xbf16>
  %5 = fact.matmul %4, %v : (tensor<1x3x2x2xbf16>, tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16>
  return %5 : tensor<1x3x2x8xbf16>
}

// Scores that a cast rounds are others: it stays.
// CHECK-LABEL: func @rounded_scores
func.func @rounded_scores(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16> {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.cast %0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xbf16>
  %3 = fact.softmax %1 dim 3 : tensor<1x3x2x2xbf16>
  %5 = fact.matmul %3, %v : (tensor<1x3x2x2xbf16>, tensor<1x3x2x8xbf16>) -> tensor<1x3x2x8xbf16>
  return %5 : tensor<1x3x2x8xbf16>
}

// Batch and heads merged, and keys that lie transposed.
// CHECK-LABEL: func @three_dimensions
func.func @three_dimensions(%q: tensor<6x2x8xf32>, %k: tensor<6x8x2xf32>, %v: tensor<6x2x8xf32>, %m: tensor<6x2x2xf32>) -> tensor<6x2x8xf32> {
  // CHECK-DAG: %[[T:.*]] = fact.permute %arg1 [0, 2, 1]
  // CHECK-DAG: %[[Q:.*]] = fact.reshape %arg0 : (tensor<6x2x8xf32>) -> tensor<1x6x2x8xf32>
  // CHECK-DAG: %[[K:.*]] = fact.reshape %[[T]] : (tensor<6x2x8xf32>) -> tensor<1x6x2x8xf32>
  // CHECK-DAG: %[[V:.*]] = fact.reshape %arg2
  // CHECK: %[[O:.*]] = fact.attention %[[Q]], %[[K]], %[[V]] mask %arg3 scale
  // CHECK: fact.reshape %[[O]] : (tensor<1x6x2x8xf32>) -> tensor<6x2x8xf32>
  %0 = fact.matmul %q, %k : (tensor<6x2x8xf32>, tensor<6x8x2xf32>) -> tensor<6x2x2xf32>
  %1 = fact.add %0, %m : (tensor<6x2x2xf32>, tensor<6x2x2xf32>) -> tensor<6x2x2xf32>
  %2 = fact.softmax %1 dim 2 : tensor<6x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<6x2x2xf32>, tensor<6x2x8xf32>) -> tensor<6x2x8xf32>
  return %3 : tensor<6x2x8xf32>
}

// Groups of query heads in a dimension of their own, with a mask for each.
// CHECK-LABEL: func @five_dimensions
func.func @five_dimensions(%q: tensor<2x3x4x5x8xf32>, %k: tensor<2x3x1x5x8xf32>, %v: tensor<2x3x1x5x8xf32>, %m: tensor<3x1x5x5xf32>) -> tensor<2x3x4x5x8xf32> {
  // CHECK-DAG: %[[Q:.*]] = fact.reshape %arg0 : (tensor<2x3x4x5x8xf32>) -> tensor<2x12x5x8xf32>
  // CHECK-DAG: %[[K:.*]] = fact.reshape %arg1 : (tensor<2x3x1x5x8xf32>) -> tensor<2x3x5x8xf32>
  // CHECK-DAG: %[[V:.*]] = fact.reshape %arg2 : (tensor<2x3x1x5x8xf32>) -> tensor<2x3x5x8xf32>
  // CHECK-DAG: %[[WIDE:.*]] = fact.expand %{{.*}} -> tensor<1x3x4x5x5xf32>
  // CHECK-DAG: %[[M:.*]] = fact.reshape %[[WIDE]] : (tensor<1x3x4x5x5xf32>) -> tensor<1x12x5x5xf32>
  // CHECK: fact.attention %[[Q]], %[[K]], %[[V]] mask %[[M]]
  %0 = fact.matmul %q, %k transpose_b : (tensor<2x3x4x5x8xf32>, tensor<2x3x1x5x8xf32>) -> tensor<2x3x4x5x5xf32>
  %1 = fact.add %0, %m : (tensor<2x3x4x5x5xf32>, tensor<3x1x5x5xf32>) -> tensor<2x3x4x5x5xf32>
  %2 = fact.softmax %1 dim 4 : tensor<2x3x4x5x5xf32>
  %3 = fact.matmul %2, %v : (tensor<2x3x4x5x5xf32>, tensor<2x3x1x5x8xf32>) -> tensor<2x3x4x5x8xf32>
  return %3 : tensor<2x3x4x5x8xf32>
}

// Batch and heads are merged for each step, and apart for the mask.
// CHECK-LABEL: func @merged_steps
func.func @merged_steps(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>, %m: tensor<2x1x4x4xf32>) -> tensor<2x3x4x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 mask %arg3
  // CHECK-NEXT: return
  %0 = fact.reshape %q : (tensor<2x3x4x8xf32>) -> tensor<6x4x8xf32>
  %1 = fact.reshape %k : (tensor<2x3x4x8xf32>) -> tensor<6x4x8xf32>
  %2 = fact.reshape %v : (tensor<2x3x4x8xf32>) -> tensor<6x4x8xf32>
  %3 = fact.matmul %0, %1 transpose_b : (tensor<6x4x8xf32>, tensor<6x4x8xf32>) -> tensor<6x4x4xf32>
  %4 = fact.reshape %3 : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %5 = fact.add %4, %m : (tensor<2x3x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x3x4x4xf32>
  %6 = fact.reshape %5 : (tensor<2x3x4x4xf32>) -> tensor<6x4x4xf32>
  %7 = fact.softmax %6 dim 2 : tensor<6x4x4xf32>
  %8 = fact.matmul %7, %2 : (tensor<6x4x4xf32>, tensor<6x4x8xf32>) -> tensor<6x4x8xf32>
  %9 = fact.reshape %8 : (tensor<6x4x8xf32>) -> tensor<2x3x4x8xf32>
  return %9 : tensor<2x3x4x8xf32>
}

// The reshape changes rows: these are other scores.
// CHECK-LABEL: func @other_rows
func.func @other_rows(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>, %v: tensor<4x4x8xf32>) -> tensor<4x2x8xf32> {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x4xf32>
  %1 = fact.reshape %0 : (tensor<2x4x4xf32>) -> tensor<4x2x4xf32>
  %2 = fact.softmax %1 dim 2 : tensor<4x2x4xf32>
  %3 = fact.matmul %2, %v : (tensor<4x2x4xf32>, tensor<4x4x8xf32>) -> tensor<4x2x8xf32>
  return %3 : tensor<4x2x8xf32>
}

// One key head for all, by broadcasting.
// CHECK-LABEL: func @one_head
func.func @one_head(%q: tensor<2x4x5x8xf32>, %k: tensor<2x1x5x8xf32>, %v: tensor<2x1x5x8xf32>) -> tensor<2x4x5x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale
  %0 = fact.matmul %q, %k transpose_b : (tensor<2x4x5x8xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x5x5xf32>
  %1 = fact.softmax %0 dim 3 : tensor<2x4x5x5xf32>
  %2 = fact.matmul %1, %v : (tensor<2x4x5x5xf32>, tensor<2x1x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %2 : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func @chosen
func.func @chosen(%q: tensor<1x3x2x8xf16>, %k: tensor<1x3x2x8xf16>, %v: tensor<1x3x2x8xf16>, %c: tensor<2x2xi1>, %b: tensor<3x2x2xf16>) -> (tensor<1x3x2x8xf16>, tensor<1x3x2x8xf16>) {
  %infinity = fact.constant dense<0xFC00> : tensor<f16>
  %lowest = fact.constant dense<-65504.0> : tensor<f16>
  // CHECK-DAG: %[[INFINITY:.*]] = fact.constant dense<0xFC00> : tensor<f16>
  // CHECK-DAG: %[[ZERO:.*]] = fact.constant dense<0.000000e+00> : tensor<f16>
  // CHECK-DAG: %[[LOWEST:.*]] = fact.constant dense<-3.40282347E+38> : tensor<f32>
  // CHECK: %[[MASK:.*]] = fact.select %arg3, %[[INFINITY]], %[[ZERO]] : (tensor<2x2xi1>, tensor<f16>, tensor<f16>) -> tensor<2x2xf16>
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[MASK]]
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf16>, tensor<1x3x2x8xf16>) -> tensor<1x3x2x2xf16>
  %1 = fact.select %c, %infinity, %0 : (tensor<2x2xi1>, tensor<f16>, tensor<1x3x2x2xf16>) -> tensor<1x3x2x2xf16>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf16>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf16>, tensor<1x3x2x8xf16>) -> tensor<1x3x2x8xf16>
  // A row that sees nothing is uniform with a finite value, and must stay so:
  // added in f32, the lowest number swallows every score. A bias is kept.
  // CHECK: %[[BIAS:.*]] = fact.cast %arg4
  // CHECK: %[[BOTH:.*]] = fact.select %arg3, %[[BIAS]], %[[LOWEST]]
  // CHECK: fact.attention %arg0, %arg1, %arg2 mask %[[BOTH]]
  %4 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf16>, tensor<1x3x2x8xf16>) -> tensor<1x3x2x2xf16>
  %5 = fact.add %4, %b : (tensor<1x3x2x2xf16>, tensor<3x2x2xf16>) -> tensor<1x3x2x2xf16>
  %6 = fact.select %c, %5, %lowest : (tensor<2x2xi1>, tensor<1x3x2x2xf16>, tensor<f16>) -> tensor<1x3x2x2xf16>
  %7 = fact.softmax %6 dim 3 : tensor<1x3x2x2xf16>
  %8 = fact.matmul %7, %v : (tensor<1x3x2x2xf16>, tensor<1x3x2x8xf16>) -> tensor<1x3x2x8xf16>
  return %3, %8 : tensor<1x3x2x8xf16>, tensor<1x3x2x8xf16>
}

// -1e9 in place of a score is not the score minus 1e9.
// CHECK-LABEL: func @chosen_finite
func.func @chosen_finite(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %c: tensor<2x2xi1>) -> tensor<1x3x2x8xf32> {
  // CHECK-NOT: fact.attention
  %low = fact.constant dense<-1.0e9> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.select %c, %low, %0 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// The lowest number hides, and a small part of it does not.
// CHECK-LABEL: func @chosen_then_scaled
func.func @chosen_then_scaled(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %c: tensor<2x2xi1>) -> tensor<1x3x2x8xf32> {
  // CHECK-NOT: fact.attention
  %lowest = fact.constant dense<-3.40282347E+38> : tensor<f32>
  %tiny = fact.constant dense<1.0e-30> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.select %c, %lowest, %0 : (tensor<2x2xi1>, tensor<f32>, tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.mul %1, %tiny : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %3 = fact.softmax %2 dim 3 : tensor<1x3x2x2xf32>
  %4 = fact.matmul %3, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %4 : tensor<1x3x2x8xf32>
}

// A mask after the softmax does not renormalize.
// CHECK-LABEL: func @masked_late
func.func @masked_late(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %m: tensor<2x2xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.mul %1, %m : (tensor<1x3x2x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// Over queries in place of keys.
// CHECK-LABEL: func @other_dimension
func.func @other_dimension(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 2 : tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2 : tensor<1x3x2x8xf32>
}

// Probabilities that are a result too would be computed twice.
// CHECK-LABEL: func @needed_elsewhere
func.func @needed_elsewhere(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> (tensor<1x3x2x8xf32>, tensor<1x3x2x2xf32>) {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2, %1 : tensor<1x3x2x8xf32>, tensor<1x3x2x2xf32>
}

// A factor that is no number.
// CHECK-LABEL: func @scaled_by_tensor
func.func @scaled_by_tensor(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>, %s: tensor<2x2xf32>) -> tensor<1x3x2x8xf32> {
  // CHECK-NOT: fact.attention
  %0 = fact.matmul %q, %k transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.mul %0, %s : (tensor<1x3x2x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2x2xf32>
  %2 = fact.softmax %1 dim 3 : tensor<1x3x2x2xf32>
  %3 = fact.matmul %2, %v : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %3 : tensor<1x3x2x8xf32>
}

// CHECK-LABEL: func @grouped
func.func @grouped(%q: tensor<1x4x2x8xf32>, %k: tensor<1x2x2x8xf32>, %v: tensor<1x2x2x8xf32>) -> tensor<1x4x2x8xf32> {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale
  %0 = fact.reshape %k : (tensor<1x2x2x8xf32>) -> tensor<1x2x1x2x8xf32>
  %1 = fact.expand %0 : (tensor<1x2x1x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %2 = fact.reshape %1 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %3 = fact.reshape %v : (tensor<1x2x2x8xf32>) -> tensor<1x2x1x2x8xf32>
  %4 = fact.expand %3 : (tensor<1x2x1x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %5 = fact.reshape %4 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %6 = fact.attention %q, %2, %5 scale 1.0 : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>
  return %6 : tensor<1x4x2x8xf32>
}

// Repeated before heads and positions change places.
// CHECK-LABEL: func @grouped_transposed
func.func @grouped_transposed(%q: tensor<1x4x3x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x4x3x8xf32> {
  // CHECK-DAG: %[[K:.*]] = fact.permute %arg1 [0, 2, 1, 3]
  // CHECK-DAG: %[[V:.*]] = fact.permute %arg2 [0, 2, 1, 3]
  // CHECK: fact.attention %arg0, %[[K]], %[[V]] scale
  %0 = fact.reshape %k : (tensor<1x3x2x8xf32>) -> tensor<1x3x2x1x8xf32>
  %1 = fact.expand %0 : (tensor<1x3x2x1x8xf32>) -> tensor<1x3x2x2x8xf32>
  %2 = fact.reshape %1 : (tensor<1x3x2x2x8xf32>) -> tensor<1x3x4x8xf32>
  %3 = fact.permute %2 [0, 2, 1, 3] : (tensor<1x3x4x8xf32>) -> tensor<1x4x3x8xf32>
  %4 = fact.reshape %v : (tensor<1x3x2x8xf32>) -> tensor<1x3x2x1x8xf32>
  %5 = fact.expand %4 : (tensor<1x3x2x1x8xf32>) -> tensor<1x3x2x2x8xf32>
  %6 = fact.reshape %5 : (tensor<1x3x2x2x8xf32>) -> tensor<1x3x4x8xf32>
  %7 = fact.permute %6 [0, 2, 1, 3] : (tensor<1x3x4x8xf32>) -> tensor<1x4x3x8xf32>
  %8 = fact.attention %q, %3, %7 scale 1.0 : (tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>) -> tensor<1x4x3x8xf32>
  return %8 : tensor<1x4x3x8xf32>
}

// Heads 0, 1, 0, 1 are not 0, 0, 1, 1.
// CHECK-LABEL: func @tiled
func.func @tiled(%q: tensor<1x4x2x8xf32>, %k: tensor<1x2x2x8xf32>, %v: tensor<1x2x2x8xf32>) -> tensor<1x4x2x8xf32> {
  // CHECK-COUNT-2: fact.expand
  %0 = fact.reshape %k : (tensor<1x2x2x8xf32>) -> tensor<1x1x2x2x8xf32>
  %1 = fact.expand %0 : (tensor<1x1x2x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %2 = fact.reshape %1 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %3 = fact.reshape %v : (tensor<1x2x2x8xf32>) -> tensor<1x1x2x2x8xf32>
  %4 = fact.expand %3 : (tensor<1x1x2x2x8xf32>) -> tensor<1x2x2x2x8xf32>
  %5 = fact.reshape %4 : (tensor<1x2x2x2x8xf32>) -> tensor<1x4x2x8xf32>
  %6 = fact.attention %q, %2, %5 scale 1.0 : (tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32>
  return %6 : tensor<1x4x2x8xf32>
}

// TF32 where both products allow it.
// CHECK-LABEL: func @tf32
func.func @tf32(%q: tensor<1x3x2x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) {
  // CHECK-NEXT: fact.attention %arg0, %arg1, %arg2 scale 1.000000e+00 tf32 :
  // CHECK-NEXT: fact.attention %arg1, %arg0, %arg2 scale 1.000000e+00 :
  %0 = fact.matmul %q, %k transpose_b tf32 : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %1 = fact.softmax %0 dim 3 : tensor<1x3x2x2xf32>
  %2 = fact.matmul %1, %v tf32 : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  %3 = fact.matmul %k, %q transpose_b : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x2xf32>
  %4 = fact.softmax %3 dim 3 : tensor<1x3x2x2xf32>
  %5 = fact.matmul %4, %v tf32 : (tensor<1x3x2x2xf32>, tensor<1x3x2x8xf32>) -> tensor<1x3x2x8xf32>
  return %2, %5 : tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>
}
