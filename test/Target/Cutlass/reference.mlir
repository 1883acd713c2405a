// RUN: fact-translate --fact-to-cutlass-reference -split-input-file %s | FileCheck %s

// A product is a launch, what follows a function of an element's index. Scalar
// definitions are the exact ones, and the 16-bit result stays f32.

// CHECK:      namespace fact::gemm_epilogue_0_reference {
// CHECK:        float *value0;
// CHECK-NEXT:   float *result0;
// CHECK:      __device__ float value1(const Values &v, int64_t i) {
// CHECK-NEXT:   const float x0 = v.value0[i];
// CHECK-NEXT:   const float x1 = convert<float>(v.argument2[i % 64]);
// CHECK:      __device__ float value2(const Values &v, int64_t i) {
// CHECK-NEXT:   const float x0 = value1(v, i);
// CHECK:        tanhf(
// CHECK:        v.result0[i] = float(value2(v, i));
// CHECK:        reference::matmul(v.argument0, v.argument1, v.value0,
// CHECK-NEXT:                     {16, 64, 32, 8, 32, 1, 1, 32, 1, {8}, {512}, {0}}, stream);
// CHECK:      FACT_REFERENCE(gemm_epilogue_0_reference, Reference, 4, 32768)
func.func @gemm(%x: tensor<8x16x32xbf16>, %w: tensor<64x32xbf16>, %b: tensor<64xbf16>) -> tensor<8x16x64xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<8x16x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>) {
  ^bb0(%a: tensor<8x16x32xbf16>, %c: tensor<64x32xbf16>, %d: tensor<64xbf16>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<8x16x32xbf16>, tensor<64x32xbf16>) -> tensor<8x16x64xbf16>
    %2 = fact.add %1, %d : (tensor<8x16x64xbf16>, tensor<64xbf16>) -> tensor<8x16x64xbf16>
    %3 = fact.gelu %2 approximate tanh : (tensor<8x16x64xbf16>) -> tensor<8x16x64xbf16>
    fact.yield %3 : tensor<8x16x64xbf16>
  } : tensor<8x16x64xbf16>
  return %0 : tensor<8x16x64xbf16>
}

// -----

// An f32 result is computed and returned in f64; all other kinds of ops.

// CHECK:        double *value{{[0-9]+}};
// CHECK:        double *result0;
// CHECK-NEXT:   int64_t *result1;
// CHECK:        if (at < 4)
// CHECK:        exp(
// CHECK:        static const double elements[] = {
// CHECK:        reference::softmax(
// CHECK:        reference::norm<false>(
// CHECK:        reference::reduce<reference::Max, double>(
// CHECK-NEXT:                     {4, 16, 1, 1, {4}, {16}, {16}, {1}}, stream);
// CHECK:        reference::reduce<reference::Sum, int64_t>(v.argument2
func.func @kinds(%x: tensor<4x8xf32>, %w: tensor<16xf32>, %i: tensor<4x8xi64>) -> (tensor<4xf32>, tensor<8xi64>) {
  %0:2 = fact.fused "pointwise" ins(%x, %w, %i : tensor<4x8xf32>, tensor<16xf32>, tensor<4x8xi64>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<16xf32>, %c: tensor<4x8xi64>):
    %1 = fact.concat %a, %a dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    %p = fact.permute %1 [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %j = fact.concat %p, %p dim 1 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
    %l = fact.slice %j dim 1 start 2 : (tensor<16x8xf32>) -> tensor<16x4xf32>
    %q = fact.permute %l [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
    %2 = fact.exp %q : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %k = fact.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
    %3 = fact.mul %2, %k : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    %4 = fact.softmax %3 dim 0 : tensor<4x16xf32>
    %5 = fact.norm rms %4 weight %b eps 1.0e-06 : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %6 = fact.reduce max %5 dims [1] : (tensor<4x16xf32>) -> tensor<4xf32>
    %7 = fact.reduce sum %c dims [0] : (tensor<4x8xi64>) -> tensor<8xi64>
    fact.yield %6, %7 : tensor<4xf32>, tensor<8xi64>
  } : tensor<4xf32>, tensor<8xi64>
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xi64>
}

// -----

// Attention's operands are copied out of their views first.

// CHECK:      reference::for_each(16384, Store_value{{[0-9]+}}{v}, stream);
// CHECK:      reference::attention(v.value{{[0-9]+}}, v.value{{[0-9]+}}, v.value{{[0-9]+}}, v.argument1, v.value{{[0-9]+}},
// CHECK-NEXT:                      {2, 4, 4, 32, 32, 64, 64, 1.2500000000000000e-01, true, {0, 0, 32, 1}}, stream);
func.func @attention(%x: tensor<2x32x4x64xbf16>, %m: tensor<32x32xbf16>) -> tensor<2x4x32x64xbf16> {
  %0 = fact.fused "attention" ins(%x, %m : tensor<2x32x4x64xbf16>, tensor<32x32xbf16>) {
  ^bb0(%a: tensor<2x32x4x64xbf16>, %b: tensor<32x32xbf16>):
    %q = fact.permute %a [0, 2, 1, 3] : (tensor<2x32x4x64xbf16>) -> tensor<2x4x32x64xbf16>
    %o = fact.attention %q, %q, %q mask %b causal scale 0.125 : (tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>, tensor<2x4x32x64xbf16>, tensor<32x32xbf16>) -> tensor<2x4x32x64xbf16>
    fact.yield %o : tensor<2x4x32x64xbf16>
  } : tensor<2x4x32x64xbf16>
  return %0 : tensor<2x4x32x64xbf16>
}

// -----

// Places, products, gathers and rotary embeddings.

// CHECK:        const int64_t index = convert<int64_t>(v.argument1[at]);
// CHECK-NEXT:   if (index < 0 || index >= 10)
// CHECK-NEXT:     return NAN;
// CHECK-NEXT:   return convert<double>(v.argument0[(outer * 10 + index) * 8 + inner]);
// CHECK:        const bool second = i % 8 >= 4;
// CHECK-NEXT:   const int64_t partner = second ? i - 4 : i + 4;
// CHECK:        reference::find<reference::ArgMax, double>(
// CHECK:        reference::reduce<reference::Product, double>(
func.func @indices(%t: tensor<10x8xbf16>, %i: tensor<4xi64>, %c: tensor<8xbf16>, %s: tensor<8xbf16>) -> (tensor<4xi64>, tensor<4xbf16>) {
  %0:2 = fact.fused "pointwise" ins(%t, %i, %c, %s : tensor<10x8xbf16>, tensor<4xi64>, tensor<8xbf16>, tensor<8xbf16>) {
  ^bb0(%a: tensor<10x8xbf16>, %b: tensor<4xi64>, %d: tensor<8xbf16>, %e: tensor<8xbf16>):
    %1 = fact.gather %a, %b dim 0 : (tensor<10x8xbf16>, tensor<4xi64>) -> tensor<4x8xbf16>
    %2 = fact.rotary %1, %d, %e : (tensor<4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
    %3 = fact.reduce argmax %2 dims [1] : (tensor<4x8xbf16>) -> tensor<4xi64>
    %4 = fact.reduce prod %2 dims [1] : (tensor<4x8xbf16>) -> tensor<4xbf16>
    fact.yield %3, %4 : tensor<4xi64>, tensor<4xbf16>
  } : tensor<4xi64>, tensor<4xbf16>
  return %0#0, %0#1 : tensor<4xi64>, tensor<4xbf16>
}
