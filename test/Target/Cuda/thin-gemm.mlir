// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// A vector times a matrix: vectors lie along the contiguous columns.
// CHECK-LABEL: namespace fact::thin_gemm
// CHECK: struct Epilogue {
// CHECK: using Kernel = Thin<
// CHECK-NEXT: Extents<1>, ThinProblem<1, 512, 1024>,
// CHECK-NEXT: Strided<0, bf16, Strides<0, 0, 1>>,
// CHECK-NEXT: Strided<1, bf16, Strides<0, 1, 512>>,
// CHECK-NEXT: Operands<Strided<2, bf16, Strides<0, 0, 1>>>,
// CHECK-NEXT: Results<Result<Epilogue, Strided<3, bf16, Strides<0, 0, 1>>>>,
// CHECK-NEXT: ThinSchedule<32, 2, 8, false>>;
func.func @columns(%x: tensor<1x1024xbf16>, %w: tensor<1024x512xbf16>, %b: tensor<512xbf16>) -> tensor<1x512xbf16> {
  %0 = fact.fused "thin_gemm" ins(%x, %w, %b : tensor<1x1024xbf16>, tensor<1024x512xbf16>, tensor<512xbf16>) {
  ^bb0(%a: tensor<1x1024xbf16>, %c: tensor<1024x512xbf16>, %d: tensor<512xbf16>):
    %1 = fact.matmul %a, %c : (tensor<1x1024xbf16>, tensor<1024x512xbf16>) -> tensor<1x512xbf16>
    %2 = fact.add %1, %d : (tensor<1x512xbf16>, tensor<512xbf16>) -> tensor<1x512xbf16>
    fact.yield %2 : tensor<1x512xbf16>
  } schedule(#fact.cuda_thin<lanes = 32, splits = 2>) : tensor<1x512xbf16>
  return %0 : tensor<1x512xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A matrix times a vector: the lhs is the wide factor. Batches that share the vector are rows.
// CHECK: Extents<1>, ThinProblem<1, 28, 768>,
// CHECK-NEXT: Strided<1, f32, Strides<0, 0, 1>>,
// CHECK-NEXT: Strided<0, f32, Strides<0, 768, 1>>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Identity, Strided<2, f32, Strides<0, 0, 1>>>>,
// CHECK-NEXT: ThinSchedule<32, 1, 4, true>>;
func.func @rows(%x: tensor<4x7x768xf32>, %w: tensor<1x768xf32>) -> tensor<4x7x1xf32> {
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<4x7x768xf32>, tensor<1x768xf32>) {
  ^bb0(%a: tensor<4x7x768xf32>, %c: tensor<1x768xf32>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<4x7x768xf32>, tensor<1x768xf32>) -> tensor<4x7x1xf32>
    fact.yield %1 : tensor<4x7x1xf32>
  } schedule(#fact.cuda_thin<lanes = 32, splits = 1>) : tensor<4x7x1xf32>
  return %0 : tensor<4x7x1xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Batches of both factors broadcast; odd sizes are read element by element.
// CHECK: Extents<4, 3>, ThinProblem<2, 47, 65>,
// CHECK-NEXT: Strided<0, f16, Strides<130, 0, 65, 1>>,
// CHECK-NEXT: Strided<1, f16, Strides<0, 3055, 1, 47>>,
// CHECK: ThinSchedule<8, 1, 1, false>>;
func.func @batches(%x: tensor<4x1x2x65xf16>, %w: tensor<1x3x65x47xf16>) -> tensor<4x3x2x47xf16> {
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<4x1x2x65xf16>, tensor<1x3x65x47xf16>) {
  ^bb0(%a: tensor<4x1x2x65xf16>, %c: tensor<1x3x65x47xf16>):
    %1 = fact.matmul %a, %c : (tensor<4x1x2x65xf16>, tensor<1x3x65x47xf16>) -> tensor<4x3x2x47xf16>
    fact.yield %1 : tensor<4x3x2x47xf16>
  } schedule(#fact.cuda_thin<lanes = 8, splits = 1>) : tensor<4x3x2x47xf16>
  return %0 : tensor<4x3x2x47xf16>
}
}
