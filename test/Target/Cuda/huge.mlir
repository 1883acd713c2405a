// Tensors of more than 2^31 elements: kernels count them in 64 bits, and regions that a family
// cannot count go to others, at last to `generic`.

// RUN: fact-opt --fact-discover="target=a100 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=h200 pad-rows=false" %s | fact-translate --fact-to-cutlass | FileCheck %s

// Results beyond 2^31, of extents that are not.
// CHECK-LABEL: namespace fact::gemm_epilogue_0 {
// CHECK: Problem<65536, 65537, 63>,
// CHECK: Results<Result<Epilogue, RowMajor<2, bf16, 65537>>>,
func.func @area(%x: tensor<65536x63xbf16>, %w: tensor<65537x63xbf16>) -> tensor<65536x65537xbf16> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<65536x63xbf16>, tensor<65537x63xbf16>) -> tensor<65536x65537xbf16>
  %1 = fact.relu %0 : (tensor<65536x65537xbf16>) -> tensor<65536x65537xbf16>
  return %1 : tensor<65536x65537xbf16>
}

// Batches that make too many rows together stay batches.
// CHECK-LABEL: namespace fact::gemm_epilogue_1 {
// CHECK: Problem<100000, 15, 17, 30000>,
// CHECK-NEXT: RowMajor<0, bf16, 17, 1700000>,
// CHECK-NEXT: Factors<RowMajor<1, bf16, 15>>,
func.func @batched(%x: tensor<30000x100000x17xbf16>, %w: tensor<17x15xbf16>) -> tensor<30000x100000x15xbf16> {
  %0 = fact.matmul %x, %w : (tensor<30000x100000x17xbf16>, tensor<17x15xbf16>) -> tensor<30000x100000x15xbf16>
  %1 = fact.relu %0 : (tensor<30000x100000x15xbf16>) -> tensor<30000x100000x15xbf16>
  return %1 : tensor<30000x100000x15xbf16>
}

// Rows that 32 bits cannot count.
// CHECK-LABEL: namespace fact::generic_2 {
// CHECK: step0(bf16 const *p0, bf16 const *p1, f32 *p2) {
// CHECK-NEXT: using Index = int64_t;
// CHECK-NEXT: const Index point = Index(blockIdx.x) * 256 + threadIdx.x;
// CHECK-NEXT: const bool active = point < 48000000000;
// CHECK: enqueue(step0, 187500000, 256, stream
// CHECK-LABEL: namespace fact::pointwise_3 {
// CHECK: Extents<48000000000>,
func.func @rows(%x: tensor<3000000000x16xbf16>, %w: tensor<16x16xbf16>) -> tensor<3000000000x16xbf16> {
  %0 = fact.matmul %x, %w : (tensor<3000000000x16xbf16>, tensor<16x16xbf16>) -> tensor<3000000000x16xbf16>
  %1 = fact.relu %0 : (tensor<3000000000x16xbf16>) -> tensor<3000000000x16xbf16>
  return %1 : tensor<3000000000x16xbf16>
}

// CHECK-LABEL: namespace fact::thin_gemm_4 {
// CHECK: Extents<1>, ThinProblem<4, 3000000000, 4>,
func.func @thin(%x: tensor<3000000000x4xbf16>, %w: tensor<4x4xbf16>) -> tensor<3000000000x4xbf16> {
  %0 = fact.matmul %x, %w : (tensor<3000000000x4xbf16>, tensor<4x4xbf16>) -> tensor<3000000000x4xbf16>
  return %0 : tensor<3000000000x4xbf16>
}

// One sum of all elements, in blocks that share it.
// CHECK-LABEL: namespace fact::reduction_5 {
// CHECK: using Index = int64_t;
// CHECK: const Index last = split * [[CHUNK:[0-9]+]] + [[CHUNK]];
// CHECK-NEXT: for (Index r = split * [[CHUNK]] + lane; r < (last < 3000000000 ? last : 3000000000); r += 256) {
func.func @sum(%x: tensor<3000000000xbf16>) -> tensor<bf16> {
  %0 = fact.reduce sum %x dims [0] : (tensor<3000000000xbf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// CHECK-LABEL: namespace fact::reduction_6 {
// CHECK: ReductionShape<1, 16, 3000000000>,
// CHECK: Operands<Streamed<Strided<0, f32, Strides<0, 3000000000, 1>>>>,
func.func @columns(%x: tensor<16x3000000000xf32>) -> tensor<3000000000xf32> {
  %0 = fact.reduce sum %x dims [0] : (tensor<16x3000000000xf32>) -> tensor<3000000000xf32>
  return %0 : tensor<3000000000xf32>
}

// More rows than a grid has blocks: several per block.
// CHECK-LABEL: namespace fact::reduction_7 {
// CHECK: ReductionShape<3000000000, 1, 4, true>,
func.func @softmax(%x: tensor<3000000000x4xbf16>) -> tensor<3000000000x4xbf16> {
  %0 = fact.softmax %x dim 1 : tensor<3000000000x4xbf16>
  return %0 : tensor<3000000000x4xbf16>
}

// CHECK-LABEL: namespace fact::scan_8 {
// CHECK: RowsOf<3000000000, 4, 1>, float, RunningSum, Identity,
func.func @scan(%x: tensor<3000000000x4xf32>) -> tensor<3000000000x4xf32> {
  %0 = fact.scan sum %x dim 1 : tensor<3000000000x4xf32>
  return %0 : tensor<3000000000x4xf32>
}

// CHECK-LABEL: namespace fact::concat_9 {
// CHECK: Results<Result<Identity, Strided<2, i8, Strides<1>, 3000000000>>>,
func.func @concat(%x: tensor<3000000000xi8>, %y: tensor<3000000001xi8>) -> tensor<6000000001xi8> {
  %0 = fact.concat %x, %y dim 0 : (tensor<3000000000xi8>, tensor<3000000001xi8>) -> tensor<6000000001xi8>
  return %0 : tensor<6000000001xi8>
}

// Rows that a family numbers in 32 bits.
// CHECK-LABEL: namespace fact::generic_10 {
// CHECK: if (point >= 6000000000)
func.func @scatter(%x: tensor<3000000000x2xf32>, %i: tensor<90xi64>, %u: tensor<90x2xf32>) -> tensor<3000000000x2xf32> {
  %0 = fact.scatter sum %x, %i, %u dim 0 : (tensor<3000000000x2xf32>, tensor<90xi64>, tensor<90x2xf32>) -> tensor<3000000000x2xf32>
  return %0 : tensor<3000000000x2xf32>
}

// Coordinates of rolled tensors, and of tensors before zeros, that a family
// counts in 32 bits: parts are copied.
// CHECK-LABEL: namespace fact::concat_11 {
// CHECK: Operands<Strided<0, bf16, Strides<0>, 2999999999>>,
// CHECK: Extents<2999999999>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<1>>>,
func.func @roll(%x: tensor<3000000000xbf16>) -> tensor<3000000000xbf16> {
  %0 = fact.slice %x dim 0 start 2999999999 : (tensor<3000000000xbf16>) -> tensor<1xbf16>
  %1 = fact.slice %x dim 0 start 0 : (tensor<3000000000xbf16>) -> tensor<2999999999xbf16>
  %2 = fact.concat %0, %1 dim 0 : (tensor<1xbf16>, tensor<2999999999xbf16>) -> tensor<3000000000xbf16>
  return %2 : tensor<3000000000xbf16>
}

// CHECK-LABEL: namespace fact::concat_12 {
// CHECK: Extents<7>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<1>>>,
func.func @padded(%x: tensor<7xbf16>) -> tensor<3000000007xbf16> {
  %0 = fact.constant dense<0.0> : tensor<3000000000xbf16>
  %1 = fact.concat %x, %0 dim 0 : (tensor<7xbf16>, tensor<3000000000xbf16>) -> tensor<3000000007xbf16>
  return %1 : tensor<3000000007xbf16>
}

// CHECK-NOT: Coordinate<
func.func @constants(%x: tensor<3000000007xbf16>) -> tensor<3000000007xbf16> {
  %0 = fact.constant dense<0.25> : tensor<7xbf16>
  %1 = fact.constant dense<0.5> : tensor<3000000000xbf16>
  %2 = fact.concat %0, %1 dim 0 : (tensor<7xbf16>, tensor<3000000000xbf16>) -> tensor<3000000007xbf16>
  %3 = fact.mul %2, %x : (tensor<3000000007xbf16>, tensor<3000000007xbf16>) -> tensor<3000000007xbf16>
  return %3 : tensor<3000000007xbf16>
}
