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

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Windows of images whose channels lie first: each thread reads its own rows, within bounds.
// CHECK: using Kernel = ThinRows<
// CHECK-NEXT: Extents<4, 128, 128>, Extents<3, 3, 2>, 5,
// CHECK-NEXT: RowsOf<0, f32, Strides<32768, 128, 1>, Strides<128, 1, 16384>, -129,
// CHECK-NEXT: RowBound<1, 0, 1, 1, 1, 128>,
// CHECK-NEXT: RowBound<2, 1, 1, 1, 1, 128>>,
// CHECK-NEXT: Strided<1, f32, Strides<18, 1>>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Identity, Strided<2, f32, Strides<81920, 640, 5, 1>>>>,
// CHECK-NEXT: ThinRowsSchedule<2, 16, 1, RowReads::Own>>;
func.func @windows(%x: tensor<4x2x128x128xf32>, %w: tensor<5x18xf32>) -> tensor<4x128x128x5xf32> {
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<4x2x128x128xf32>, tensor<5x18xf32>) {
  ^bb0(%a: tensor<4x2x128x128xf32>, %c: tensor<5x18xf32>):
    %p = fact.permute %a [0, 2, 3, 1] : (tensor<4x2x128x128xf32>) -> tensor<4x128x128x2xf32>
    %rows = fact.constant dense<0.0> : tensor<4x1x128x2xf32>
    %h = fact.concat %rows, %p, %rows dim 1 : (tensor<4x1x128x2xf32>, tensor<4x128x128x2xf32>, tensor<4x1x128x2xf32>) -> tensor<4x130x128x2xf32>
    %columns = fact.constant dense<0.0> : tensor<4x130x1x2xf32>
    %i = fact.concat %columns, %h, %columns dim 2 : (tensor<4x130x1x2xf32>, tensor<4x130x128x2xf32>, tensor<4x130x1x2xf32>) -> tensor<4x130x130x2xf32>
    %v = fact.windows %i dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<4x130x130x2xf32>) -> tensor<4x128x128x3x3x2xf32>
    %r = fact.reshape %v : (tensor<4x128x128x3x3x2xf32>) -> tensor<4x128x128x18xf32>
    %1 = fact.matmul %r, %c transpose_b : (tensor<4x128x128x18xf32>, tensor<5x18xf32>) -> tensor<4x128x128x5xf32>
    fact.yield %1 : tensor<4x128x128x5xf32>
  } schedule(#fact.cuda_thin_rows<rows = 2, terms = 16>) : tensor<4x128x128x5xf32>
  return %0 : tensor<4x128x128x5xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Rows that follow each other are read as one.
// CHECK: Extents<40000>, Extents<25>, 8,
// CHECK-NEXT: RowsOf<0, bf16, Strides<25>, Strides<1>, 0>,
// CHECK: ThinRowsSchedule<1, 32, 8, RowReads::Flat>>;
func.func @flat(%x: tensor<40000x25xbf16>, %w: tensor<25x8xbf16>) -> tensor<40000x8xbf16> {
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<40000x25xbf16>, tensor<25x8xbf16>) {
  ^bb0(%a: tensor<40000x25xbf16>, %c: tensor<25x8xbf16>):
    %1 = fact.matmul %a, %c : (tensor<40000x25xbf16>, tensor<25x8xbf16>) -> tensor<40000x8xbf16>
    fact.yield %1 : tensor<40000x8xbf16>
  } schedule(#fact.cuda_thin_rows<rows = 1, terms = 32>) : tensor<40000x8xbf16>
  return %0 : tensor<40000x8xbf16>
}
}
