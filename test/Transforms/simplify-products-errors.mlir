// RUN: fact-opt --fact-simplify-products %s | FileCheck %s

// Near misses: each product stays as it is.

// The diagonal above the main one, and a lower triangle.
// CHECK-LABEL: func @off_diagonal
// CHECK-COUNT-2: fact.matmul
func.func @off_diagonal(%v: tensor<2xf32>, %b: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %above = fact.constant dense<[[false, true], [false, false]]> : tensor<2x2xi1>
  %lower = fact.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %0 = fact.select %above, %v, %zero : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = fact.select %lower, %v, %zero : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = fact.matmul %0, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = fact.matmul %1, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>
}

// Not zero off the diagonal; numbers of rows that repeat; a permutation.
// CHECK-LABEL: func @not_diagonal
// CHECK-COUNT-3: fact.matmul
func.func @not_diagonal(%v: tensor<2xf32>, %b: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %eye = fact.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %one = fact.constant dense<1.0> : tensor<f32>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %rows = fact.constant dense<[[1], [1]]> : tensor<2x1xi64>
  %columns = fact.constant dense<[1, 1]> : tensor<2xi64>
  %swap = fact.constant dense<[[0.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %0 = fact.select %eye, %v, %one : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = fact.matmul %0, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %same = fact.compare eq %columns, %rows : (tensor<2xi64>, tensor<2x1xi64>) -> tensor<2x2xi1>
  %2 = fact.select %same, %v, %zero : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %3 = fact.matmul %2, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %4 = fact.matmul %swap, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1, %3, %4 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// The product, or what is between, has another user.
// CHECK-LABEL: func @shared
// CHECK-COUNT-2: fact.matmul
func.func @shared(%x: tensor<4x16xf32>, %u: tensor<8x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %0 = fact.matmul %x, %u transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.reduce sum %0 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %3 = fact.add %2, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %4 = fact.reduce sum %3 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0, %1, %3, %4 : tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>
}

// Functions that do not distribute, a factor that varies over the columns, a
// cast that rounds, and another kind of reduction.
// CHECK-LABEL: func @nonlinear
// CHECK-COUNT-4: fact.matmul {{.*}} -> tensor<4x8xf32>
func.func @nonlinear(%x: tensor<4x16xf32>, %w: tensor<8x16xf32>, %v: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = fact.reduce sum %1 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %3 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %4 = fact.mul %3, %v : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %5 = fact.reduce sum %4 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %6 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %7 = fact.cast %6 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %8 = fact.reduce sum %7 dims [1] : (tensor<4x8xbf16>) -> tensor<4xbf16>
  %9 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %10 = fact.reduce max %9 dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2, %5, %8, %10 : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>
}

// A sum in f64 of an f32 product.
// CHECK-LABEL: func @wider
// CHECK: fact.matmul {{.*}} -> tensor<4x8xf32>
func.func @wider(%x: tensor<4x16xf32>, %w: tensor<8x16xf32>, %v: tensor<8xf64>) -> tensor<4xf64> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.cast %0 : (tensor<4x8xf32>) -> tensor<4x8xf64>
  %2 = fact.add %1, %v : (tensor<4x8xf64>, tensor<8xf64>) -> tensor<4x8xf64>
  %3 = fact.reduce sum %2 dims [1] : (tensor<4x8xf64>) -> tensor<4xf64>
  return %3 : tensor<4xf64>
}

// Infinities, whose products cancel one by one.
// CHECK-LABEL: func @infinite
// CHECK: fact.matmul
func.func @infinite(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %inf = fact.constant dense<0x7F800000> : tensor<16x8xf32>
  %0 = fact.matmul %x, %inf : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Batches that both factors have.
// CHECK-LABEL: func @batches
// CHECK: fact.matmul {{.*}} -> tensor<3x4x8xf32>
func.func @batches(%a: tensor<3x4x16xf32>, %b: tensor<3x16x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.matmul %a, %b : (tensor<3x4x16xf32>, tensor<3x16x8xf32>) -> tensor<3x4x8xf32>
  %1 = fact.reduce sum %0 dims [0] : (tensor<3x4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Chains: less than a fourth is saved, the inner product has another user, f16,
// and a rounding between.
// CHECK-LABEL: func @chains
// CHECK-COUNT-2: -> tensor<16x16xf32>
// CHECK: fact.matmul {{.*}} -> tensor<64x64xf32>
// CHECK: fact.matmul {{.*}} -> tensor<64x64xf16>
func.func @chains(%a: tensor<16x16xf32>, %c: tensor<16x8xf32>, %m: tensor<64x64xf32>, %v: tensor<64x1xf32>, %h: tensor<64x64xf16>, %u: tensor<64x1xf16>) -> (tensor<16x8xf32>, tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf16>) {
  %0 = fact.matmul %a, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = fact.matmul %0, %a : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = fact.matmul %1, %c : (tensor<16x16xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %3 = fact.matmul %m, %m : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = fact.matmul %3, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  %5 = fact.matmul %h, %h : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %6 = fact.matmul %5, %u : (tensor<64x64xf16>, tensor<64x1xf16>) -> tensor<64x1xf16>
  return %2, %3, %4, %6 : tensor<16x8xf32>, tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf16>
}

// CHECK-LABEL: func @rounded_chain
// CHECK: fact.matmul {{.*}} -> tensor<64x64xf32>
// CHECK: fact.cast
// CHECK: fact.matmul {{.*}} -> tensor<64x1xbf16>
func.func @rounded_chain(%a: tensor<64x64xf32>, %v: tensor<64x1xbf16>) -> tensor<64x1xbf16> {
  %0 = fact.matmul %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = fact.cast %0 : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %2 = fact.matmul %1, %v : (tensor<64x64xbf16>, tensor<64x1xbf16>) -> tensor<64x1xbf16>
  return %2 : tensor<64x1xbf16>
}

// A convolution: its windows would be read many times over.
// CHECK-LABEL: func @convolution
// CHECK: fact.matmul {{.*}} -> tensor<2x7x5xf32>
func.func @convolution(%x: tensor<2x9x4xf32>, %w: tensor<12x5xf32>) -> tensor<2x5xf32> {
  %0 = fact.windows %x dim 1 kernel [3] strides [1] dilations [1] : (tensor<2x9x4xf32>) -> tensor<2x7x3x4xf32>
  %1 = fact.reshape %0 : (tensor<2x7x3x4xf32>) -> tensor<2x7x12xf32>
  %2 = fact.matmul %1, %w : (tensor<2x7x12xf32>, tensor<12x5xf32>) -> tensor<2x7x5xf32>
  %3 = fact.reduce mean %2 dims [1] : (tensor<2x7x5xf32>) -> tensor<2x5xf32>
  return %3 : tensor<2x5xf32>
}

// Blocks of rows, and blocks of a view that mixes rows and columns.
// CHECK-LABEL: func @blocks
// CHECK-COUNT-2: fact.matmul {{.*}} -> tensor<4x8xf32>
func.func @blocks(%x: tensor<4x16xf32>, %w: tensor<8x16xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.reshape %0 : (tensor<4x8xf32>) -> tensor<2x2x8xf32>
  %2 = fact.reduce sum %1 dims [1] : (tensor<2x2x8xf32>) -> tensor<2x8xf32>
  %3 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %4 = fact.reshape %3 : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %5 = fact.reshape %4 : (tensor<2x16xf32>) -> tensor<2x8x2xf32>
  %6 = fact.reduce mean %5 dims [2] : (tensor<2x8x2xf32>) -> tensor<2x8xf32>
  return %2, %6 : tensor<2x8xf32>, tensor<2x8xf32>
}

// Factors that are rounded, and reduced to half or a third: more digits of them
// take as long as the product.
// CHECK-LABEL: func @few
// CHECK: fact.matmul {{.*}} -> tensor<4x8xbf16>
// CHECK: fact.matmul {{.*}} tf32 {{.*}} -> tensor<6x9xf32>
func.func @few(%x: tensor<4x16xbf16>, %w: tensor<8x16xbf16>, %y: tensor<6x16xf32>, %u: tensor<9x16xf32>) -> (tensor<4x4xbf16>, tensor<6x3xf32>) {
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xbf16>, tensor<8x16xbf16>) -> tensor<4x8xbf16>
  %1 = fact.reshape %0 : (tensor<4x8xbf16>) -> tensor<4x4x2xbf16>
  %2 = fact.reduce mean %1 dims [2] : (tensor<4x4x2xbf16>) -> tensor<4x4xbf16>
  %3 = fact.matmul %y, %u transpose_b tf32 : (tensor<6x16xf32>, tensor<9x16xf32>) -> tensor<6x9xf32>
  %4 = fact.reshape %3 : (tensor<6x9xf32>) -> tensor<6x3x3xf32>
  %5 = fact.reduce mean %4 dims [2] : (tensor<6x3x3xf32>) -> tensor<6x3xf32>
  return %2, %5 : tensor<4x4xbf16>, tensor<6x3xf32>
}
