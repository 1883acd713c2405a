// RUN: fact-opt --fact-simplify-products --canonicalize %s | FileCheck %s

// torch.diag(v) on either side.
// CHECK-LABEL: func @diagonal
func.func @diagonal(%v: tensor<3xf32>, %b: tensor<3x8xf32>, %a: tensor<8x3xf32>) -> (tensor<3x8xf32>, tensor<8x3xf32>) {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[COLUMN:.*]] = fact.reshape %arg0 : (tensor<3xf32>) -> tensor<3x1xf32>
  // CHECK-DAG: %[[ROW:.*]] = fact.reshape %arg0 : (tensor<3xf32>) -> tensor<1x3xf32>
  // CHECK-DAG: %[[LEFT:.*]] = fact.mul %arg1, %[[COLUMN]]
  // CHECK-DAG: %[[RIGHT:.*]] = fact.mul %arg2, %[[ROW]]
  %eye = fact.constant dense<[[true, false, false], [false, true, false], [false, false, true]]> : tensor<3x3xi1>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %d = fact.select %eye, %v, %zero : (tensor<3x3xi1>, tensor<3xf32>, tensor<f32>) -> tensor<3x3xf32>
  %0 = fact.matmul %d, %b : (tensor<3x3xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %1 = fact.matmul %a, %d transpose_b : (tensor<8x3xf32>, tensor<3x3xf32>) -> tensor<8x3xf32>
  // CHECK: return %[[LEFT]], %[[RIGHT]]
  return %0, %1 : tensor<3x8xf32>, tensor<8x3xf32>
}

// Batches of diagonals, of one matrix that is transposed.
// CHECK-LABEL: func @diagonal_batch
func.func @diagonal_batch(%v: tensor<5x2xbf16>, %b: tensor<8x2xbf16>) -> tensor<5x2x8xbf16> {
  // CHECK-DAG: %[[COLUMNS:.*]] = fact.reshape %arg0 : (tensor<5x2xbf16>) -> tensor<5x2x1xbf16>
  // CHECK-DAG: %[[TURNED:.*]] = fact.permute %arg1 [1, 0]
  // CHECK: %[[SCALED:.*]] = fact.mul %[[TURNED]], %[[COLUMNS]] : (tensor<2x8xbf16>, tensor<5x2x1xbf16>) -> tensor<5x2x8xbf16>
  // CHECK-NEXT: return %[[SCALED]]
  %eye = fact.constant dense<[[[true, false], [false, true]]]> : tensor<1x2x2xi1>
  %zero = fact.constant dense<0.0> : tensor<bf16>
  %rows = fact.reshape %v : (tensor<5x2xbf16>) -> tensor<5x1x2xbf16>
  %d = fact.select %eye, %rows, %zero : (tensor<1x2x2xi1>, tensor<5x1x2xbf16>, tensor<bf16>) -> tensor<5x2x2xbf16>
  %0 = fact.matmul %d, %b transpose_b : (tensor<5x2x2xbf16>, tensor<8x2xbf16>) -> tensor<5x2x8xbf16>
  return %0 : tensor<5x2x8xbf16>
}

// An identity times a vector, a scalar or a matrix, and by itself.
// CHECK-LABEL: func @identity
func.func @identity(%v: tensor<2xf32>, %s: tensor<f32>, %m: tensor<2x2xf32>, %b: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[VECTOR:.*]] = fact.reshape %arg0 : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK-DAG: %[[BY_VECTOR:.*]] = fact.mul %arg3, %[[VECTOR]]
  // CHECK-DAG: %[[FLAT:.*]] = fact.reshape %arg2 : (tensor<2x2xf32>) -> tensor<4xf32>
  // CHECK-DAG: %[[TAKEN:.*]] = fact.slice %[[FLAT]] dim 0 start 0 step 3 : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK-DAG: %[[ON:.*]] = fact.reshape %[[TAKEN]] : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK-DAG: %[[BY_MATRIX:.*]] = fact.mul %arg3, %[[ON]]
  // CHECK: return %arg3, %[[BY_VECTOR]], %{{.*}}, %[[BY_MATRIX]]
  %eye = fact.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %0 = fact.matmul %eye, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %d1 = fact.mul %eye, %v : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = fact.matmul %d1, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %d2 = fact.mul %eye, %s : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = fact.matmul %d2, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %d3 = fact.mul %m, %eye : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = fact.matmul %d3, %b : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0, %1, %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// A large mask, which is not folded; a cast and a view of the matrix.
// CHECK-LABEL: func @compared
func.func @compared(%v: tensor<4xf32>, %b: tensor<6x4x8xbf16>) -> tensor<6x4x8xbf16> {
  // CHECK-DAG: %[[NARROW:.*]] = fact.cast %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[COLUMN:.*]] = fact.reshape %[[NARROW]] : (tensor<4xbf16>) -> tensor<4x1xbf16>
  // CHECK: %[[SCALED:.*]] = fact.mul %arg1, %[[COLUMN]]
  // CHECK-NEXT: return %[[SCALED]]
  %rows = fact.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %columns = fact.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %zero = fact.constant dense<0.0> : tensor<f32>
  %eye = fact.compare eq %columns, %rows : (tensor<4xi64>, tensor<4x1xi64>) -> tensor<4x4xi1>
  %d = fact.select %eye, %v, %zero : (tensor<4x4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %narrow = fact.cast %d : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %wide = fact.expand %narrow : (tensor<4x4xbf16>) -> tensor<6x4x4xbf16>
  %0 = fact.matmul %wide, %b : (tensor<6x4x4xbf16>, tensor<6x4x8xbf16>) -> tensor<6x4x8xbf16>
  return %0 : tensor<6x4x8xbf16>
}

// Factors of equal numbers.
// CHECK-LABEL: func @splat
func.func @splat(%x: tensor<5x4x8xf16>) -> (tensor<5x4x3xf16>, tensor<5x2x8xf16>) {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[ROWS:.*]] = fact.reduce sum %arg0 dims [2] keep : (tensor<5x4x8xf16>) -> tensor<5x4x1xf16>
  // CHECK-DAG: %[[WIDE:.*]] = fact.expand %[[ROWS]] : (tensor<5x4x1xf16>) -> tensor<5x4x3xf16>
  // CHECK-DAG: %[[COLUMNS:.*]] = fact.reduce sum %arg0 dims [1] keep : (tensor<5x4x8xf16>) -> tensor<5x1x8xf16>
  // CHECK-DAG: %[[HALVES:.*]] = fact.mul %[[COLUMNS]]
  // CHECK-DAG: %[[TALL:.*]] = fact.expand %[[HALVES]] : (tensor<5x1x8xf16>) -> tensor<5x2x8xf16>
  // CHECK: return %[[WIDE]], %[[TALL]]
  %ones = fact.constant dense<1.0> : tensor<8x3xf16>
  %halves = fact.constant dense<0.5> : tensor<2x4xf16>
  %0 = fact.matmul %x, %ones : (tensor<5x4x8xf16>, tensor<8x3xf16>) -> tensor<5x4x3xf16>
  %1 = fact.matmul %halves, %x : (tensor<2x4xf16>, tensor<5x4x8xf16>) -> tensor<5x2x8xf16>
  return %0, %1 : tensor<5x4x3xf16>, tensor<5x2x8xf16>
}

// Columns of 16-bit products: the sum of the weight is f32, and the result is
// rounded once.
// CHECK-LABEL: func @columns
func.func @columns(%x: tensor<2x4x16xbf16>, %w: tensor<8x16xbf16>, %b: tensor<8xbf16>) -> tensor<2x4xbf16> {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[X:.*]] = fact.cast %arg0 : (tensor<2x4x16xbf16>) -> tensor<2x4x16xf32>
  // CHECK-DAG: %[[W:.*]] = fact.cast %arg1 : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  // CHECK-DAG: %[[SUM:.*]] = fact.reduce sum %[[W]] dims [0] keep : (tensor<8x16xf32>) -> tensor<1x16xf32>
  // CHECK-DAG: %[[ELEMENTS:.*]] = fact.mul %[[X]], %[[SUM]]
  // CHECK-DAG: %[[DOT:.*]] = fact.reduce sum %[[ELEMENTS]] dims [2] keep
  // CHECK-DAG: %[[B:.*]] = fact.cast %arg2 : (tensor<8xbf16>) -> tensor<8xf32>
  // CHECK-DAG: %[[BIAS:.*]] = fact.reduce sum %[[B]] dims [0] keep
  // CHECK-DAG: %[[BOTH:.*]] = fact.add %[[DOT]], %[[BIAS]]
  // CHECK: %[[HALF:.*]] = fact.mul %[[BOTH]]
  // CHECK: %[[RESULT:.*]] = fact.cast %[[HALF]] : (tensor<2x4x1xf32>) -> tensor<2x4x1xbf16>
  // CHECK: fact.reshape %[[RESULT]]
  %half = fact.constant dense<0.5> : tensor<f32>
  %0 = fact.matmul %x, %w transpose_b : (tensor<2x4x16xbf16>, tensor<8x16xbf16>) -> tensor<2x4x8xbf16>
  %1 = fact.add %0, %b : (tensor<2x4x8xbf16>, tensor<8xbf16>) -> tensor<2x4x8xbf16>
  %2 = fact.mul %1, %half : (tensor<2x4x8xbf16>, tensor<f32>) -> tensor<2x4x8xbf16>
  %3 = fact.reduce sum %2 dims [2] : (tensor<2x4x8xbf16>) -> tensor<2x4xbf16>
  return %3 : tensor<2x4xbf16>
}

// Rows of 16-bit products: the mean is an operand of the product, in two parts
// of 16 bits. The second one of f16 is scaled.
// CHECK-LABEL: func @rows
func.func @rows(%x: tensor<2x9x16xf16>, %w: tensor<8x16xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> {
  // CHECK-DAG: %[[COUNT:.*]] = fact.constant dense<9.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[SCALE:.*]] = fact.constant dense<2.048000e+03> : tensor<f32>
  // CHECK-DAG: %[[SCALES:.*]] = fact.constant dense<{{\[\[\[}}1.000000e+00]], {{\[\[}}4.8828125E-4]]]> : tensor<2x1x1xf32>
  // CHECK-DAG: %[[ZERO:.*]] = fact.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[FIRST:.*]] = fact.constant dense<{{\[\[\[}}true]], {{\[\[}}false]]]> : tensor<2x1x1xi1>
  // CHECK-DAG: %[[X:.*]] = fact.cast %arg0 : (tensor<2x9x16xf16>) -> tensor<2x9x16xf32>
  // CHECK: %[[MEAN:.*]] = fact.reduce mean %[[X]] dims [1] keep : (tensor<2x9x16xf32>) -> tensor<2x1x16xf32>
  // CHECK: %[[WHOLE:.*]] = fact.reshape %[[MEAN]]
  // CHECK: %[[NARROW:.*]] = fact.cast %[[WHOLE]] : (tensor<2x1x1x16xf32>) -> tensor<2x1x1x16xf16>
  // CHECK: %[[ROUNDED:.*]] = fact.cast %[[NARROW]] : (tensor<2x1x1x16xf16>) -> tensor<2x1x1x16xf32>
  // CHECK: %[[LEFT:.*]] = fact.sub %[[WHOLE]], %[[ROUNDED]]
  // CHECK: %[[SCALED:.*]] = fact.mul %[[LEFT]], %[[SCALE]]
  // CHECK: %[[EXACT:.*]] = fact.compare eq %[[WHOLE]], %[[ROUNDED]]
  // CHECK: %[[REST:.*]] = fact.select %[[EXACT]], %[[ZERO]], %[[SCALED]]
  // CHECK: %[[BOTH:.*]] = fact.select %[[FIRST]], %[[ROUNDED]], %[[REST]]
  // CHECK: %[[STACKED:.*]] = fact.reshape %[[BOTH]] : (tensor<2x2x1x16xf32>) -> tensor<2x2x16xf32>
  // CHECK: %[[PARTS:.*]] = fact.cast %[[STACKED]]
  // CHECK: %[[Y:.*]] = fact.matmul %[[PARTS]], %arg1 transpose_b : (tensor<2x2x16xf16>, tensor<8x16xf16>) -> tensor<2x2x8xf16>
  // CHECK: %[[WIDE:.*]] = fact.cast %[[Y]]
  // CHECK: %[[SPLIT:.*]] = fact.reshape %[[WIDE]]
  // CHECK: %[[TERMS:.*]] = fact.mul %[[SPLIT]], %[[SCALES]]
  // CHECK: %[[ADDED:.*]] = fact.reduce sum %[[TERMS]] dims [1] : (tensor<2x2x1x8xf32>) -> tensor<2x1x8xf32>
  // CHECK: %[[SUM:.*]] = fact.mul %[[ADDED]], %[[COUNT]]
  // CHECK: %[[B:.*]] = fact.cast %arg2
  // CHECK: %[[BIAS:.*]] = fact.mul %[[B]], %[[COUNT]]
  // CHECK: fact.add %[[SUM]], %[[BIAS]]
  %0 = fact.matmul %x, %w transpose_b : (tensor<2x9x16xf16>, tensor<8x16xf16>) -> tensor<2x9x8xf16>
  %1 = fact.add %0, %b : (tensor<2x9x8xf16>, tensor<8xf16>) -> tensor<2x9x8xf16>
  %2 = fact.reduce sum %1 dims [1] : (tensor<2x9x8xf16>) -> tensor<2x8xf16>
  return %2 : tensor<2x8xf16>
}

// A mean needs no count. What is not stored as a product is strict f32.
// CHECK-LABEL: func @mean_of_rows
func.func @mean_of_rows(%x: tensor<4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<1x8xf32> {
  // CHECK-NEXT: %[[MEAN:.*]] = fact.reduce mean %arg0 dims [0] keep : (tensor<4x16xf32>) -> tensor<1x16xf32>
  // CHECK: fact.mul
  // CHECK: %[[SUM:.*]] = fact.reduce sum
  // CHECK: fact.add {{.*}}, %arg2
  %0 = fact.matmul %x, %w transpose_b tf32 : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = fact.reduce mean %1 dims [0] keep : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// A weight is not widened.
fact.weight @w : tensor<8x16xbf16>
// CHECK-LABEL: func @rows_by_weight
func.func @rows_by_weight(%x: tensor<8x16xbf16>) -> tensor<8xbf16> {
  // CHECK: %[[MEAN:.*]] = fact.reduce mean %{{.*}} dims [0] keep : (tensor<8x16xf32>) -> tensor<1x16xf32>
  // CHECK: fact.matmul %{{.*}}, %{{.*}} transpose_b : (tensor<2x16xbf16>, tensor<8x16xbf16>) -> tensor<2x8xbf16>
  // CHECK: fact.reduce sum %{{.*}} dims [0] : (tensor<2x1x8xf32>) -> tensor<1x8xf32>
  %w = fact.get_weight @w : tensor<8x16xbf16>
  %0 = fact.matmul %x, %w transpose_b : (tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<8x8xbf16>
  %1 = fact.reduce mean %0 dims [0] : (tensor<8x8xbf16>) -> tensor<8xbf16>
  return %1 : tensor<8xbf16>
}

// One matrix for all batches on the left: their vectors are rows. TF32 would
// round the sums.
// CHECK-LABEL: func @swapped
func.func @swapped(%w: tensor<8x16xf32>, %x: tensor<5x16x9xf32>) -> tensor<5x8xf32> {
  // CHECK: %[[SUMS:.*]] = fact.reduce sum %arg1 dims [2] keep : (tensor<5x16x9xf32>) -> tensor<5x16x1xf32>
  // CHECK: %[[ROWS:.*]] = fact.reshape %[[SUMS]] : (tensor<5x16x1xf32>) -> tensor<5x1x16xf32>
  // CHECK: %[[Y:.*]] = fact.matmul %[[ROWS]], %arg0 transpose_b : (tensor<5x1x16xf32>, tensor<8x16xf32>) -> tensor<5x1x8xf32>
  // CHECK: fact.reshape %[[Y]] : (tensor<5x1x8xf32>) -> tensor<5x8xf32>
  %0 = fact.matmul %w, %x tf32 : (tensor<8x16xf32>, tensor<5x16x9xf32>) -> tensor<5x8x9xf32>
  %1 = fact.reduce sum %0 dims [2] : (tensor<5x8x9xf32>) -> tensor<5x8xf32>
  return %1 : tensor<5x8xf32>
}

// Rows, columns and batches: both factors are reduced, and then the batches.
// CHECK-LABEL: func @all
func.func @all(%a: tensor<3x4x16xf64>, %b: tensor<3x16x8xf64>) -> tensor<f64> {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[A:.*]] = fact.reduce sum %arg0 dims [1] keep : (tensor<3x4x16xf64>) -> tensor<3x1x16xf64>
  // CHECK-DAG: %[[B:.*]] = fact.reduce sum %arg1 dims [2] keep : (tensor<3x16x8xf64>) -> tensor<3x16x1xf64>
  // CHECK-DAG: %[[ROW:.*]] = fact.reshape %[[B]] : (tensor<3x16x1xf64>) -> tensor<3x1x16xf64>
  // CHECK: %[[ELEMENTS:.*]] = fact.mul %[[A]], %[[ROW]]
  // CHECK: fact.reduce sum %[[ELEMENTS]]
  %0 = fact.matmul %a, %b : (tensor<3x4x16xf64>, tensor<3x16x8xf64>) -> tensor<3x4x8xf64>
  %1 = fact.reduce sum %0 dims [0, 1, 2] : (tensor<3x4x8xf64>) -> tensor<f64>
  return %1 : tensor<f64>
}

// Two products, a factor of each row, and a summand of each row, which counts
// eight times.
// CHECK-LABEL: func @terms
func.func @terms(%x: tensor<4x16xf32>, %u: tensor<8x16xf32>, %w: tensor<8x16xf32>, %s: tensor<4x1xf32>, %r: tensor<4x1xf32>) -> tensor<4x1xf32> {
  // CHECK-NOT: fact.matmul
  // CHECK-DAG: %[[COUNT:.*]] = fact.constant dense<8.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[ADDED:.*]] = fact.mul %arg4, %[[COUNT]]
  // CHECK-DAG: %[[BOTH:.*]] = fact.sub
  // CHECK-DAG: %[[SCALED:.*]] = fact.div %[[BOTH]], %arg3
  // CHECK: %[[RESULT:.*]] = fact.add %[[SCALED]], %[[ADDED]]
  // CHECK-NEXT: return %[[RESULT]]
  %0 = fact.matmul %x, %u transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = fact.matmul %x, %w transpose_b : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %2 = fact.sub %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = fact.div %2, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %4 = fact.add %3, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %5 = fact.reduce sum %4 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %5 : tensor<4x1xf32>
}

// (a b) v and its transpose, (v a) b, and a product of three by cost.
// CHECK-LABEL: func @chains
func.func @chains(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %v: tensor<64x1xf32>) -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<1x64xf32>) {
  // CHECK-DAG: %[[BV:.*]] = fact.matmul %arg1, %arg2 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  // CHECK-DAG: %[[ABV:.*]] = fact.matmul %arg0, %[[BV]] :
  // CHECK-DAG: %[[AV:.*]] = fact.matmul %arg0, %arg2 transpose_a tf32
  // CHECK-DAG: %[[BAV:.*]] = fact.matmul %arg1, %[[AV]] transpose_a tf32
  // CHECK-DAG: %[[VA:.*]] = fact.matmul %arg2, %arg0 transpose_a :
  // CHECK-DAG: %[[VAB:.*]] = fact.matmul %[[VA]], %arg1 transpose_b
  // CHECK: return %[[ABV]], %[[BAV]], %[[VAB]]
  %0 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = fact.matmul %0, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  %2 = fact.matmul %a, %b tf32 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = fact.matmul %2, %v transpose_a tf32 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  %4 = fact.matmul %a, %b transpose_b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = fact.matmul %v, %4 transpose_a : (tensor<64x1xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  return %1, %3, %5 : tensor<64x1xf32>, tensor<64x1xf32>, tensor<1x64xf32>
}

// Attention without a softmax; the scale moves behind both products.
// CHECK-LABEL: func @linear_attention
func.func @linear_attention(%q: tensor<2x512x16xbf16>, %k: tensor<2x512x16xbf16>, %v: tensor<2x512x16xbf16>) -> tensor<2x512x16xbf16> {
  // CHECK: %[[KV:.*]] = fact.matmul %arg1, %arg2 transpose_a : (tensor<2x512x16xbf16>, tensor<2x512x16xbf16>) -> tensor<2x16x16xbf16>
  // CHECK: %[[QKV:.*]] = fact.matmul %arg0, %[[KV]]
  // CHECK: fact.mul %[[QKV]], %{{.*}} : (tensor<2x512x16xbf16>, tensor<f32>) -> tensor<2x512x16xbf16>
  %s = fact.constant dense<0.3> : tensor<f32>
  %0 = fact.matmul %q, %k transpose_b : (tensor<2x512x16xbf16>, tensor<2x512x16xbf16>) -> tensor<2x512x512xbf16>
  %1 = fact.mul %0, %s : (tensor<2x512x512xbf16>, tensor<f32>) -> tensor<2x512x512xbf16>
  %2 = fact.matmul %1, %v : (tensor<2x512x512xbf16>, tensor<2x512x16xbf16>) -> tensor<2x512x16xbf16>
  return %2 : tensor<2x512x16xbf16>
}

// Two weights are multiplied at load if their product is smaller.
fact.weight @up : tensor<256x32xf32>
fact.weight @down : tensor<32x256xf32>
// CHECK-LABEL: func @weights
func.func @weights(%x: tensor<8x32xf32>, %y: tensor<8x256xf32>) -> (tensor<8x32xf32>, tensor<8x256xf32>) {
  // CHECK-DAG: %[[UP:.*]] = fact.get_weight @up
  // CHECK-DAG: %[[DOWN:.*]] = fact.get_weight @down
  // CHECK-DAG: %[[BOTH:.*]] = fact.matmul %[[UP]], %[[DOWN]] transpose_a transpose_b : (tensor<256x32xf32>, tensor<32x256xf32>) -> tensor<32x32xf32>
  // CHECK-DAG: %[[LEFT:.*]] = fact.matmul %arg0, %[[BOTH]] : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
  // CHECK-DAG: %[[IN:.*]] = fact.matmul %arg1, %[[DOWN]] transpose_b : (tensor<8x256xf32>, tensor<32x256xf32>) -> tensor<8x32xf32>
  // CHECK-DAG: %[[OUT:.*]] = fact.matmul %[[IN]], %[[UP]] transpose_b : (tensor<8x32xf32>, tensor<256x32xf32>) -> tensor<8x256xf32>
  // CHECK: return %[[LEFT]], %[[OUT]]
  %up = fact.get_weight @up : tensor<256x32xf32>
  %down = fact.get_weight @down : tensor<32x256xf32>
  %0 = fact.matmul %x, %up transpose_b : (tensor<8x32xf32>, tensor<256x32xf32>) -> tensor<8x256xf32>
  %1 = fact.matmul %0, %down transpose_b : (tensor<8x256xf32>, tensor<32x256xf32>) -> tensor<8x32xf32>
  %2 = fact.matmul %down, %up transpose_a transpose_b : (tensor<32x256xf32>, tensor<256x32xf32>) -> tensor<256x256xf32>
  %3 = fact.matmul %y, %2 : (tensor<8x256xf32>, tensor<256x256xf32>) -> tensor<8x256xf32>
  return %1, %3 : tensor<8x32xf32>, tensor<8x256xf32>
}

// A mean over images after a convolution with 1x1 filters: of the images.
// CHECK-LABEL: func @images
func.func @images(%x: tensor<2x16x25xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<2x8x1x1xf32> {
  // CHECK: %[[MEAN:.*]] = fact.reduce mean %arg0 dims [2] keep : (tensor<2x16x25xf32>) -> tensor<2x16x1xf32>
  // CHECK: %[[ROWS:.*]] = fact.reshape %[[MEAN]] : (tensor<2x16x1xf32>) -> tensor<2x1x16xf32>
  // CHECK: %[[Y:.*]] = fact.matmul %[[ROWS]], %arg1 transpose_b : (tensor<2x1x16xf32>, tensor<8x16xf32>) -> tensor<2x1x8xf32>
  // CHECK: fact.add %[[Y]], %arg2
  %0 = fact.matmul %x, %w transpose_a transpose_b : (tensor<2x16x25xf32>, tensor<8x16xf32>) -> tensor<2x25x8xf32>
  %1 = fact.add %0, %b : (tensor<2x25x8xf32>, tensor<8xf32>) -> tensor<2x25x8xf32>
  %2 = fact.permute %1 [0, 2, 1] : (tensor<2x25x8xf32>) -> tensor<2x8x25xf32>
  %3 = fact.reshape %2 : (tensor<2x8x25xf32>) -> tensor<2x8x5x5xf32>
  %4 = fact.reduce mean %3 dims [2, 3] keep : (tensor<2x8x5x5xf32>) -> tensor<2x8x1x1xf32>
  return %4 : tensor<2x8x1x1xf32>
}

// A pool of columns, and a sum over heads.
// CHECK-LABEL: func @parts
func.func @parts(%x: tensor<4x16xbf16>, %w: tensor<16x16xbf16>, %b: tensor<16xbf16>, %y: tensor<2x3x16xf32>, %u: tensor<16x12xf32>) -> (tensor<4x1x2xbf16>, tensor<2x3x4xf32>) {
  // CHECK-DAG: %[[W:.*]] = fact.cast %arg1 : (tensor<16x16xbf16>) -> tensor<16x16xf32>
  // CHECK-DAG: %[[BLOCKS:.*]] = fact.reshape %[[W]] : (tensor<16x16xf32>) -> tensor<2x8x16xf32>
  // CHECK-DAG: %[[MEANS:.*]] = fact.reduce mean %[[BLOCKS]] dims [1] : (tensor<2x8x16xf32>) -> tensor<2x16xf32>
  // CHECK-DAG: %[[POOLED:.*]] = fact.matmul %arg0, %{{.*}} transpose_b : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<4x4xbf16>
  // CHECK-DAG: fact.reduce sum %{{.*}} dims [1] : (tensor<4x2x2xf32>) -> tensor<4x2xf32>
  // CHECK-DAG: fact.reduce mean %{{.*}} dims [1] : (tensor<2x8xf32>) -> tensor<2xf32>
  // CHECK-DAG: %[[HEADS:.*]] = fact.reshape %arg4 : (tensor<16x12xf32>) -> tensor<16x3x4xf32>
  // CHECK-DAG: %[[SUM:.*]] = fact.reduce sum %[[HEADS]] dims [1] : (tensor<16x3x4xf32>) -> tensor<16x4xf32>
  // CHECK-DAG: fact.matmul %arg3, %[[SUM]] : (tensor<2x3x16xf32>, tensor<16x4xf32>) -> tensor<2x3x4xf32>
  %0 = fact.matmul %x, %w transpose_b : (tensor<4x16xbf16>, tensor<16x16xbf16>) -> tensor<4x16xbf16>
  %1 = fact.add %0, %b : (tensor<4x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
  %2 = fact.reshape %1 : (tensor<4x16xbf16>) -> tensor<4x1x2x8xbf16>
  %3 = fact.reduce mean %2 dims [3] : (tensor<4x1x2x8xbf16>) -> tensor<4x1x2xbf16>
  %4 = fact.matmul %y, %u : (tensor<2x3x16xf32>, tensor<16x12xf32>) -> tensor<2x3x12xf32>
  %5 = fact.reshape %4 : (tensor<2x3x12xf32>) -> tensor<2x3x3x4xf32>
  %6 = fact.permute %5 [0, 2, 1, 3] : (tensor<2x3x3x4xf32>) -> tensor<2x3x3x4xf32>
  %7 = fact.reduce sum %6 dims [1] : (tensor<2x3x3x4xf32>) -> tensor<2x3x4xf32>
  return %3, %7 : tensor<4x1x2xbf16>, tensor<2x3x4xf32>
}
