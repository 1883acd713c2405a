// GEMMs through mma.sync: on compute capability 8.x all of them, on Hopper those that TMA
// cannot address.

// RUN: fact-opt --fact-discover="target=a100" %s | fact-translate --fact-to-cutlass | FileCheck %s
// RUN: fact-opt --fact-discover="target=h200" %s | fact-translate --fact-to-cutlass | FileCheck %s --check-prefix=H200
// RUN: fact-opt --fact-discover="target=a100" %s | FileCheck %s --check-prefix=SPACE

// SPACE-COUNT-6: space(#fact.sm80_gemm_space<tile = [

// CHECK-LABEL: namespace fact::gemm_epilogue_0 {
// H200-LABEL: namespace fact::gemm_epilogue_0 {
func.func @odd(%x: tensor<512x97xbf16>, %w: tensor<1031x97xbf16>, %b: tensor<1031xbf16>) -> tensor<512x1031xbf16> {
  // CHECK: using Kernel = Sm80Gemm<
  // CHECK-NEXT: Problem<512, 1031, 97>,
  // CHECK-NEXT: RowMajor<0, bf16, 97>,
  // CHECK-NEXT: Factors<ColumnMajor<1, bf16, 97>>,
  // CHECK-NEXT: Operands<RowVector<2, bf16>>,
  // CHECK-NEXT: Results<Result<Epilogue, RowMajor<3, bf16, 1031>>>,
  // CHECK-NEXT: Sm80Schedule<Tile<{{[0-9]+, [0-9]+, [0-9]+}}>, Warps<{{[0-9], [0-9]}}>, Stages<{{[34]}}>, Splits<1>>>;
  // H200: using Kernel = Sm80Gemm<
  %0 = fact.matmul %x, %w transpose_b : (tensor<512x97xbf16>, tensor<1031x97xbf16>) -> tensor<512x1031xbf16>
  %1 = fact.add %0, %b : (tensor<512x1031xbf16>, tensor<1031xbf16>) -> tensor<512x1031xbf16>
  %2 = fact.relu %1 : (tensor<512x1031xbf16>) -> tensor<512x1031xbf16>
  return %2 : tensor<512x1031xbf16>
}

// What Hopper's own kernels take stays theirs.
// CHECK-LABEL: namespace fact::gemm_epilogue_1 {
// H200-LABEL: namespace fact::gemm_epilogue_1 {
func.func @even(%x: tensor<512x768xf32>, %w: tensor<768x1024xf32>, %m: tensor<512x1024xi1>, %y: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  // CHECK: FACT_DEVICE float apply(float accumulator,
  // CHECK-NEXT: bool operand2,
  // CHECK-NEXT: float operand3) {
  // CHECK: using Kernel = Sm80Gemm<
  // CHECK: RowMajor<0, f32, 768>,
  // CHECK-NEXT: Factors<RowMajor<1, f32, 1024>>,
  // CHECK-NEXT: Operands<RowMajor<2, i1, 1024>,
  // CHECK-NEXT: RowMajor<3, f32, 1024>>,
  // CHECK: Splits<{{[0-9]+}}>>,
  // CHECK-NEXT: Tf32>;
  // H200: using Kernel = Float32Gemm<
  // H200: Operands<RowMajor<2, i1, Size({{[0-9]+}}), Size({{[0-9]+}}), Size({{[0-9]+}})>,
  %0 = fact.matmul %x, %w tf32 : (tensor<512x768xf32>, tensor<768x1024xf32>) -> tensor<512x1024xf32>
  %1 = fact.select %m, %0, %y : (tensor<512x1024xi1>, tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %1 : tensor<512x1024xf32>
}

// Heads of a packed tensor: batches at two strides, and a mask that heads share.
// CHECK-LABEL: namespace fact::gemm_epilogue_2 {
func.func @scores(%x: tensor<2x64x4x36xf16>, %y: tensor<2x64x4x36xf16>, %m: tensor<2x1x64x64xf16>) -> tensor<2x4x64x64xf16> {
  // CHECK: using Kernel = Sm80Gemm<
  // CHECK-NEXT: Problem<64, 64, 36, 8>,
  // CHECK-NEXT: StridedMatrix<0, f16, 144, 1, 9216, 0, 4, 36>,
  // CHECK-NEXT: Factors<StridedMatrix<1, f16, 1, 144, 9216, 0, 4, 36>>,
  // CHECK-NEXT: Operands<StridedMatrix<2, f16, 64, 1, 4096, 0, 4, 0>>,
  // CHECK-NEXT: Results<Result<Epilogue, RowMajor<3, f16, 64, 4096>>>,
  %0 = fact.permute %x [0, 2, 1, 3] : (tensor<2x64x4x36xf16>) -> tensor<2x4x64x36xf16>
  %1 = fact.permute %y [0, 2, 1, 3] : (tensor<2x64x4x36xf16>) -> tensor<2x4x64x36xf16>
  %2 = fact.matmul %0, %1 transpose_b : (tensor<2x4x64x36xf16>, tensor<2x4x64x36xf16>) -> tensor<2x4x64x64xf16>
  %3 = fact.add %2, %m : (tensor<2x4x64x64xf16>, tensor<2x1x64x64xf16>) -> tensor<2x4x64x64xf16>
  return %3 : tensor<2x4x64x64xf16>
}

// Batches that broadcast in two dimensions.
// CHECK-LABEL: namespace fact::gemm_epilogue_3 {
func.func @broadcast(%x: tensor<4x1x31x20xbf16>, %y: tensor<5x20x17xbf16>) -> tensor<4x5x31x17xbf16> {
  // CHECK: Problem<31, 17, 20, 20>,
  // CHECK-NEXT: StridedMatrix<0, bf16, 20, 1, 620, 0, 5, 0>,
  // CHECK-NEXT: Factors<StridedMatrix<1, bf16, 17, 1, 0, 0, 5, 340>>,
  %0 = fact.matmul %x, %y : (tensor<4x1x31x20xbf16>, tensor<5x20x17xbf16>) -> tensor<4x5x31x17xbf16>
  return %0 : tensor<4x5x31x17xbf16>
}

// Results that lie beside each other.
// CHECK-LABEL: namespace fact::gemm_epilogue_4 {
func.func @heads(%p: tensor<2x4x64x60xf32>, %v: tensor<2x60x4x30xf32>) -> tensor<2x64x120xf32> {
  // CHECK: Factors<StridedMatrix<{{[01]}}, f32, 120, 1, 7200, 0, 4, 30>>,
  // CHECK-NEXT: Operands<>,
  // CHECK-NEXT: Results<Result<Identity, StridedMatrix<2, f32, 120, 1, 7680, 0, 4, 30>>>,
  %0 = fact.permute %v [0, 2, 1, 3] : (tensor<2x60x4x30xf32>) -> tensor<2x4x60x30xf32>
  %1 = fact.matmul %p, %0 : (tensor<2x4x64x60xf32>, tensor<2x4x60x30xf32>) -> tensor<2x4x64x30xf32>
  %2 = fact.permute %1 [0, 2, 1, 3] : (tensor<2x4x64x30xf32>) -> tensor<2x64x4x30xf32>
  %3 = fact.reshape %2 : (tensor<2x64x4x30xf32>) -> tensor<2x64x120xf32>
  return %3 : tensor<2x64x120xf32>
}

// CHECK-LABEL: namespace fact::gated_gemm_5 {
// H200: namespace fact::gated_gemm
func.func @gated(%x: tensor<300x77xf32>, %g: tensor<77x50xf32>, %u: tensor<77x50xf32>) -> tensor<300x50xf32> {
  // CHECK: FACT_DEVICE float apply(float first,
  // CHECK-NEXT: float second) {
  // CHECK: Factors<RowMajor<1, f32, 50>,
  // CHECK-NEXT: RowMajor<2, f32, 50>>,
  // CHECK-NEXT: Operands<>,
  // CHECK-NEXT: Results<Result<Epilogue, RowMajor<3, f32, 50>>>,
  // CHECK-NEXT: Sm80Schedule<{{.*}}>>;
  // H200: using Kernel = Sm80Gemm<
  %0 = fact.matmul %x, %g : (tensor<300x77xf32>, tensor<77x50xf32>) -> tensor<300x50xf32>
  %1 = fact.matmul %x, %u : (tensor<300x77xf32>, tensor<77x50xf32>) -> tensor<300x50xf32>
  %2 = fact.silu %0 : (tensor<300x50xf32>) -> tensor<300x50xf32>
  %3 = fact.mul %2, %1 : (tensor<300x50xf32>, tensor<300x50xf32>) -> tensor<300x50xf32>
  return %3 : tensor<300x50xf32>
}
