// RUN: fact-opt --canonicalize %s | FileCheck %s

// What computes nothing is nothing, whatever op it is.
// CHECK-LABEL: func @empty_results
func.func @empty_results(%x: tensor<0x8xf32>, %w: tensor<4x8xf32>, %i: tensor<0xi64>, %q: tensor<0x2x5x8xf32>) -> (tensor<0x4xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0xf32>, tensor<0x2x5x8xf32>, tensor<4x0xf32>) {
  // CHECK-DAG: %[[MATMUL:.*]] = fact.constant dense<> : tensor<0x4xf32>
  // CHECK-DAG: %[[ROWS:.*]] = fact.constant dense<> : tensor<0x8xf32>
  // CHECK-DAG: %[[VECTOR:.*]] = fact.constant dense<> : tensor<0xf32>
  // CHECK-DAG: %[[ATTENTION:.*]] = fact.constant dense<> : tensor<0x2x5x8xf32>
  // CHECK-DAG: %[[SLICE:.*]] = fact.constant dense<> : tensor<4x0xf32>
  // CHECK-NOT: fact.{{matmul|exp|softmax|norm|gather|reduce|attention|slice}}
  %0 = fact.matmul %x, %w transpose_b : (tensor<0x8xf32>, tensor<4x8xf32>) -> tensor<0x4xf32>
  %1 = fact.exp %x : (tensor<0x8xf32>) -> tensor<0x8xf32>
  %2 = fact.softmax %1 dim 1 : tensor<0x8xf32>
  %3 = fact.norm layer %2 eps 1.0e-5 : (tensor<0x8xf32>) -> tensor<0x8xf32>
  %4 = fact.gather %w, %i dim 0 : (tensor<4x8xf32>, tensor<0xi64>) -> tensor<0x8xf32>
  %5 = fact.reduce max %x dims [1] : (tensor<0x8xf32>) -> tensor<0xf32>
  %6 = fact.attention %q, %q, %q causal scale 1.0 : (tensor<0x2x5x8xf32>, tensor<0x2x5x8xf32>, tensor<0x2x5x8xf32>) -> tensor<0x2x5x8xf32>
  %7 = fact.slice %w dim 1 start 3 : (tensor<4x8xf32>) -> tensor<4x0xf32>
  // CHECK: return %[[MATMUL]], %[[ROWS]], %[[ROWS]], %[[ROWS]], %[[VECTOR]], %[[ATTENTION]], %[[SLICE]]
  return %0, %2, %3, %4, %5, %6, %7 : tensor<0x4xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0xf32>, tensor<0x2x5x8xf32>, tensor<4x0xf32>
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<3x0xf32>, %n: tensor<3x0xi64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<3xi64>) {
  // CHECK-DAG: %[[SUM:.*]] = fact.constant dense<0.000000e+00> : tensor<3xf32>
  // CHECK-DAG: %[[PROD:.*]] = fact.constant dense<1.000000e+00> : tensor<3xf32>
  // CHECK-DAG: %[[MEAN:.*]] = fact.constant dense<0x7FC00000> : tensor<3x1xf32>
  // CHECK-DAG: %[[COUNT:.*]] = fact.constant dense<1> : tensor<3xi64>
  %0 = fact.reduce sum %x dims [1] : (tensor<3x0xf32>) -> tensor<3xf32>
  %1 = fact.reduce prod %x dims [1] : (tensor<3x0xf32>) -> tensor<3xf32>
  %2 = fact.reduce mean %x dims [1] keep : (tensor<3x0xf32>) -> tensor<3x1xf32>
  %3 = fact.reduce prod %n dims [1] : (tensor<3x0xi64>) -> tensor<3xi64>
  // CHECK: return %[[SUM]], %[[PROD]], %[[MEAN]], %[[COUNT]]
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<3xi64>
}

// A sum of no products; then what follows is computed.
// CHECK-LABEL: func @matmul
func.func @matmul(%x: tensor<3x0xf32>, %y: tensor<0x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: %[[ZERO:.*]] = fact.constant dense<0.000000e+00> : tensor<3x4xf32>
  // CHECK: fact.add %{{.*}}%[[ZERO]]
  %0 = fact.matmul %x, %y : (tensor<3x0xf32>, tensor<0x4xf32>) -> tensor<3x4xf32>
  %1 = fact.add %0, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// No index is inside.
// CHECK-LABEL: func @gather
func.func @gather(%x: tensor<0x4xf32>, %n: tensor<0x4xi64>, %i: tensor<2xi64>) -> (tensor<2x4xf32>, tensor<2x4xi64>) {
  // CHECK-DAG: fact.constant dense<0x7FC00000> : tensor<2x4xf32>
  // CHECK-DAG: fact.constant dense<0> : tensor<2x4xi64>
  %0 = fact.gather %x, %i dim 0 : (tensor<0x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %1 = fact.gather %n, %i dim 0 : (tensor<0x4xi64>, tensor<2xi64>) -> tensor<2x4xi64>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xi64>
}

// Without keys all results are 0; with keys of no elements all keys count the same.
// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x0x8xf32>, %n: tensor<1x2x3x0xf32>, %m: tensor<1x2x5x0xf32>, %v: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x4xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = fact.constant dense<0.000000e+00> : tensor<1x2x3x8xf32>
  // CHECK-DAG: %[[QUERY:.*]] = fact.constant dense<0.000000e+00> : tensor<1x2x3x1xf32>
  // CHECK-DAG: %[[KEY:.*]] = fact.constant dense<0.000000e+00> : tensor<1x2x5x1xf32>
  // CHECK: %[[MEAN:.*]] = fact.attention %[[QUERY]], %[[KEY]], %arg4 causal scale 1.000000e+00
  // CHECK: return %[[ZERO]], %[[MEAN]]
  %0 = fact.attention %q, %k, %k scale 1.0 : (tensor<1x2x3x8xf32>, tensor<1x2x0x8xf32>, tensor<1x2x0x8xf32>) -> tensor<1x2x3x8xf32>
  %1 = fact.attention %n, %m, %v causal scale 1.0 : (tensor<1x2x3x0xf32>, tensor<1x2x5x0xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
  return %0, %1 : tensor<1x2x3x8xf32>, tensor<1x2x3x4xf32>
}

// An empty piece leaves a concatenation.
// CHECK-LABEL: func @concat
func.func @concat(%x: tensor<2x4xf32>, %y: tensor<0x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = fact.concat %y, %x dim 0 : (tensor<0x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func @scans
func.func @scans(%x: tensor<4x0xf32>, %y: tensor<4x1xf32>, %i: tensor<0xi64>, %s: tensor<4x8xf32>) -> (tensor<4x0xf32>, tensor<4x0xi64>, tensor<4x0xi64>, tensor<4x8xf32>) {
  // CHECK-DAG: %[[SCAN:.*]] = fact.constant dense<> : tensor<4x0xf32>
  // CHECK-DAG: %[[PLACES:.*]] = fact.constant dense<> : tensor<4x0xi64>
  %0 = fact.scan sum %x dim 1 : tensor<4x0xf32>
  %1 = fact.argsort %x dim 1 : (tensor<4x0xf32>) -> tensor<4x0xi64>
  %2 = fact.argsort %y dim 1 count 0 : (tensor<4x1xf32>) -> tensor<4x0xi64>
  %3 = fact.scatter sum %s, %i, %x dim 1 : (tensor<4x8xf32>, tensor<0xi64>, tensor<4x0xf32>) -> tensor<4x8xf32>
  // CHECK: return %[[SCAN]], %[[PLACES]], %[[PLACES]], %arg3
  return %0, %1, %2, %3 : tensor<4x0xf32>, tensor<4x0xi64>, tensor<4x0xi64>, tensor<4x8xf32>
}
