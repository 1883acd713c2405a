// RUN: fact-opt %s | fact-opt | FileCheck %s
// RUN: fact-opt --mlir-print-op-generic %s | fact-opt | FileCheck %s

// CHECK: fact.weight @w : tensor<16x8xf32>
fact.weight @w : tensor<16x8xf32>
// CHECK: fact.weight @mask baked = dense<true> : tensor<4x4xi1>
fact.weight @mask baked = dense<true> : tensor<4x4xi1>

// CHECK-LABEL: func @contractions
func.func @contractions(%x: tensor<2x4x8xf32>, %q: tensor<1x4x5x8xf16>, %k: tensor<1x2x6x8xf16>,
                        %m: tensor<5x6xf16>) -> tensor<2x4x16xf32> {
  %w = fact.get_weight @w : tensor<16x8xf32>
  // CHECK: fact.matmul %{{.*}}, %{{.*}} transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %0 = fact.matmul %x, %w transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  // CHECK: fact.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} scale 2.500000e-01
  %1 = fact.attention %q, %k, %k mask %m scale 0.25 : (tensor<1x4x5x8xf16>, tensor<1x2x6x8xf16>, tensor<1x2x6x8xf16>, tensor<5x6xf16>) -> tensor<1x4x5x8xf16>
  // CHECK: fact.attention %{{.*}}, %{{.*}}, %{{.*}} causal scale 1.000000e+00
  %2 = fact.attention %q, %k, %k causal scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x2x6x8xf16>, tensor<1x2x6x8xf16>) -> tensor<1x4x5x8xf16>
  return %0 : tensor<2x4x16xf32>
}

// CHECK-LABEL: func @pointwise
func.func @pointwise(%x: tensor<4x8xbf16>, %v: tensor<8xbf16>, %c: tensor<4x1xi1>) -> tensor<4x8xbf16> {
  %0 = fact.add %x, %v : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  // CHECK: fact.gelu %{{.*}} approximate tanh
  %1 = fact.gelu %0 approximate tanh : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: fact.gelu %{{[0-9]+}} : (tensor<4x8xbf16>)
  %2 = fact.gelu %1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: fact.clamp %{{.*}} min -1.000000e+00 max 2.000000e+00
  %3 = fact.clamp %2 min -1.0 max 2.0 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  // CHECK: fact.compare lt
  %4 = fact.compare lt %3, %v : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xi1>
  // CHECK: fact.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x1xi1>
  %5 = fact.select %c, %3, %v : (tensor<4x1xi1>, tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  // A scalar may keep the precision of the arithmetic.
  %6 = fact.constant dense<1.702> : tensor<f32>
  // CHECK: fact.mul %{{.*}}, %{{.*}} : (tensor<4x8xbf16>, tensor<f32>) -> tensor<4x8xbf16>
  %7 = fact.mul %5, %6 : (tensor<4x8xbf16>, tensor<f32>) -> tensor<4x8xbf16>
  return %7 : tensor<4x8xbf16>
}

// CHECK-LABEL: func @rows
func.func @rows(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x1xf32> {
  // CHECK: fact.norm layer %{{.*}} weight %{{.*}} bias %{{.*}} eps 1.000000e-05
  %0 = fact.norm layer %x weight %w bias %w eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: fact.norm rms %{{.*}} eps {{.*}} dims 2
  %1 = fact.norm rms %0 eps 1.0e-6 dims 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: fact.softmax %{{.*}} dim 1
  %2 = fact.softmax %1 dim 1 : tensor<4x8xf32>
  // CHECK: fact.reduce argmax %{{.*}} dims [1] : (tensor<4x8xf32>) -> tensor<4xi64>
  %i = fact.reduce argmax %2 dims [1] : (tensor<4x8xf32>) -> tensor<4xi64>
  // CHECK: fact.gather %{{.*}}, %{{.*}} dim 0 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %g = fact.gather %2, %i dim 0 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  // CHECK: fact.rotary %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>)
  %r = fact.rotary %g, %2, %w : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: fact.rotary %{{.*}}, %{{.*}}, %{{.*}} interleaved :
  %n = fact.rotary %r, %2, %w interleaved : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: fact.reduce mean %{{.*}} dims [1] keep
  %3 = fact.reduce mean %2 dims [1] keep : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %3 : tensor<4x1xf32>
}

// CHECK-LABEL: func @scans
func.func @scans(%x: tensor<4x8xf32>, %n: tensor<4x8xi64>, %u: tensor<4x2x3xf32>, %i: tensor<2x3xi32>) {
  // CHECK: fact.scan sum %{{.*}} dim 1 : tensor<4x8xf32>
  %0 = fact.scan sum %x dim 1 : tensor<4x8xf32>
  // CHECK: fact.scan prod %{{.*}} dim 0 : tensor<4x8xi64>
  %1 = fact.scan prod %n dim 0 : tensor<4x8xi64>
  // CHECK: fact.scan max
  %2 = fact.scan max %x dim 1 : tensor<4x8xf32>
  // CHECK: fact.scan min
  %3 = fact.scan min %x dim 1 : tensor<4x8xf32>
  // CHECK: fact.scan logsumexp
  %4 = fact.scan logsumexp %x dim 1 : tensor<4x8xf32>
  // CHECK: fact.argsort %{{.*}} dim 1 : (tensor<4x8xf32>) -> tensor<4x8xi64>
  %5 = fact.argsort %x dim 1 : (tensor<4x8xf32>) -> tensor<4x8xi64>
  // CHECK: fact.argsort %{{.*}} dim 0 descending count 3 : (tensor<4x8xi64>) -> tensor<3x8xi64>
  %6 = fact.argsort %n dim 0 descending count 3 : (tensor<4x8xi64>) -> tensor<3x8xi64>
  // CHECK: fact.scatter set %{{.*}}, %{{.*}}, %{{.*}} dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  %7 = fact.scatter set %x, %i, %u dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  // CHECK: fact.scatter sum
  %8 = fact.scatter sum %7, %i, %u dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  // CHECK: fact.scatter prod
  %9 = fact.scatter prod %8, %i, %u dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  // CHECK: fact.scatter max
  %10 = fact.scatter max %9, %i, %u dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  // CHECK: fact.scatter min
  %11 = fact.scatter min %10, %i, %u dim 1 : (tensor<4x8xf32>, tensor<2x3xi32>, tensor<4x2x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func @regions
func.func @regions(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  // CHECK: fact.prepare {
  %p = fact.prepare {
    %0 = fact.get_weight @w : tensor<16x8xf32>
    %1 = fact.neg %0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    fact.yield %1 : tensor<16x8xf32>
  } : tensor<16x8xf32>
  // CHECK: fact.fused "gemm_epilogue" ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<16x8xf32>) {
  %h = fact.fused "gemm_epilogue" ins(%x, %p : tensor<4x8xf32>, tensor<16x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>):
    %0 = fact.matmul %a, %b transpose_b : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    fact.yield %0 : tensor<4x16xf32>
  // CHECK: } strategy(<adapt, "gemm_epilogue/f32/host">)
  // CHECK-SAME: space(#fact.host_gemm_space<micro = [8x8, 6x16], rows = [64], columns = [128]>)
  // CHECK-SAME: schedule(#fact.host_gemm<micro = 6x16, rows = 60, columns = 128>)
  } strategy(<adapt, "gemm_epilogue/f32/host">)
    space(#fact.host_gemm_space<micro = [8x8, 6x16], rows = [64], columns = [128]>)
    schedule(#fact.host_gemm<micro = 6x16, rows = 60, columns = 128>) : tensor<4x16xf32>
  return %h : tensor<4x16xf32>
}

// CHECK: func private @schedules
func.func private @schedules() attributes {
  // CHECK-SAME: #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>
  a = #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>,
  // CHECK-SAME: #fact.sm90_attention<tile = 128x64, kernel = cooperative, stages = 4>
  b = #fact.sm90_attention<tile = 128x64, kernel = cooperative, stages = 4>,
  // CHECK-SAME: #fact.cuda_row<threads = 128, rows = 1>
  c = #fact.cuda_row<threads = 128, rows = 1>,
  // CHECK-SAME: #fact.cuda_pointwise<threads = 256, vector = 8>
  d = #fact.cuda_pointwise<threads = 256, vector = 8>,
  // CHECK-SAME: #fact.machine<"h200">
  e = #fact.machine<"h200">}

// A region has names of its own.
// CHECK-LABEL: func @own_names
func.func @own_names(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: fact.fused "pointwise" ins(%arg0 : tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<4xf32>):
  // CHECK-NEXT: fact.neg %[[X]]
  %y = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %y = fact.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %y : tensor<4xf32>
  } : tensor<4xf32>
  // CHECK: fact.prepare {
  %z = fact.prepare {
    %y = fact.constant dense<0.0> : tensor<4xf32>
    fact.yield %y : tensor<4xf32>
  } : tensor<4xf32>
  %0 = fact.add %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
