// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" -split-input-file | FileCheck %s
// RUN: fact-opt %s --fact-discover="target=a100 patterns=%t.none" -split-input-file | FileCheck %s --check-prefix=A100
// What was discovered is accepted again.
// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" -split-input-file | fact-opt --fact-discover="target=h200 patterns=%t.none" -split-input-file | FileCheck %s

// An op that no family takes, since its indices are a constant, is a kernel of its own.
// CHECK-LABEL: @scatter
// CHECK: fact.fused "generic"
// CHECK-NEXT: ^bb0
// CHECK: fact.scatter sum
// CHECK: space(#fact.cuda_generic_space<>)
// A100-LABEL: @scatter
// A100: fact.fused "generic"
func.func @scatter(%x: tensor<8x300xf32>, %y: tensor<4x300xf32>) -> tensor<8x300xf32> {
  %i = fact.constant dense<3> : tensor<4xi64>
  %0 = fact.scatter sum %x, %i, %y dim 0 : (tensor<8x300xf32>, tensor<4xi64>, tensor<4x300xf32>) -> tensor<8x300xf32>
  return %0 : tensor<8x300xf32>
}

// -----

// Scans, sorts, scatters and thin products have kernels on every GPU.
// CHECK-LABEL: @rows
// CHECK: fact.fused "scan"
// CHECK: fact.fused "sort"
// CHECK: fact.fused "thin_gemm"
// CHECK: fact.relu
// CHECK: fact.fused "scatter"
// CHECK: space(#fact.cuda_scatter_space<method = [sort], chunk = [8, 16, 32, 128]>)
// A100-LABEL: @rows
// A100: fact.fused "scan"
// A100: fact.fused "sort"
// A100: fact.fused "thin_gemm"
// A100: fact.fused "scatter"
func.func @rows(%x: tensor<8x300xf32>, %w: tensor<300x50xf32>, %i: tensor<90xi64>, %y: tensor<90x50xf32>) -> (tensor<8x300xi64>, tensor<8x50xf32>) {
  %0 = fact.scan sum %x dim 1 : tensor<8x300xf32>
  %1 = fact.argsort %0 dim 1 : (tensor<8x300xf32>) -> tensor<8x300xi64>
  %2 = fact.matmul %x, %w : (tensor<8x300xf32>, tensor<300x50xf32>) -> tensor<8x50xf32>
  %3 = fact.relu %2 : (tensor<8x50xf32>) -> tensor<8x50xf32>
  %4 = fact.scatter sum %3, %i, %y dim 0 : (tensor<8x50xf32>, tensor<90xi64>, tensor<90x50xf32>) -> tensor<8x50xf32>
  return %1, %4 : tensor<8x300xi64>, tensor<8x50xf32>
}

// -----

// Reductions of any type, over any dimensions.
// CHECK-LABEL: @integers
// CHECK: fact.fused "reduction"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.reduce sum {{.*}} tensor<8xi64>
func.func @integers(%x: tensor<8x300xi64>) -> tensor<8xi64> {
  %0 = fact.reduce sum %x dims [1] : (tensor<8x300xi64>) -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// -----

// The kernel reads through the permute; no transposed copy is made.
// CHECK-LABEL: @columns
// CHECK: fact.fused "reduction"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.mul
// CHECK-NEXT: fact.permute
// CHECK-NEXT: fact.reduce sum
// CHECK-NEXT: fact.exp
// CHECK-NOT: fact.fused
func.func @columns(%x: tensor<4x64x32xf32>) -> tensor<4x32xf32> {
  %0 = fact.mul %x, %x : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %1 = fact.permute %0 [0, 2, 1] : (tensor<4x64x32xf32>) -> tensor<4x32x64xf32>
  %2 = fact.reduce sum %1 dims [2] : (tensor<4x32x64xf32>) -> tensor<4x32xf32>
  %3 = fact.exp %2 : (tensor<4x32xf32>) -> tensor<4x32xf32>
  return %3 : tensor<4x32xf32>
}

// -----

// Several reductions over one dimension that is not the last are one kernel.
// CHECK-LABEL: @log_softmax
// CHECK: fact.fused "reduction"
// CHECK: fact.reduce max
// CHECK: fact.reduce sum
// CHECK: space(#fact.cuda_reduction_space<columns = [8, 32, 4], lanes = [32, 64, 128], splits = [1], operands = [read, held]>)
// CHECK-NOT: fact.fused
func.func @log_softmax(%x: tensor<16x512x1024xf32>) -> tensor<16x512x1024xf32> {
  %0 = fact.permute %x [0, 2, 1] : (tensor<16x512x1024xf32>) -> tensor<16x1024x512xf32>
  %1 = fact.reduce max %0 dims [2] : (tensor<16x1024x512xf32>) -> tensor<16x1024xf32>
  %2 = fact.reshape %1 : (tensor<16x1024xf32>) -> tensor<16x1x1024xf32>
  %3 = fact.sub %x, %2 : (tensor<16x512x1024xf32>, tensor<16x1x1024xf32>) -> tensor<16x512x1024xf32>
  %4 = fact.exp %3 : (tensor<16x512x1024xf32>) -> tensor<16x512x1024xf32>
  %5 = fact.permute %4 [0, 2, 1] : (tensor<16x512x1024xf32>) -> tensor<16x1024x512xf32>
  %6 = fact.reduce sum %5 dims [2] : (tensor<16x1024x512xf32>) -> tensor<16x1024xf32>
  %7 = fact.reshape %6 : (tensor<16x1024xf32>) -> tensor<16x1x1024xf32>
  %8 = fact.log %7 : (tensor<16x1x1024xf32>) -> tensor<16x1x1024xf32>
  %9 = fact.sub %3, %8 : (tensor<16x512x1024xf32>, tensor<16x1x1024xf32>) -> tensor<16x512x1024xf32>
  return %9 : tensor<16x512x1024xf32>
}

// -----

// An attention that no family takes, since its heads are too large, is written out: scores of
// 16-bit operands in f32, which hold them exactly as TF32; a query that may attend to nothing
// gives 0.
// CHECK-LABEL: @attention
// CHECK-NOT: fact.attention
// CHECK: fact.matmul {{.*}} transpose_b tf32 : (tensor<2x2x18x264xf32>, tensor<2x2x13x264xf32>)
// CHECK-DAG: fact.reduce max
// CHECK-DAG: fact.exp
// CHECK: fact.matmul {{.*}} : (tensor<2x2x18x13xbf16>, tensor<2x2x13x10xbf16>)
func.func @attention(%q: tensor<2x4x9x264xbf16>, %k: tensor<2x2x13x264xbf16>, %v: tensor<2x2x13x10xbf16>, %m: tensor<9x13xbf16>) -> tensor<2x4x9x10xbf16> {
  %0 = fact.attention %q, %k, %v mask %m scale 0.2 : (tensor<2x4x9x264xbf16>, tensor<2x2x13x264xbf16>, tensor<2x2x13x10xbf16>, tensor<9x13xbf16>) -> tensor<2x4x9x10xbf16>
  return %0 : tensor<2x4x9x10xbf16>
}

// -----

// Odd heads, values of another width and f32 stay whole.
// CHECK-LABEL: @whole_attention
// CHECK: fact.fused "attention"
// CHECK: fact.attention
// CHECK: fact.fused "attention"
// CHECK: fact.attention
func.func @whole_attention(%q: tensor<2x4x9x33xbf16>, %k: tensor<2x2x13x33xbf16>, %v: tensor<2x2x13x10xbf16>, %m: tensor<9x13xbf16>, %x: tensor<2x4x9x64xf32>) -> (tensor<2x4x9x10xbf16>, tensor<2x4x9x64xf32>) {
  %0 = fact.attention %q, %k, %v mask %m scale 0.2 : (tensor<2x4x9x33xbf16>, tensor<2x2x13x33xbf16>, tensor<2x2x13x10xbf16>, tensor<9x13xbf16>) -> tensor<2x4x9x10xbf16>
  %1 = fact.attention %x, %x, %x causal scale 0.125 : (tensor<2x4x9x64xf32>, tensor<2x4x9x64xf32>, tensor<2x4x9x64xf32>) -> tensor<2x4x9x64xf32>
  return %0, %1 : tensor<2x4x9x10xbf16>, tensor<2x4x9x64xf32>
}

// -----

// A row that does not fit on the chip.
// CHECK-LABEL: @long_norm
// CHECK: fact.fused "reduction"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.norm rms
func.func @long_norm(%x: tensor<2x4194304xf32>, %w: tensor<4194304xf32>) -> tensor<2x4194304xf32> {
  %0 = fact.norm rms %x weight %w eps 1.0e-6 : (tensor<2x4194304xf32>, tensor<4194304xf32>) -> tensor<2x4194304xf32>
  return %0 : tensor<2x4194304xf32>
}

// -----

// A product whose only legal schedule is a vendor's library's is still legal with the space
// that was given to it.
// CHECK-LABEL: @odd
// CHECK: fact.fused
func.func @odd(%x: tensor<17x65xbf16>, %w: tensor<65x33xbf16>) -> tensor<17x33xbf16> {
  %0 = fact.matmul %x, %w : (tensor<17x65xbf16>, tensor<65x33xbf16>) -> tensor<17x33xbf16>
  return %0 : tensor<17x33xbf16>
}

// -----

// Batches that broadcast in both factors, in different dimensions, which cuBLAS's strides do not
// describe: f64 factors are copied, others read as they are.
// CHECK-LABEL: @broadcast
// CHECK: fact.fused "gemm_epilogue"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.matmul {{.*}} : (tensor<8x1x64x32xbf16>, tensor<16x32x128xbf16>)
// CHECK-COUNT-2: fact.expand
// CHECK: fact.fused "gemm_epilogue"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.matmul {{.*}} : (tensor<8x16x64x32xf64>, tensor<8x16x32x128xf64>)
func.func @broadcast(%x: tensor<8x1x64x32xbf16>, %y: tensor<16x32x128xbf16>, %z: tensor<8x1x64x32xf64>, %w: tensor<16x32x128xf64>) -> (tensor<8x16x64x128xbf16>, tensor<8x16x64x128xf64>) {
  %0 = fact.matmul %x, %y : (tensor<8x1x64x32xbf16>, tensor<16x32x128xbf16>) -> tensor<8x16x64x128xbf16>
  %1 = fact.matmul %z, %w : (tensor<8x1x64x32xf64>, tensor<16x32x128xf64>) -> tensor<8x16x64x128xf64>
  return %0, %1 : tensor<8x16x64x128xbf16>, tensor<8x16x64x128xf64>
}

// -----

// Blocks share a few columns that are too long for one block each.
// CHECK-LABEL: @long_softmax
// CHECK: fact.fused "reduction"
// CHECK: space(#fact.cuda_reduction_space<{{.*}}splits = [1, {{[0-9]+}}], operands = [read, held]>)
func.func @long_softmax(%x: tensor<1000000x4xf32>) -> tensor<1000000x4xf32> {
  %0 = fact.softmax %x dim 0 : tensor<1000000x4xf32>
  return %0 : tensor<1000000x4xf32>
}

// -----

// Windows of rows that are too long for one block are not stored: a pool reads them.
// CHECK-LABEL: @pooled_norm
// CHECK: fact.fused "reduction"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: fact.norm
// CHECK-NOT: fact.windows
// CHECK: space(#fact.cuda_reduction_space<{{.*}}splits = [1, {{[0-9]+}}], operands = [read, held, shared]>)
// CHECK: fact.fused "windows"
// CHECK: fact.reduce max
func.func @pooled_norm(%x: tensor<16x2x524288xf32>) -> tensor<16x64x32x32xf32> {
  %0 = fact.norm layer %x eps 1.0e-05 : (tensor<16x2x524288xf32>) -> tensor<16x2x524288xf32>
  %1 = fact.reshape %0 : (tensor<16x2x524288xf32>) -> tensor<16x64x128x128xf32>
  %2 = fact.windows %1 dim 2 kernel [4, 4] strides [4, 4] dilations [1, 1] : (tensor<16x64x128x128xf32>) -> tensor<16x64x32x32x4x4xf32>
  %3 = fact.reduce max %2 dims [4, 5] : (tensor<16x64x32x32x4x4xf32>) -> tensor<16x64x32x32xf32>
  return %3 : tensor<16x64x32x32xf32>
}
