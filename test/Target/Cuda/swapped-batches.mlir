// RUN: rm -rf %t && fact-compile %s --target=h200 --until=bundle --bundle=%t/h200 --candidates=1
// RUN: FileCheck %s --input-file=%t/h200/bundle.json
// RUN: fact-compile %s --target=a100 --until=bundle --bundle=%t/a100 --candidates=1
// RUN: cat %t/a100/kernels/gemm_epilogue_*/0.cu | FileCheck %s --check-prefix=SYNC

// A sequence that is transposed before a projection, [batch, time] to [time, batch], and not after it: rows
// lie at two strides. Batches of 3 rows would waste most of each tile, so times are rows.

// CHECK:      "sizes": [
// CHECK-NEXT:   96,
// CHECK-NEXT:   32,
// CHECK-NEXT:   64,
// CHECK-NEXT:   3,
// CHECK-NEXT:   64,
// CHECK-NEXT:   6144,

// SYNC:      Sm80Gemm<
// SYNC-NEXT: Problem<96, 32, 64, 3>,
// SYNC-NEXT: RowMajor<0, f32, 64, 6144>,
// SYNC-NEXT: Factors<ColumnMajor<1, f32, 64>>,
// SYNC-NEXT: Operands<
// SYNC-SAME: RowVector<2, f32>
// SYNC-NEXT: RowMajor<3, f32, 96, 32>
// SYNC-NEXT: Result<Epilogue, RowMajor<4, f32, 96, 32>>

// Where rows fill tiles, and their batches do not, they stay what they are.
// SYNC: Problem<96, 32, 64, 5>,

module @swapped {
  fact.weight @w : tensor<32x64xf32>
  fact.weight @b : tensor<32xf32>
  func.func @main(%x: tensor<3x96x64xf32>, %y: tensor<96x3x32xf32>, %z: tensor<96x5x64xf32>) -> (tensor<96x3x32xf32>, tensor<5x96x32xf32>) {
    %w = fact.get_weight @w : tensor<32x64xf32>
    %b = fact.get_weight @b : tensor<32xf32>
    %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b, %y : tensor<3x96x64xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<96x3x32xf32>) {
    ^bb0(%i: tensor<3x96x64xf32>, %f: tensor<32x64xf32>, %c: tensor<32xf32>, %o: tensor<96x3x32xf32>):
      %t = fact.permute %i [1, 0, 2] : (tensor<3x96x64xf32>) -> tensor<96x3x64xf32>
      %m = fact.matmul %t, %f transpose_b tf32 : (tensor<96x3x64xf32>, tensor<32x64xf32>) -> tensor<96x3x32xf32>
      %s = fact.add %m, %c : (tensor<96x3x32xf32>, tensor<32xf32>) -> tensor<96x3x32xf32>
      %r = fact.add %s, %o : (tensor<96x3x32xf32>, tensor<96x3x32xf32>) -> tensor<96x3x32xf32>
      fact.yield %r : tensor<96x3x32xf32>
    } : tensor<96x3x32xf32>
    %1 = fact.fused "gemm_epilogue" ins(%z, %w : tensor<96x5x64xf32>, tensor<32x64xf32>) {
    ^bb0(%i: tensor<96x5x64xf32>, %f: tensor<32x64xf32>):
      %t = fact.permute %i [1, 0, 2] : (tensor<96x5x64xf32>) -> tensor<5x96x64xf32>
      %m = fact.matmul %t, %f transpose_b tf32 : (tensor<5x96x64xf32>, tensor<32x64xf32>) -> tensor<5x96x32xf32>
      %r = fact.relu %m : (tensor<5x96x32xf32>) -> tensor<5x96x32xf32>
      fact.yield %r : tensor<5x96x32xf32>
    } : tensor<5x96x32xf32>
    return %0, %1 : tensor<96x3x32xf32>, tensor<5x96x32xf32>
  }
}
