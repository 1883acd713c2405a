// Problems of regions that were fused by hand: the columns of all results of a
// grouped GEMM count, and a mask is told from causality.

// RUN: rm -rf %t
// RUN: fact-compile %s --target=host --until=bundle --bundle=%t --candidates=1
// RUN: %python -c "import json, sys; [print(k['rule'], json.dumps(k['problem'])) for k in json.load(open(sys.argv[1]))['kernels']]" %t/bundle.json | FileCheck %s

module attributes {fact.target = #fact.machine<"host">} {
func.func @main(%x: tensor<16x64xf32>, %q: tensor<32x64xf32>, %k: tensor<8x64xf32>, %b: tensor<32xf32>,
                %h: tensor<1x2x4x8xf32>, %m: tensor<4x4xf32>, %c: tensor<4x4xi1>)
    -> (tensor<16x32xf32>, tensor<16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4xf32>, tensor<4x4xi1>) {
  // CHECK: grouped_gemm {"dtype": "f32", "extents": {"batch": 1, "k": 64, "m": 16, "n": 40, "tensors": 1}, "format": 2, "ops": "matmul.nt,add,matmul.nt"}
  %0:2 = fact.fused "grouped_gemm" ins(%x, %q, %k, %b : tensor<16x64xf32>, tensor<32x64xf32>, tensor<8x64xf32>, tensor<32xf32>) {
  ^bb0(%X: tensor<16x64xf32>, %Q: tensor<32x64xf32>, %K: tensor<8x64xf32>, %B: tensor<32xf32>):
    %1 = fact.matmul %X, %Q transpose_b : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
    %2 = fact.add %1, %B : (tensor<16x32xf32>, tensor<32xf32>) -> tensor<16x32xf32>
    %3 = fact.matmul %X, %K transpose_b : (tensor<16x64xf32>, tensor<8x64xf32>) -> tensor<16x8xf32>
    fact.yield %2, %3 : tensor<16x32xf32>, tensor<16x8xf32>
  } : tensor<16x32xf32>, tensor<16x8xf32>

  // CHECK: attention {{.*}} "ops": "causal_attention"}
  %4 = fact.fused "attention" ins(%h : tensor<1x2x4x8xf32>) {
  ^bb0(%H: tensor<1x2x4x8xf32>):
    %1 = fact.attention %H, %H, %H causal scale 0.5 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    fact.yield %1 : tensor<1x2x4x8xf32>
  } : tensor<1x2x4x8xf32>

  // CHECK: attention {{.*}} "ops": "masked_attention"}
  %5 = fact.fused "attention" ins(%h, %m : tensor<1x2x4x8xf32>, tensor<4x4xf32>) {
  ^bb0(%H: tensor<1x2x4x8xf32>, %M: tensor<4x4xf32>):
    %1 = fact.attention %H, %H, %H mask %M scale 0.5 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4x4xf32>) -> tensor<1x2x4x8xf32>
    fact.yield %1 : tensor<1x2x4x8xf32>
  } : tensor<1x2x4x8xf32>

  // CHECK: rowwise {"dtype": "f32", "extents": {"columns": 4, "rows": 4, "tensors": 1}, "format": 2, "ops": "reduce.sum.rows"}
  %6 = fact.fused "rowwise" ins(%m : tensor<4x4xf32>) {
  ^bb0(%M: tensor<4x4xf32>):
    %1 = fact.reduce sum %M dims [1] : (tensor<4x4xf32>) -> tensor<4xf32>
    fact.yield %1 : tensor<4xf32>
  } : tensor<4xf32>

  // The first floating-point type, wherever it is.
  // CHECK: pointwise {"dtype": "f32", "extents": {"elements": 16, "tensors": 3}, "format": 2, "ops": "compare,and"}
  %7 = fact.fused "pointwise" ins(%c, %m : tensor<4x4xi1>, tensor<4x4xf32>) {
  ^bb0(%C: tensor<4x4xi1>, %M: tensor<4x4xf32>):
    %1 = fact.compare lt %M, %M : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %2 = fact.and %C, %1 : (tensor<4x4xi1>, tensor<4x4xi1>) -> tensor<4x4xi1>
    fact.yield %2 : tensor<4x4xi1>
  } : tensor<4x4xi1>
  return %0#0, %0#1, %4, %5, %6, %7 : tensor<16x32xf32>, tensor<16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4xf32>, tensor<4x4xi1>
}
}
