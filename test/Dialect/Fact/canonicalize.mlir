// RUN: fact-opt --canonicalize %s | FileCheck %s

// Numbers that change nothing, and those that only seem to.
// CHECK-LABEL: func @neutral
func.func @neutral(%x: tensor<4xf32>, %n: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>) {
  %zero = fact.constant dense<0.0> : tensor<f32>
  %minus_zero = fact.constant dense<-0.0> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  %none = fact.constant dense<0> : tensor<i64>
  %0 = fact.add %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = fact.mul %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = fact.div %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = fact.add %n, %none : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  // CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg1
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}

// -0.0 + 0.0 is 0.0, 0.0 * x is NaN for infinity, and 1 / x is not x.
// CHECK-LABEL: func @not_neutral
func.func @not_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = fact.constant dense<0.0> : tensor<f32>
  %minus_zero = fact.constant dense<-0.0> : tensor<f32>
  %one = fact.constant dense<1.0> : tensor<f32>
  // CHECK: fact.add %arg0
  %0 = fact.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: fact.sub %arg0
  %1 = fact.sub %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: fact.mul %arg0
  %2 = fact.mul %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: fact.div %{{.*}}, %arg0
  %3 = fact.div %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A number that broadcasts its neighbor stays.
// CHECK-LABEL: func @neutral_broadcast
func.func @neutral_broadcast(%x: tensor<1xf32>) -> tensor<4xf32> {
  %one = fact.constant dense<1.0> : tensor<4xf32>
  // CHECK: fact.mul
  %0 = fact.mul %x, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @negations
func.func @negations(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return %arg0
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @casts
func.func @casts(%x: tensor<4xbf16>, %y: tensor<4xi1>) -> (tensor<4xbf16>, tensor<4xf64>, tensor<4xi1>) {
  %0 = fact.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = fact.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK-NEXT: %[[WIDE:.*]] = fact.cast %arg0 : (tensor<4xbf16>) -> tensor<4xf64>
  %2 = fact.cast %0 : (tensor<4xf32>) -> tensor<4xf64>
  %3 = fact.cast %y : (tensor<4xi1>) -> tensor<4xf32>
  %4 = fact.cast %3 : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: return %arg0, %[[WIDE]], %arg1
  return %1, %2, %4 : tensor<4xbf16>, tensor<4xf64>, tensor<4xi1>
}

// A cast that rounds stays, also between f16 and bf16, and so does one that
// drops a fraction.
// CHECK-LABEL: func @rounding_casts
func.func @rounding_casts(%x: tensor<4xf32>, %h: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>, tensor<4xf32>) {
  // CHECK-COUNT-6: fact.cast
  %0 = fact.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = fact.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = fact.cast %h : (tensor<4xf16>) -> tensor<4xbf16>
  %3 = fact.cast %2 : (tensor<4xbf16>) -> tensor<4xf16>
  %4 = fact.cast %x : (tensor<4xf32>) -> tensor<4xi64>
  %5 = fact.cast %4 : (tensor<4xi64>) -> tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf16>, tensor<4xf32>
}

// CHECK-LABEL: func @select
func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = fact.constant dense<true> : tensor<4xi1>
  %false = fact.constant dense<false> : tensor<i1>
  %0 = fact.select %true, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fact.select %false, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = fact.select %c, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return %arg1, %arg2, %arg1
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @numbers
func.func @numbers() -> (tensor<f32>, tensor<2x4xi1>, tensor<4xbf16>, tensor<4xbf16>) {
  // CHECK-DAG: %[[ROOT:.*]] = fact.constant dense<8.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[LESS:.*]] = fact.constant dense<true> : tensor<2x4xi1>
  // CHECK-DAG: %[[SUM:.*]] = fact.constant dense<1.500000e+00> : tensor<4xbf16>
  %c64 = fact.constant dense<64.0> : tensor<f32>
  %0 = fact.sqrt %c64 : (tensor<f32>) -> tensor<f32>
  %a = fact.constant dense<1> : tensor<2x1xi64>
  %b = fact.constant dense<2> : tensor<4xi64>
  %1 = fact.compare lt %a, %b : (tensor<2x1xi64>, tensor<4xi64>) -> tensor<2x4xi1>
  %one = fact.constant dense<1.0> : tensor<4xbf16>
  %half = fact.constant dense<0.5> : tensor<bf16>
  %2 = fact.add %one, %half : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  // A third would have to round to 16 bits, which inside of a kernel it does not.
  // CHECK: %[[THIRD:.*]] = fact.div
  %three = fact.constant dense<3.0> : tensor<bf16>
  %3 = fact.div %one, %three : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  // CHECK: return %[[ROOT]], %[[LESS]], %[[SUM]], %[[THIRD]]
  return %0, %1, %2, %3 : tensor<f32>, tensor<2x4xi1>, tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<4x1x8xf32>) -> (tensor<4x1x8xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>, tensor<4x1x1xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = fact.constant dense<0.000000e+00> : tensor<f32>
  %0 = fact.reduce sum %x dims [] : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  %1 = fact.reduce max %x dims [1] keep : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  // CHECK-DAG: %[[FLAT:.*]] = fact.reshape %arg0 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %2 = fact.reduce prod %x dims [1] : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  // CHECK-DAG: %[[ROWS:.*]] = fact.reduce mean %arg0 dims [2] keep
  %3 = fact.reduce mean %x dims [1, 2] keep : (tensor<4x1x8xf32>) -> tensor<4x1x1xf32>
  // A sum begins with 0, so a sum of -0.0 is 0.0.
  // CHECK-DAG: %[[SUM:.*]] = fact.add %{{.*}}, %[[ZERO]]
  %4 = fact.reduce sum %x dims [1] : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  // CHECK: return %arg0, %arg0, %{{.*}}, %[[ROWS]], %[[SUM]]
  return %0, %1, %2, %3, %4 : tensor<4x1x8xf32>, tensor<4x1x8xf32>, tensor<4x8xf32>, tensor<4x1x1xf32>, tensor<4x8xf32>
}

// Reductions over adjacent dimensions, with and without `keep`. The mean of
// means over other dimensions would need a transposed copy.
// CHECK-LABEL: func @reduce_twice
func.func @reduce_twice(%x: tensor<2x3x4x5xbf16>, %n: tensor<2x3x1x5xi64>) -> (tensor<2x3xbf16>, tensor<2x1x1x5xbf16>, tensor<2x1xbf16>, tensor<2xi64>, tensor<3x4xbf16>, tensor<2x3xbf16>) {
  // CHECK-DAG: %[[SUM:.*]] = fact.reduce sum %arg0 dims [2, 3] : (tensor<2x3x4x5xbf16>) -> tensor<2x3xbf16>
  %0 = fact.reduce sum %x dims [3] : (tensor<2x3x4x5xbf16>) -> tensor<2x3x4xbf16>
  %1 = fact.reduce sum %0 dims [2] : (tensor<2x3x4xbf16>) -> tensor<2x3xbf16>
  // CHECK-DAG: %[[MAX:.*]] = fact.reduce max %arg0 dims [1, 2] keep : (tensor<2x3x4x5xbf16>) -> tensor<2x1x1x5xbf16>
  %2 = fact.reduce max %x dims [2] keep : (tensor<2x3x4x5xbf16>) -> tensor<2x3x1x5xbf16>
  %3 = fact.reduce max %2 dims [1] keep : (tensor<2x3x1x5xbf16>) -> tensor<2x1x1x5xbf16>
  // CHECK-DAG: %[[ALL:.*]] = fact.reduce mean %arg0 dims [1, 2, 3] : (tensor<2x3x4x5xbf16>) -> tensor<2xbf16>
  // CHECK-DAG: %[[MEAN:.*]] = fact.reshape %[[ALL]] : (tensor<2xbf16>) -> tensor<2x1xbf16>
  %4 = fact.reduce mean %x dims [1, 3] : (tensor<2x3x4x5xbf16>) -> tensor<2x4xbf16>
  %5 = fact.reduce mean %4 dims [1] keep : (tensor<2x4xbf16>) -> tensor<2x1xbf16>
  // CHECK-DAG: %[[MIN:.*]] = fact.reduce min %arg1 dims [1, 3] : (tensor<2x3x1x5xi64>) -> tensor<2x1xi64>
  %6 = fact.reduce min %n dims [1] : (tensor<2x3x1x5xi64>) -> tensor<2x1x5xi64>
  %7 = fact.reduce min %6 dims [2] : (tensor<2x1x5xi64>) -> tensor<2x1xi64>
  %8 = fact.reshape %7 : (tensor<2x1xi64>) -> tensor<2xi64>
  // CHECK-DAG: %[[LAST:.*]] = fact.reduce mean %arg0 dims [3]
  // CHECK-DAG: %[[APART:.*]] = fact.reduce mean %[[LAST]] dims [0]
  %9 = fact.reduce mean %x dims [3] : (tensor<2x3x4x5xbf16>) -> tensor<2x3x4xbf16>
  %10 = fact.reduce mean %9 dims [0] : (tensor<2x3x4xbf16>) -> tensor<3x4xbf16>
  // Kinds that differ.
  // CHECK-DAG: %[[INNER:.*]] = fact.reduce min %arg0 dims [3]
  // CHECK-DAG: %[[OUTER:.*]] = fact.reduce max %[[INNER]] dims [2]
  %11 = fact.reduce min %x dims [3] : (tensor<2x3x4x5xbf16>) -> tensor<2x3x4xbf16>
  %12 = fact.reduce max %11 dims [2] : (tensor<2x3x4xbf16>) -> tensor<2x3xbf16>
  // CHECK: return %[[SUM]], %[[MAX]], %[[MEAN]], %{{.*}}, %[[APART]], %[[OUTER]]
  return %1, %3, %5, %8, %10, %12 : tensor<2x3xbf16>, tensor<2x1x1x5xbf16>, tensor<2x1xbf16>, tensor<2xi64>, tensor<3x4xbf16>, tensor<2x3xbf16>
}

// Elements that are repeated are reduced once, and a sum is a multiple: of an
// f32 number, since f16 has no 4097. Repeated rows have repeated means.
// CHECK-LABEL: func @reduce_expanded
func.func @reduce_expanded(%x: tensor<1x8xf16>, %n: tensor<8xi64>) -> (tensor<8xf16>, tensor<4097xf16>, tensor<1x8xi64>, tensor<8xf16>) {
  // CHECK-DAG: %[[COUNT:.*]] = fact.constant dense<4.097000e+03> : tensor<f32>
  // CHECK-DAG: %[[INTEGER:.*]] = fact.constant dense<3> : tensor<i64>
  // CHECK-DAG: %[[ROW:.*]] = fact.reshape %arg0 : (tensor<1x8xf16>) -> tensor<8xf16>
  // CHECK-DAG: %[[PLUS:.*]] = fact.add %[[ROW]]
  // CHECK-DAG: %[[SUM:.*]] = fact.mul %[[PLUS]], %[[COUNT]] : (tensor<8xf16>, tensor<f32>) -> tensor<8xf16>
  %0 = fact.expand %x : (tensor<1x8xf16>) -> tensor<4097x8xf16>
  %1 = fact.reduce sum %0 dims [0] : (tensor<4097x8xf16>) -> tensor<8xf16>
  // CHECK-DAG: %[[MEAN:.*]] = fact.reduce mean %arg0 dims [1] : (tensor<1x8xf16>) -> tensor<1xf16>
  // CHECK-DAG: %[[MEANS:.*]] = fact.expand %[[MEAN]] : (tensor<1xf16>) -> tensor<4097xf16>
  %2 = fact.reduce mean %0 dims [1] : (tensor<4097x8xf16>) -> tensor<4097xf16>
  // CHECK-DAG: %[[TRIPLE:.*]] = fact.mul %{{.*}}, %[[INTEGER]] : (tensor<1x8xi64>, tensor<i64>) -> tensor<1x8xi64>
  %3 = fact.expand %n : (tensor<8xi64>) -> tensor<3x8xi64>
  %4 = fact.reduce sum %3 dims [0] keep : (tensor<3x8xi64>) -> tensor<1x8xi64>
  %5 = fact.reduce max %0 dims [0] : (tensor<4097x8xf16>) -> tensor<8xf16>
  // CHECK-DAG: %[[LARGEST:.*]] = fact.reshape %arg0 : (tensor<1x8xf16>) -> tensor<8xf16>
  // CHECK: return %[[SUM]], %[[MEANS]], %[[TRIPLE]], %[[LARGEST]]
  return %1, %2, %4, %5 : tensor<8xf16>, tensor<4097xf16>, tensor<1x8xi64>, tensor<8xf16>
}

// CHECK-LABEL: func @zeros_twice
func.func @zeros_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[ONCE:.*]] = fact.add %arg0
  // CHECK-NEXT: return %[[ONCE]]
  %zero = fact.constant dense<0.0> : tensor<f32>
  %0 = fact.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = fact.add %0, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func @reshapes
func.func @reshapes(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
  %0 = fact.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %1 = fact.reshape %0 : (tensor<2x16xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[FLAT:.*]] = fact.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
  %2 = fact.reshape %0 : (tensor<2x16xf32>) -> tensor<32xf32>
  // CHECK-NEXT: return %arg0, %[[FLAT]]
  return %1, %2 : tensor<4x8xf32>, tensor<32xf32>
}

// CHECK-LABEL: func @permutes
func.func @permutes(%x: tensor<2x1x4x8xf32>) -> (tensor<2x1x4x8xf32>, tensor<8x2x1x4xf32>, tensor<2x4x1x8xf32>) {
  %0 = fact.permute %x [0, 3, 1, 2] : (tensor<2x1x4x8xf32>) -> tensor<2x8x1x4xf32>
  %1 = fact.permute %0 [0, 2, 3, 1] : (tensor<2x8x1x4xf32>) -> tensor<2x1x4x8xf32>
  // CHECK-NEXT: %[[TWICE:.*]] = fact.permute %arg0 [3, 0, 1, 2]
  %2 = fact.permute %0 [1, 0, 2, 3] : (tensor<2x8x1x4xf32>) -> tensor<8x2x1x4xf32>
  // Only a size of 1 moves.
  // CHECK-NEXT: %[[UNIT:.*]] = fact.reshape %arg0 : (tensor<2x1x4x8xf32>) -> tensor<2x4x1x8xf32>
  %3 = fact.permute %x [0, 2, 1, 3] : (tensor<2x1x4x8xf32>) -> tensor<2x4x1x8xf32>
  // CHECK-NEXT: return %arg0, %[[TWICE]], %[[UNIT]]
  return %1, %2, %3 : tensor<2x1x4x8xf32>, tensor<8x2x1x4xf32>, tensor<2x4x1x8xf32>
}

// CHECK-LABEL: func @slices
func.func @slices(%x: tensor<4x32xf32>, %y: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x4xf32>) {
  // CHECK-DAG: %[[OF_SLICE:.*]] = fact.slice %arg0 dim 1 start 8 step 4 : (tensor<4x32xf32>) -> tensor<4x4xf32>
  %0 = fact.slice %x dim 1 start 4 step 2 : (tensor<4x32xf32>) -> tensor<4x10xf32>
  %1 = fact.slice %0 dim 1 start 2 step 2 : (tensor<4x10xf32>) -> tensor<4x4xf32>
  %2 = fact.concat %x, %y dim 1 : (tensor<4x32xf32>, tensor<4x8xf32>) -> tensor<4x40xf32>
  %3 = fact.slice %2 dim 1 start 32 : (tensor<4x40xf32>) -> tensor<4x8xf32>
  // CHECK-DAG: %[[OF_CONCAT:.*]] = fact.slice %arg1 dim 1 start 1 step 3 : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %4 = fact.slice %2 dim 1 start 33 step 3 : (tensor<4x40xf32>) -> tensor<4x2xf32>
  // Across both inputs, the concatenation stays.
  // CHECK-DAG: %[[JOINED:.*]] = fact.concat
  // CHECK-DAG: %[[ACROSS:.*]] = fact.slice %[[JOINED]] dim 1 start 30
  %5 = fact.slice %2 dim 1 start 30 : (tensor<4x40xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: return %[[OF_SLICE]], %arg1, %[[OF_CONCAT]], %[[ACROSS]]
  return %1, %3, %4, %5 : tensor<4x4xf32>, tensor<4x8xf32>, tensor<4x2xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func @concats
func.func @concats(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x24xf32>, tensor<4x8xf32>) {
  %0 = fact.concat %x dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = fact.slice %x dim 1 start 0 : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %b = fact.slice %x dim 1 start 3 : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %1 = fact.concat %a, %b dim 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  // CHECK: %[[SPLICED:.*]] = fact.concat %arg0, %arg1, %arg0 dim 1
  %2 = fact.concat %x, %y dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %3 = fact.concat %2, %x dim 1 : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  // The parts are in another order.
  // CHECK: %[[SWAPPED:.*]] = fact.concat
  %4 = fact.concat %b, %a dim 1 : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  // CHECK: return %arg0, %arg0, %[[SPLICED]], %[[SWAPPED]]
  return %0, %1, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x24xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func @expands
func.func @expands(%x: tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<1x1x8xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[ONCE:.*]] = fact.expand %arg0 : (tensor<8xf32>) -> tensor<2x4x8xf32>
  // CHECK-DAG: %[[UNITS:.*]] = fact.reshape %arg0 : (tensor<8xf32>) -> tensor<1x1x8xf32>
  // CHECK-DAG: %[[THROUGH:.*]] = fact.expand %arg0 : (tensor<8xf32>) -> tensor<4x8xf32>
  %0 = fact.expand %x : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = fact.expand %0 : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %2 = fact.expand %x : (tensor<8xf32>) -> tensor<1x8xf32>
  %3 = fact.reshape %2 : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
  %4 = fact.expand %2 : (tensor<1x8xf32>) -> tensor<4x8xf32>
  // CHECK: return %[[ONCE]], %[[UNITS]], %[[THROUGH]]
  return %1, %3, %4 : tensor<2x4x8xf32>, tensor<1x1x8xf32>, tensor<4x8xf32>
}

// Leading dimensions that are merged for a product and apart after it.
// CHECK-LABEL: func @leading
func.func @leading(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x4x16xf32> {
  // CHECK-NEXT: %[[Y:.*]] = fact.matmul %arg0, %arg1 transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = fact.reshape %x : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %1 = fact.matmul %0, %w transpose_b : (tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  %2 = fact.reshape %1 : (tensor<8x16xf32>) -> tensor<2x4x16xf32>
  return %2 : tensor<2x4x16xf32>
}

// CHECK-LABEL: func @leading_batch
func.func @leading_batch(%x: tensor<2x3x4x8xf32>, %y: tensor<2x3x8x5xf32>) -> tensor<2x3x4x5xf32> {
  // CHECK-NEXT: fact.matmul %arg0, %arg1 : (tensor<2x3x4x8xf32>, tensor<2x3x8x5xf32>) -> tensor<2x3x4x5xf32>
  %0 = fact.reshape %x : (tensor<2x3x4x8xf32>) -> tensor<6x4x8xf32>
  %1 = fact.reshape %y : (tensor<2x3x8x5xf32>) -> tensor<6x8x5xf32>
  %2 = fact.matmul %0, %1 : (tensor<6x4x8xf32>, tensor<6x8x5xf32>) -> tensor<6x4x5xf32>
  %3 = fact.reshape %2 : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %3 : tensor<2x3x4x5xf32>
}

// Rows and batches come apart in another way: it stays.
// CHECK-LABEL: func @leading_differs
func.func @leading_differs(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x2x16xf32> {
  // CHECK-COUNT-2: fact.reshape
  %0 = fact.reshape %x : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %1 = fact.matmul %0, %w transpose_b : (tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  %2 = fact.reshape %1 : (tensor<8x16xf32>) -> tensor<4x2x16xf32>
  return %2 : tensor<4x2x16xf32>
}

// Bits of numbers, by their scalar definitions; shifts that leave nothing.
// CHECK-LABEL: func @bits
func.func @bits() -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i1>) {
  // CHECK-DAG: %[[AND:.*]] = fact.constant dense<2> : tensor<i64>
  // CHECK-DAG: %[[OR:.*]] = fact.constant dense<-5> : tensor<i64>
  // CHECK-DAG: %[[XOR:.*]] = fact.constant dense<-7> : tensor<i64>
  // CHECK-DAG: %[[LEFT:.*]] = fact.constant dense<-48> : tensor<i64>
  // CHECK-DAG: %[[RIGHT:.*]] = fact.constant dense<-1> : tensor<i64>
  // CHECK-DAG: %[[NONE:.*]] = fact.constant dense<0> : tensor<i64>
  // CHECK-DAG: %[[FALSE:.*]] = fact.constant dense<false> : tensor<i1>
  %x = fact.constant dense<-6> : tensor<i64>
  %y = fact.constant dense<3> : tensor<i64>
  %far = fact.constant dense<64> : tensor<i64>
  %true = fact.constant dense<true> : tensor<i1>
  %0 = fact.and %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %1 = fact.or %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %2 = fact.xor %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %3 = fact.shift_left %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %4 = fact.shift_right %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %5 = fact.shift_left %x, %far : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %6 = fact.shift_right %x, %far : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %7 = fact.xor %true, %true : (tensor<i1>, tensor<i1>) -> tensor<i1>
  // CHECK: return %[[AND]], %[[OR]], %[[XOR]], %[[LEFT]], %[[RIGHT]], %[[NONE]], %[[RIGHT]], %[[FALSE]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i1>
}

// Booleans are 0 and 1, as in PyTorch: true is the larger one, and a sum of two.
// CHECK-LABEL: func @booleans
func.func @booleans() -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  // CHECK-DAG: %[[TRUE:.*]] = fact.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[FALSE:.*]] = fact.constant dense<false> : tensor<i1>
  %true = fact.constant dense<true> : tensor<i1>
  %false = fact.constant dense<false> : tensor<i1>
  %0 = fact.maximum %true, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %1 = fact.minimum %true, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %2 = fact.compare lt %true, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %3 = fact.compare ge %true, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %4 = fact.compare gt %true, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %5 = fact.add %true, %true : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %6 = fact.sign %false : (tensor<i1>) -> tensor<i1>
  %7 = fact.relu %true : (tensor<i1>) -> tensor<i1>
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[FALSE]], %[[TRUE]], %[[TRUE]], %[[TRUE]], %[[FALSE]], %[[TRUE]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}

// A row of one element is its own reduction, and sorted.
// CHECK-LABEL: func @single
func.func @single(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xi64>) {
  // CHECK: %[[FIRST:.*]] = fact.constant dense<0> : tensor<4x1xi64>
  %0 = fact.scan logsumexp %x dim 1 : tensor<4x1xf32>
  %1 = fact.argsort %x dim 1 : (tensor<4x1xf32>) -> tensor<4x1xi64>
  // CHECK: return %arg0, %[[FIRST]]
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xi64>
}

// The first place holds the largest or the smallest element. A NaN is last in
// ascending order, which argmin does not know.
// CHECK-LABEL: func @extreme
func.func @extreme(%x: tensor<4x8xf32>, %n: tensor<4x8xi64>) -> (tensor<4x1xi64>, tensor<1x8xi64>, tensor<4x1xi64>) {
  // CHECK-DAG: %[[LARGEST:.*]] = fact.reduce argmax %arg0 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xi64>
  // CHECK-DAG: %[[SMALLEST:.*]] = fact.reduce argmin %arg1 dims [0] keep : (tensor<4x8xi64>) -> tensor<1x8xi64>
  // CHECK-DAG: %[[NUMBER:.*]] = fact.argsort %arg0
  %0 = fact.argsort %x dim 1 descending count 1 : (tensor<4x8xf32>) -> tensor<4x1xi64>
  %1 = fact.argsort %n dim 0 count 1 : (tensor<4x8xi64>) -> tensor<1x8xi64>
  %2 = fact.argsort %x dim 1 count 1 : (tensor<4x8xf32>) -> tensor<4x1xi64>
  // CHECK: return %[[LARGEST]], %[[SMALLEST]], %[[NUMBER]]
  return %0, %1, %2 : tensor<4x1xi64>, tensor<1x8xi64>, tensor<4x1xi64>
}

// The same row again and again; an index outside stays, since it gives NaN.
// CHECK-LABEL: func @gather_by_splat
func.func @gather_by_splat(%x: tensor<2x4x3xf32>) -> (tensor<2x5x1x3xf32>, tensor<2x5x3xf32>) {
  %last = fact.constant dense<3> : tensor<5x1xi64>
  %outside = fact.constant dense<4> : tensor<5xi64>
  // CHECK: %[[ROW:.*]] = fact.slice %{{.*}} dim 1 start 3 : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  // CHECK: %[[UNIT:.*]] = fact.reshape %[[ROW]] : (tensor<2x1x3xf32>) -> tensor<2x1x1x3xf32>
  // CHECK: fact.expand %[[UNIT]] : (tensor<2x1x1x3xf32>) -> tensor<2x5x1x3xf32>
  %0 = fact.gather %x, %last dim 1 : (tensor<2x4x3xf32>, tensor<5x1xi64>) -> tensor<2x5x1x3xf32>
  // CHECK: fact.gather
  %1 = fact.gather %x, %outside dim 1 : (tensor<2x4x3xf32>, tensor<5xi64>) -> tensor<2x5x3xf32>
  return %0, %1 : tensor<2x5x1x3xf32>, tensor<2x5x3xf32>
}

// A table of equal elements: only whether an index is inside matters.
// CHECK-LABEL: func @gather_from_splat
func.func @gather_from_splat(%ids: tensor<2x7xi64>) -> tensor<2x7x16xf32> {
  // CHECK-NOT: fact.gather
  // CHECK: fact.compare ge
  // CHECK: fact.compare lt
  // CHECK: %[[INSIDE:.*]] = fact.select {{.*}} -> tensor<2x7x1xf32>
  // CHECK: %[[VALUE:.*]] = fact.select %{{.*}}, %[[INSIDE]]
  // CHECK: fact.expand %[[VALUE]] : (tensor<2x7x1xf32>) -> tensor<2x7x16xf32>
  %table = fact.constant dense<0.5> : tensor<100x16xf32>
  %0 = fact.gather %table, %ids dim 0 : (tensor<100x16xf32>, tensor<2x7xi64>) -> tensor<2x7x16xf32>
  return %0 : tensor<2x7x16xf32>
}

// A constant is rounded once, when it is compiled.
// CHECK-LABEL: func @rounded_constant
func.func @rounded_constant() -> tensor<bf16> {
  // CHECK: fact.constant dense<3.339840e-01> : tensor<bf16>
  // CHECK-NOT: fact.cast
  %third = fact.constant dense<0.333333343> : tensor<f32>
  %0 = fact.cast %third : (tensor<f32>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// A gather by consecutive indices is a slice; others are not.
// CHECK-LABEL: func.func @gather_by_range(
// CHECK: %[[SLICE:.+]] = fact.slice %arg0 dim 0 start 1 : (tensor<6x4xf32>) -> tensor<4x4xf32>
// CHECK: fact.reshape %[[SLICE]] : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
// CHECK: fact.gather %arg0
// CHECK: fact.gather %arg0
func.func @gather_by_range(%x: tensor<6x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %range = fact.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %0 = fact.gather %x, %range dim 0 : (tensor<6x4xf32>, tensor<2x2xi64>) -> tensor<2x2x4xf32>
  %apart = fact.constant dense<[1, 3]> : tensor<2xi64>
  %1 = fact.gather %x, %apart dim 0 : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  // Index 6 is out of range and reads NaN.
  %beyond = fact.constant dense<[5, 6]> : tensor<2xi64>
  %2 = fact.gather %x, %beyond dim 0 : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
