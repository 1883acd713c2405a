// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// A linear layer over [batch, time, channels]: the batch folds into M, W[N, K]
// is a column-major B, and the bias is one value a column.

// CHECK:      // sm90_gemm<
// CHECK:      #include "fact/cutlass/Gemm.cuh"
// CHECK:      namespace fact::gemm_epilogue_0 {
// CHECK:      struct Epilogue {
// CHECK-NEXT:   FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT:                          float operand2) {
// CHECK-NEXT:     const float v0 = accumulator + operand2;
// CHECK-NEXT:     const float v1 = v0 * v0;
// CHECK-NEXT:     const float v2 = fmaf(v1, 0.035677407f, 0.7978846f);
// CHECK-NEXT:     const float v3 = v0 * v2;
// CHECK-NEXT:     const float v4 = v0 * 0.5f;
// CHECK-NEXT:     const float v5 = tanh_approx(v3);
// CHECK-NEXT:     const float v6 = fmaf(v4, v5, v4);
// CHECK-NEXT:     return v6;
// CHECK:      using Kernel = Gemm<
// CHECK-NEXT:     Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT:     RowMajor<0, bf16, Size(4), Size(5), Size(6)>,
// CHECK-NEXT:     ColumnMajor<1, bf16, Size(7), Size(8), Size(9)>,
// CHECK-NEXT:     Operands<RowVector<2, bf16, Size(10), Size(11)>>,
// CHECK-NEXT:     Results<Result<Epilogue, RowMajor<3, bf16, Size(12), Size(13), Size(14)>>>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative, Swizzle<Size(15)>>>;
// CHECK:      FACT_SIZED_KERNEL(gemm_epilogue_0, Kernel, 16)
// CHECK:      // sizes of gemm_epilogue_0: 65536, 3072, 768, 1, 768, 0, 0, 768, 0, 0, 0, 0, 3072, 0, 0, 8
func.func @up(%x: tensor<128x512x768xbf16>, %w: tensor<3072x768xbf16>, %b: tensor<3072xbf16>) -> tensor<128x512x3072xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<128x512x768xbf16>, tensor<3072x768xbf16>, tensor<3072xbf16>) {
  ^bb0(%a: tensor<128x512x768xbf16>, %c: tensor<3072x768xbf16>, %d: tensor<3072xbf16>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<128x512x768xbf16>, tensor<3072x768xbf16>) -> tensor<128x512x3072xbf16>
    %2 = fact.add %1, %d : (tensor<128x512x3072xbf16>, tensor<3072xbf16>) -> tensor<128x512x3072xbf16>
    %3 = fact.gelu %2 approximate tanh : (tensor<128x512x3072xbf16>) -> tensor<128x512x3072xbf16>
    fact.yield %3 : tensor<128x512x3072xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x256x64, cluster = 2x1, kernel = cooperative, swizzle = 8>) : tensor<128x512x3072xbf16>
  return %0 : tensor<128x512x3072xbf16>
}

// -----

// Without a schedule, the best of the default space: at small K a ping-pong
// kernel, which hides the epilogue.

// CHECK:      nan_minimum(v0, 20.0f)
// CHECK:      fast_exp(
// CHECK:      fast_divide(
// CHECK:      nan_maximum({{.*}}, -2.0f)
// CHECK:      * 0.5f;
// CHECK:      Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK:      Operands<RowVector<2, bf16, Size(10), Size(11)>,
// CHECK-NEXT:          RowVector<3, bf16, Size(12), Size(13)>,
// CHECK-NEXT:          RowMajor<4, bf16, Size(14), Size(15), Size(16)>>,
// CHECK:      GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<Size(20)>>>;
func.func @chain(%x: tensor<65536x768xbf16>, %w: tensor<3072x768xbf16>, %b: tensor<3072xbf16>, %s: tensor<3072xbf16>, %r: tensor<65536x3072xbf16>) -> tensor<65536x3072xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b, %s, %r : tensor<65536x768xbf16>, tensor<3072x768xbf16>, tensor<3072xbf16>, tensor<3072xbf16>, tensor<65536x3072xbf16>) {
  ^bb0(%a: tensor<65536x768xbf16>, %c: tensor<3072x768xbf16>, %d: tensor<3072xbf16>, %e: tensor<3072xbf16>, %f: tensor<65536x3072xbf16>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<65536x768xbf16>, tensor<3072x768xbf16>) -> tensor<65536x3072xbf16>
    %2 = fact.add %1, %d : (tensor<65536x3072xbf16>, tensor<3072xbf16>) -> tensor<65536x3072xbf16>
    %3 = fact.mish %2 : (tensor<65536x3072xbf16>) -> tensor<65536x3072xbf16>
    %4 = fact.mul %3, %e : (tensor<65536x3072xbf16>, tensor<3072xbf16>) -> tensor<65536x3072xbf16>
    %5 = fact.clamp %4 min -2.0 max 2.0 : (tensor<65536x3072xbf16>) -> tensor<65536x3072xbf16>
    %6 = fact.add %5, %f : (tensor<65536x3072xbf16>, tensor<65536x3072xbf16>) -> tensor<65536x3072xbf16>
    %7 = fact.tanh %6 : (tensor<65536x3072xbf16>) -> tensor<65536x3072xbf16>
    %h = fact.constant dense<5.0e-01> : tensor<bf16>
    %8 = fact.mul %7, %h : (tensor<65536x3072xbf16>, tensor<bf16>) -> tensor<65536x3072xbf16>
    fact.yield %8 : tensor<65536x3072xbf16>
  } : tensor<65536x3072xbf16>
  return %0 : tensor<65536x3072xbf16>
}

// -----

// Batches on both sides, transposes, every kind of operand, two results of two
// types: an f32 result asks for the exact definitions.

// CHECK:      struct Epilogue0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT:                          float operand2,
// CHECK-NEXT:                          float operand3,
// CHECK-NEXT:                          float operand4) {
// CHECK:      tanhf(
// CHECK:      struct Epilogue1 {
// CHECK:      Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: ColumnMajor<0, f16, Size(4), Size(5), Size(6)>,
// CHECK-NEXT: RowMajor<1, f16, Size(7), Size(8), Size(9)>,
// CHECK-NEXT: Operands<ColumnVector<2, f32, Size(10), Size(11)>,
// CHECK-NEXT:          Scalar<3, f32, Size(12)>,
// CHECK-NEXT:          RowMajor<4, f16, Size(13), Size(14), Size(15)>>,
// CHECK-NEXT: Results<Result<Epilogue0, RowMajor<5, f16, Size(16), Size(17), Size(18)>>,
// CHECK-NEXT:         Result<Epilogue1, RowMajor<6, f32, Size(19), Size(20), Size(21)>>>,
// CHECK:      // sizes of gemm_epilogue_0: 256, 512, 64, 12, 256, 16384, 0, 512, 32768, 0, 0, 0, 0, 512, 131072, 0, 512, 131072, 0, 512, 131072, 0, 1
func.func @operands(%x: tensor<3x4x64x256xf16>, %w: tensor<3x4x64x512xf16>, %c: tensor<256x1xf32>, %s: tensor<f32>, %r: tensor<12x256x512xf16>) -> (tensor<12x256x512xf16>, tensor<3x4x256x512xf32>) {
  %0:2 = fact.fused "gemm_epilogue" ins(%x, %w, %c, %s, %r : tensor<3x4x64x256xf16>, tensor<3x4x64x512xf16>, tensor<256x1xf32>, tensor<f32>, tensor<12x256x512xf16>) {
  ^bb0(%a: tensor<3x4x64x256xf16>, %b: tensor<3x4x64x512xf16>, %d: tensor<256x1xf32>, %e: tensor<f32>, %f: tensor<12x256x512xf16>):
    %1 = fact.matmul %a, %b transpose_a : (tensor<3x4x64x256xf16>, tensor<3x4x64x512xf16>) -> tensor<3x4x256x512xf16>
    %2 = fact.cast %1 : (tensor<3x4x256x512xf16>) -> tensor<3x4x256x512xf32>
    %3 = fact.mul %2, %d : (tensor<3x4x256x512xf32>, tensor<256x1xf32>) -> tensor<3x4x256x512xf32>
    %4 = fact.mul %3, %e : (tensor<3x4x256x512xf32>, tensor<f32>) -> tensor<3x4x256x512xf32>
    %5 = fact.tanh %4 : (tensor<3x4x256x512xf32>) -> tensor<3x4x256x512xf32>
    %6 = fact.cast %5 : (tensor<3x4x256x512xf32>) -> tensor<3x4x256x512xf16>
    %7 = fact.reshape %6 : (tensor<3x4x256x512xf16>) -> tensor<12x256x512xf16>
    %8 = fact.add %7, %f : (tensor<12x256x512xf16>, tensor<12x256x512xf16>) -> tensor<12x256x512xf16>
    fact.yield %8, %4 : tensor<12x256x512xf16>, tensor<3x4x256x512xf32>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<12x256x512xf16>, tensor<3x4x256x512xf32>
  return %0#0, %0#1 : tensor<12x256x512xf16>, tensor<3x4x256x512xf32>
}

// -----

// A slice of a packed tensor is a leading dimension and an offset; a plain
// product needs no functor.

// CHECK:      Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: RowMajor<0, bf16, Size(4), Size(5), Size(6)>,
// CHECK-NEXT: RowMajor<1, bf16, Size(7), Size(8), Size(9)>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Identity, RowMajor<2, bf16, Size(10), Size(11), Size(12)>>>,
// CHECK:      // sizes of gemm_epilogue_0: 512, 64, 128, 1, 384, 0, 128, 64, 0, 0, 64, 0, 0, 1
func.func @packed(%x: tensor<512x384xbf16>, %w: tensor<128x64xbf16>) -> tensor<8x64x64xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<512x384xbf16>, tensor<128x64xbf16>) {
  ^bb0(%a: tensor<512x384xbf16>, %b: tensor<128x64xbf16>):
    %1 = fact.slice %a dim 1 start 128 : (tensor<512x384xbf16>) -> tensor<512x128xbf16>
    %2 = fact.matmul %1, %b : (tensor<512x128xbf16>, tensor<128x64xbf16>) -> tensor<512x64xbf16>
    %3 = fact.reshape %2 : (tensor<512x64xbf16>) -> tensor<8x64x64xbf16>
    fact.yield %3 : tensor<8x64x64xbf16>
  } : tensor<8x64x64xbf16>
  return %0 : tensor<8x64x64xbf16>
}

// -----

// The vendor's library is a schedule, too.

// CHECK:      #include "fact/cutlass/CublasGemm.cuh"
// CHECK:      using Kernel = CublasGemm<
// CHECK-NEXT:     Problem<512, 2048, 1024, 128>,
// CHECK-NEXT:     RowMajor<0, bf16, 1024, 524288>,
// CHECK-NEXT:     RowMajor<1, bf16, 2048, 2097152>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     RowMajor<2, bf16, 2048, 1048576>>;
func.func @vendor(%x: tensor<128x512x1024xbf16>, %w: tensor<128x1024x2048xbf16>) -> tensor<128x512x2048xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<128x512x1024xbf16>, tensor<128x1024x2048xbf16>) {
  ^bb0(%a: tensor<128x512x1024xbf16>, %b: tensor<128x1024x2048xbf16>):
    %1 = fact.matmul %a, %b : (tensor<128x512x1024xbf16>, tensor<128x1024x2048xbf16>) -> tensor<128x512x2048xbf16>
    fact.yield %1 : tensor<128x512x2048xbf16>
  } schedule(#fact.cublas_gemm) : tensor<128x512x2048xbf16>
  return %0 : tensor<128x512x2048xbf16>
}

// -----

// Reductions over the columns, of the epilogue and of the product, and results
// of one element a row that are made of them.

// CHECK:      struct Epilogue {
// CHECK:      struct ReducedRow0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT:                          float operand2) {
// CHECK-NEXT:     const float v0 = accumulator + operand2;
// CHECK:      struct ReducedRow1 {
// CHECK:          return accumulator;
// CHECK:      struct RowResult0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float reduced0,
// CHECK-NEXT:                          float reduced1,
// CHECK-NEXT:                          float operand3) {
// CHECK:      using Kernel = Gemm<
// CHECK-NEXT:     Problem<200, 64, 32, 1>,
// CHECK:          Operands<RowVector<2, bf16>>,
// CHECK-NEXT:     Results<Result<Epilogue, RowMajor<4, bf16, 64>>>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 64, 64>, Cluster<1, 1>, Pingpong, Swizzle<Size(0)>>,
// CHECK-NEXT:     RowEpilogue<
// CHECK-NEXT:         Reductions<Reduced<ReducedRow0, ReduceMean>, Reduced<ReducedRow1, ReduceMax>>,
// CHECK-NEXT:         Operands<ColumnVector<3, bf16>>,
// CHECK-NEXT:         Results<Result<RowResult0, ColumnVector<5, bf16>>,
// CHECK-NEXT:             Result<RowResult1, ColumnVector<6, bf16>>>>>;
func.func @rows(%x: tensor<2x100x32xbf16>, %w: tensor<64x32xbf16>, %b: tensor<64xbf16>, %s: tensor<2x100x1xbf16>) -> (tensor<2x100x64xbf16>, tensor<2x100x1xbf16>, tensor<2x100xbf16>) {
  %0:3 = fact.fused "gemm_epilogue" ins(%x, %w, %b, %s : tensor<2x100x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>, tensor<2x100x1xbf16>) {
  ^bb0(%a: tensor<2x100x32xbf16>, %c: tensor<64x32xbf16>, %d: tensor<64xbf16>, %e: tensor<2x100x1xbf16>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<2x100x32xbf16>, tensor<64x32xbf16>) -> tensor<2x100x64xbf16>
    %2 = fact.add %1, %d : (tensor<2x100x64xbf16>, tensor<64xbf16>) -> tensor<2x100x64xbf16>
    %3 = fact.reduce mean %2 dims [2] keep : (tensor<2x100x64xbf16>) -> tensor<2x100x1xbf16>
    %4 = fact.mul %3, %e : (tensor<2x100x1xbf16>, tensor<2x100x1xbf16>) -> tensor<2x100x1xbf16>
    %5 = fact.reduce max %1 dims [2] : (tensor<2x100x64xbf16>) -> tensor<2x100xbf16>
    %6 = fact.relu %2 : (tensor<2x100x64xbf16>) -> tensor<2x100x64xbf16>
    fact.yield %6, %4, %5 : tensor<2x100x64xbf16>, tensor<2x100x1xbf16>, tensor<2x100xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x100x64xbf16>, tensor<2x100x1xbf16>, tensor<2x100xbf16>
  return %0#0, %0#1, %0#2 : tensor<2x100x64xbf16>, tensor<2x100x1xbf16>, tensor<2x100xbf16>
}

// -----

// Rows that TMA cannot move (logits of 53 words) are left to cuBLAS.

// CHECK:      using Kernel = CublasGemm<
// CHECK-NEXT:     Problem<24, 53, 32>,
// CHECK-NEXT:     RowMajor<0, bf16, 32>,
// CHECK-NEXT:     ColumnMajor<1, bf16, 32>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     RowMajor<2, bf16, 53>>;
func.func @logits(%x: tensor<2x12x32xbf16>, %w: tensor<53x32xbf16>) -> tensor<2x12x53xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x12x32xbf16>, tensor<53x32xbf16>) {
  ^bb0(%a: tensor<2x12x32xbf16>, %b: tensor<53x32xbf16>):
    %1 = fact.matmul %a, %b transpose_b : (tensor<2x12x32xbf16>, tensor<53x32xbf16>) -> tensor<2x12x53xbf16>
    fact.yield %1 : tensor<2x12x53xbf16>
  } schedule(#fact.cublas_gemm) : tensor<2x12x53xbf16>
  return %0 : tensor<2x12x53xbf16>
}

// -----

// Columns of each batch, though one factor serves all of them; the product
// itself is not stored.

// CHECK:      struct ReducedColumn0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float accumulator,
// CHECK-NEXT:                          float operand2) {
// CHECK:      struct ColumnResult0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float reduced0,
// CHECK-NEXT:                          float operand3) {
// CHECK:      using Kernel = Gemm<
// CHECK-NEXT:     Problem<100, 64, 32, 2>,
// CHECK-NEXT:     RowMajor<0, bf16, 32, 3200>,
// CHECK-NEXT:     ColumnMajor<1, bf16, 32>,
// CHECK-NEXT:     Operands<RowVector<2, bf16>>,
// CHECK-NEXT:     Results<>,
// CHECK-NEXT:     GemmSchedule<Tile<128, 64, 64>, Cluster<1, 1>, Pingpong, Swizzle<Size(0)>>,
// CHECK-NEXT:     NoRowEpilogue,
// CHECK-NEXT:     ColumnEpilogue<
// CHECK-NEXT:         Reductions<Reduced<ReducedColumn0, ReduceMean>>,
// CHECK-NEXT:         Operands<RowVector<3, f32, 64>>,
// CHECK-NEXT:         Results<Result<ColumnResult0, RowVector<4, bf16, 64>>>>>;
func.func @columns(%x: tensor<2x100x32xbf16>, %w: tensor<64x32xbf16>, %b: tensor<64xbf16>, %s: tensor<2x1x64xf32>) -> tensor<2x64xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b, %s : tensor<2x100x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>, tensor<2x1x64xf32>) {
  ^bb0(%a: tensor<2x100x32xbf16>, %c: tensor<64x32xbf16>, %d: tensor<64xbf16>, %e: tensor<2x1x64xf32>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<2x100x32xbf16>, tensor<64x32xbf16>) -> tensor<2x100x64xbf16>
    %2 = fact.add %1, %d : (tensor<2x100x64xbf16>, tensor<64xbf16>) -> tensor<2x100x64xbf16>
    %3 = fact.reduce mean %2 dims [1] keep : (tensor<2x100x64xbf16>) -> tensor<2x1x64xbf16>
    %4 = fact.cast %3 : (tensor<2x1x64xbf16>) -> tensor<2x1x64xf32>
    %5 = fact.mul %4, %e : (tensor<2x1x64xf32>, tensor<2x1x64xf32>) -> tensor<2x1x64xf32>
    %6 = fact.cast %5 : (tensor<2x1x64xf32>) -> tensor<2x1x64xbf16>
    %7 = fact.reshape %6 : (tensor<2x1x64xbf16>) -> tensor<2x64xbf16>
    fact.yield %7 : tensor<2x64xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<2x64xbf16>
  return %0 : tensor<2x64xbf16>
}

// -----

// Rows and columns at once, of as many elements: what each result is made of
// decides. Batches of a single row keep their stride.

// CHECK:      Problem<64, 64, 64, 1>,
// CHECK:      Results<Result<Identity, RowMajor<3, f16, 64>>>,
// CHECK:      RowEpilogue<
// CHECK-NEXT:     Reductions<Reduced<Identity, ReduceSum>>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Results<Result<RowResult0, ColumnVector<4, f16>>>>,
// CHECK-NEXT: ColumnEpilogue<
// CHECK-NEXT:     Reductions<Reduced<Identity, ReduceMin>>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Results<Result<ColumnResult0, RowVector<2, f16>>>>>;
func.func @both(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) {
  %0:3 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %2 = fact.reduce min %1 dims [0] : (tensor<64x64xf16>) -> tensor<64xf16>
    %3 = fact.reduce sum %1 dims [1] : (tensor<64x64xf16>) -> tensor<64xf16>
    fact.yield %2, %1, %3 : tensor<64xf16>, tensor<64x64xf16>, tensor<64xf16>
  } schedule(#fact.sm90_gemm<tile = 128x64x64, cluster = 1x1, kernel = cooperative, swizzle = 1>) : tensor<64xf16>, tensor<64x64xf16>, tensor<64xf16>
  return
}

// -----

// CHECK:      Problem<Size(0), Size(1), Size(2), Size(3)>,
// CHECK-NEXT: RowMajor<0, f16, Size(4), Size(5), Size(6)>,
// CHECK:      Results<Result<Identity, RowMajor<2, f16, Size(10), Size(11), Size(12)>>>,
func.func @single_rows(%x: tensor<3x1x64xf16>, %w: tensor<3x64x64xf16>) -> tensor<3x1x64xf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<3x1x64xf16>, tensor<3x64x64xf16>) {
  ^bb0(%a: tensor<3x1x64xf16>, %b: tensor<3x64x64xf16>):
    %1 = fact.matmul %a, %b : (tensor<3x1x64xf16>, tensor<3x64x64xf16>) -> tensor<3x1x64xf16>
    fact.yield %1 : tensor<3x1x64xf16>
  } schedule(#fact.sm90_gemm<tile = 64x64x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<3x1x64xf16>
  return %0 : tensor<3x1x64xf16>
}

// -----

// A sum of exponentials against the maximum, which is the first reduction, and
// not its own pass: its functor is not shifted.

// CHECK:      struct RowResult0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float reduced0,
// CHECK-NEXT:                          float reduced1) {
// CHECK:          const float v{{.*}} = fast_log(reduced1);
// CHECK:      using Kernel = Gemm<
// CHECK:          Results<>,
// CHECK:          RowEpilogue<
// CHECK-NEXT:         Reductions<Reduced<Identity, ReduceMax>, Reduced<Identity, ReduceExponentials<0, true>>>,
// CHECK-NEXT:         Operands<>,
// CHECK-NEXT:         Results<Result<RowResult0, ColumnVector<2, bf16>>>>>;
func.func @exponentials(%x: tensor<256x128xbf16>, %w: tensor<512x128xbf16>) -> tensor<256x1xbf16> {
  %r = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x128xbf16>, tensor<512x128xbf16>) {
  ^bb0(%a: tensor<256x128xbf16>, %b: tensor<512x128xbf16>):
    %zero = fact.constant dense<0.000000e+00> : tensor<bf16>
    %inf = fact.constant dense<0x7F800000> : tensor<f32>
    %0 = fact.matmul %a, %b transpose_b : (tensor<256x128xbf16>, tensor<512x128xbf16>) -> tensor<256x512xbf16>
    %2 = fact.reduce max %0 dims [1] keep : (tensor<256x512xbf16>) -> tensor<256x1xbf16>
    %3 = fact.abs %2 : (tensor<256x1xbf16>) -> tensor<256x1xbf16>
    %4 = fact.compare eq %3, %inf : (tensor<256x1xbf16>, tensor<f32>) -> tensor<256x1xi1>
    %5 = fact.select %4, %zero, %2 : (tensor<256x1xi1>, tensor<bf16>, tensor<256x1xbf16>) -> tensor<256x1xbf16>
    %6 = fact.sub %0, %5 : (tensor<256x512xbf16>, tensor<256x1xbf16>) -> tensor<256x512xbf16>
    %7 = fact.exp %6 : (tensor<256x512xbf16>) -> tensor<256x512xbf16>
    %8 = fact.reduce sum %7 dims [1] keep : (tensor<256x512xbf16>) -> tensor<256x1xbf16>
    %9 = fact.log %8 : (tensor<256x1xbf16>) -> tensor<256x1xbf16>
    %10 = fact.add %9, %5 : (tensor<256x1xbf16>, tensor<256x1xbf16>) -> tensor<256x1xbf16>
    fact.yield %10 : tensor<256x1xbf16>
  } schedule(#fact.sm90_gemm<tile = 128x128x64, cluster = 1x1, kernel = pingpong, swizzle = 1>) : tensor<256x1xbf16>
  return %r : tensor<256x1xbf16>
}
