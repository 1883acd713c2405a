// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s | FileCheck %s

// A residual sum, its layer norm, and both as results.

// CHECK:      static constexpr float value = 1.000000000e-05f;
// CHECK:      struct Prologue {
// CHECK-NEXT:   FACT_DEVICE float apply(float operand0,
// CHECK-NEXT:                          float operand1) {
// CHECK-NEXT:     const float v0 = operand0 + operand1;
// CHECK:      struct Epilogue0 {
// CHECK-NEXT:   FACT_DEVICE float apply(float normalized,
// CHECK-NEXT:                          float value,
// CHECK-NEXT:                          float operand2,
// CHECK-NEXT:                          float operand3) {
// CHECK-NEXT:     const float v0 = normalized * operand2;
// CHECK-NEXT:     const float v1 = v0 + operand3;
// CHECK:      struct Epilogue1 {
// CHECK:          return value;
// CHECK:      using Kernel = Row<
// CHECK-NEXT:     Extent<65536, 768>,
// CHECK-NEXT:     LayerNorm<Epsilon>,
// CHECK-NEXT:     Prologue,
// CHECK-NEXT:     Operands<RowMajor<0, bf16, 768>,
// CHECK-NEXT:              RowMajor<1, bf16, 768>>,
// CHECK-NEXT:     Operands<RowVector<2, bf16>,
// CHECK-NEXT:              RowVector<3, bf16>>,
// CHECK-NEXT:     Results<Result<Epilogue0, RowMajor<4, bf16, 768>>,
// CHECK-NEXT:             Result<Epilogue1, RowMajor<5, bf16, 768>>>,
// CHECK-NEXT:     RowSchedule<32, 4, 8>>;
func.func @norm(%x: tensor<128x512x768xbf16>, %r: tensor<128x512x768xbf16>, %w: tensor<768xbf16>, %b: tensor<768xbf16>) -> (tensor<128x512x768xbf16>, tensor<128x512x768xbf16>) {
  %0:2 = fact.fused "rowwise" ins(%x, %r, %w, %b : tensor<128x512x768xbf16>, tensor<128x512x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) {
  ^bb0(%a: tensor<128x512x768xbf16>, %c: tensor<128x512x768xbf16>, %d: tensor<768xbf16>, %e: tensor<768xbf16>):
    %1 = fact.add %a, %c : (tensor<128x512x768xbf16>, tensor<128x512x768xbf16>) -> tensor<128x512x768xbf16>
    %2 = fact.norm layer %1 weight %d bias %e eps 1.0e-05 : (tensor<128x512x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) -> tensor<128x512x768xbf16>
    fact.yield %2, %1 : tensor<128x512x768xbf16>, tensor<128x512x768xbf16>
  } schedule(#fact.cuda_row<threads = 32, rows = 4>) : tensor<128x512x768xbf16>, tensor<128x512x768xbf16>
  return %0#0, %0#1 : tensor<128x512x768xbf16>, tensor<128x512x768xbf16>
}

// -----

// Short odd rows move through shared memory, where they are read by single elements; a mask of one row is read for all.

// CHECK:      Extent<96, 77>,
// CHECK-NEXT: Softmax,
// CHECK-NEXT: Prologue,
// CHECK-NEXT: Operands<RowMajor<0, f32, 77>,
// CHECK-NEXT:          RowVector<1, f32>>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Epilogue, RowMajor<2, f32, 77>>>,
// CHECK-NEXT: RowSchedule<{{[0-9]+, [0-9]+}}, 1, true>>;
func.func @softmax(%x: tensor<4x24x77xf32>, %m: tensor<77xf32>) -> tensor<4x24x77xf32> {
  %0 = fact.fused "rowwise" ins(%x, %m : tensor<4x24x77xf32>, tensor<77xf32>) {
  ^bb0(%a: tensor<4x24x77xf32>, %b: tensor<77xf32>):
    %1 = fact.add %a, %b : (tensor<4x24x77xf32>, tensor<77xf32>) -> tensor<4x24x77xf32>
    %2 = fact.softmax %1 dim 2 : tensor<4x24x77xf32>
    fact.yield %2 : tensor<4x24x77xf32>
  } : tensor<4x24x77xf32>
  return %0 : tensor<4x24x77xf32>
}

// -----

// Norms over several dimensions are norms over long rows.

// CHECK:      Extent<8, 4096>,
// CHECK-NEXT: RmsNorm<Epsilon>,
// CHECK-NEXT: Identity,
// CHECK-NEXT: Operands<RowMajor<0, f16, 4096>>,
// CHECK-NEXT: Operands<RowVector<1, f16>>,
// CHECK:      RowSchedule<{{[0-9]+}}, 1, 8>>;
func.func @rms(%x: tensor<8x64x64xf16>, %w: tensor<64x64xf16>) -> tensor<8x64x64xf16> {
  %0 = fact.fused "rowwise" ins(%x, %w : tensor<8x64x64xf16>, tensor<64x64xf16>) {
  ^bb0(%a: tensor<8x64x64xf16>, %b: tensor<64x64xf16>):
    %1 = fact.norm rms %a weight %b eps 1.0e-06 dims 2 : (tensor<8x64x64xf16>, tensor<64x64xf16>) -> tensor<8x64x64xf16>
    fact.yield %1 : tensor<8x64x64xf16>
  } : tensor<8x64x64xf16>
  return %0 : tensor<8x64x64xf16>
}

// -----

func.func @first_dimension(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @below {{'fact.softmax' must be over the last dimensions of 'tensor<8x64xf16>', not over 0}}
  %0 = fact.fused "rowwise" ins(%x : tensor<8x64xf16>) {
  ^bb0(%a: tensor<8x64xf16>):
    %1 = fact.softmax %a dim 0 : tensor<8x64xf16>
    fact.yield %1 : tensor<8x64xf16>
  } : tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// -----

// A mean of each row with pointwise ops on both sides, and the row without it.

// CHECK:      struct Prologue {
// CHECK:      struct Epilogue {
// CHECK-NEXT:   FACT_DEVICE float apply(float reduced,
// CHECK-NEXT:                          float value) {
// CHECK-NEXT:     const float v0 = value - reduced;
// CHECK:      struct RowEpilogue {
// CHECK-NEXT:   FACT_DEVICE float apply(float reduced,
// CHECK-NEXT:                          float operand1) {
// CHECK:      using Kernel = Row<
// CHECK-NEXT:     Extent<30, 32>,
// CHECK-NEXT:     Mean,
// CHECK-NEXT:     Prologue,
// CHECK-NEXT:     Operands<RowMajor<0, f32, 32>>,
// CHECK-NEXT:     Operands<>,
// CHECK-NEXT:     Results<Result<Epilogue, RowMajor<2, f32, 32>>>,
// CHECK-NEXT:     RowSchedule<{{[0-9]+, [0-9]+}}, 4>,
// CHECK-NEXT:     Operands<ColumnVector<1, f32>>,
// CHECK-NEXT:     Results<Result<RowEpilogue, ColumnVector<3, f32>>>>;
func.func @mean(%x: tensor<5x6x32xf32>, %y: tensor<5x6x1xf32>) -> (tensor<5x6x32xf32>, tensor<5x6xf32>) {
  %0:2 = fact.fused "rowwise" ins(%x, %y : tensor<5x6x32xf32>, tensor<5x6x1xf32>) {
  ^bb0(%a: tensor<5x6x32xf32>, %b: tensor<5x6x1xf32>):
    %1 = fact.exp %a : (tensor<5x6x32xf32>) -> tensor<5x6x32xf32>
    %2 = fact.reduce mean %1 dims [2] keep : (tensor<5x6x32xf32>) -> tensor<5x6x1xf32>
    %3 = fact.sub %1, %2 : (tensor<5x6x32xf32>, tensor<5x6x1xf32>) -> tensor<5x6x32xf32>
    %4 = fact.add %2, %b : (tensor<5x6x1xf32>, tensor<5x6x1xf32>) -> tensor<5x6x1xf32>
    %5 = fact.reshape %4 : (tensor<5x6x1xf32>) -> tensor<5x6xf32>
    fact.yield %3, %5 : tensor<5x6x32xf32>, tensor<5x6xf32>
  } : tensor<5x6x32xf32>, tensor<5x6xf32>
  return %0#0, %0#1 : tensor<5x6x32xf32>, tensor<5x6xf32>
}

// -----

// Places are integers; a whole tensor is one row.

// CHECK:      struct RowEpilogue {
// CHECK-NEXT:   FACT_DEVICE int64_t apply(int64_t reduced) {
// CHECK:      Extent<1, 40>,
// CHECK-NEXT: ArgMin,
// CHECK-NEXT: Identity,
// CHECK-NEXT: Operands<RowVector<0, f16>>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<>,
// CHECK-NEXT: RowSchedule<{{[0-9]+, [0-9]+}}, 8>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<RowEpilogue, ColumnVector<1, i64>>>>;
func.func @place(%x: tensor<5x8xf16>) -> tensor<i64> {
  %0 = fact.fused "rowwise" ins(%x : tensor<5x8xf16>) {
  ^bb0(%a: tensor<5x8xf16>):
    %1 = fact.reduce argmin %a dims [0, 1] : (tensor<5x8xf16>) -> tensor<i64>
    fact.yield %1 : tensor<i64>
  } : tensor<i64>
  return %0 : tensor<i64>
}

// -----

func.func @columns(%x: tensor<5x8xf16>) -> tensor<8xf16> {
  // expected-error @below {{'fact.reduce' must be over the last dimensions of 'tensor<5x8xf16>', not over 0}}
  %0 = fact.fused "rowwise" ins(%x : tensor<5x8xf16>) {
  ^bb0(%a: tensor<5x8xf16>):
    %1 = fact.reduce sum %a dims [0] : (tensor<5x8xf16>) -> tensor<8xf16>
    fact.yield %1 : tensor<8xf16>
  } : tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// A group norm: rows share a table of weights by channel.

// CHECK: #include "fact/cutlass/RowTable.cuh"
// CHECK:      Extent<512, 25088>,
// CHECK-NEXT: LayerNorm<Epsilon>,
// CHECK-NEXT: Identity,
// CHECK-NEXT: Operands<RowMajor<0, f32, 25088>>,
// CHECK-NEXT: Operands<RowTable<1, f32, Extents<64, 8>, Strides<0, 8>, Extents<8, 3136>, Strides<1, 0>>,
// CHECK-NEXT:          RowTable<2, f32, Extents<64, 8>, Strides<0, 8>, Extents<8, 3136>, Strides<1, 0>>>,
// CHECK-NEXT: Results<Result<Epilogue, RowMajor<3, f32, 25088>>>,
func.func @group_norm(%x: tensor<64x64x56x56xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64x64x56x56xf32> {
  %0 = fact.fused "rowwise" ins(%x, %w, %b : tensor<64x64x56x56xf32>, tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<64x64x56x56xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>):
    %1 = fact.reshape %a : (tensor<64x64x56x56xf32>) -> tensor<64x8x25088xf32>
    %2 = fact.norm layer %1 eps 1.0e-5 : (tensor<64x8x25088xf32>) -> tensor<64x8x25088xf32>
    %3 = fact.reshape %2 : (tensor<64x8x25088xf32>) -> tensor<64x64x56x56xf32>
    %4 = fact.reshape %c : (tensor<64xf32>) -> tensor<64x1x1xf32>
    %5 = fact.mul %3, %4 : (tensor<64x64x56x56xf32>, tensor<64x1x1xf32>) -> tensor<64x64x56x56xf32>
    %6 = fact.reshape %d : (tensor<64xf32>) -> tensor<64x1x1xf32>
    %7 = fact.add %5, %6 : (tensor<64x64x56x56xf32>, tensor<64x1x1xf32>) -> tensor<64x64x56x56xf32>
    fact.yield %7 : tensor<64x64x56x56xf32>
  } : tensor<64x64x56x56xf32>
  return %0 : tensor<64x64x56x56xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Short rows share a warp.

// CHECK:      Extent<262144, 64>,
// CHECK:      RowSchedule<4, {{[0-9]+}}, 8>>;
func.func @short(%x: tensor<262144x64xbf16>) -> tensor<262144x64xbf16> {
  %0 = fact.fused "rowwise" ins(%x : tensor<262144x64xbf16>) {
  ^bb0(%a: tensor<262144x64xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<262144x64xbf16>
    fact.yield %1 : tensor<262144x64xbf16>
  } : tensor<262144x64xbf16>
  return %0 : tensor<262144x64xbf16>
}
}

// -----

// Masks are booleans in memory: one that batches share, one per row.

// CHECK:      struct Prologue {
// CHECK-NEXT:   FACT_DEVICE float apply(bool operand1,
// CHECK:      Operands<RowTable<1, i1, Extents<6, 5>, Strides<0, 64>, Extents<64>, Strides<1>>,
// CHECK-NEXT:          RowMajor<0, bf16, 64>>,
// CHECK-NEXT: Operands<ColumnVector<2, i1>>,
// CHECK-NEXT: Results<Result<Epilogue, RowMajor<3, bf16, 64>>>,
// CHECK-NEXT: RowSchedule<{{[0-9]+, [0-9]+}}, 8>>;
func.func @masked(%x: tensor<6x5x64xbf16>, %m: tensor<5x64xi1>, %k: tensor<6x5x1xi1>) -> tensor<6x5x64xbf16> {
  %0 = fact.fused "rowwise" ins(%x, %m, %k : tensor<6x5x64xbf16>, tensor<5x64xi1>, tensor<6x5x1xi1>) {
  ^bb0(%a: tensor<6x5x64xbf16>, %b: tensor<5x64xi1>, %c: tensor<6x5x1xi1>):
    %low = fact.constant dense<-1.0e4> : tensor<bf16>
    %zero = fact.constant dense<0.0> : tensor<bf16>
    %1 = fact.select %b, %low, %a : (tensor<5x64xi1>, tensor<bf16>, tensor<6x5x64xbf16>) -> tensor<6x5x64xbf16>
    %2 = fact.softmax %1 dim 2 : tensor<6x5x64xbf16>
    %3 = fact.select %c, %2, %zero : (tensor<6x5x1xi1>, tensor<6x5x64xbf16>, tensor<bf16>) -> tensor<6x5x64xbf16>
    fact.yield %3 : tensor<6x5x64xbf16>
  } : tensor<6x5x64xbf16>
  return %0 : tensor<6x5x64xbf16>
}

// -----

// A row divides by one number, whose inverse serves all.

// CHECK: const float [[SUM:v[0-9]+]] = shared_maximum(reduced, {{.+}}f);
// CHECK: divide_by_shared(operand0, [[SUM]]);
// CHECK: Operands<RowMajor<0, f32, 1024>>,
// CHECK-NEXT: Operands<RowMajor<0, f32, 1024>>,
func.func @quotients(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = fact.fused "rowwise" ins(%x : tensor<64x1024xf32>) {
  ^bb0(%a: tensor<64x1024xf32>):
    %1 = fact.abs %a : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %2 = fact.reduce sum %1 dims [1] keep : (tensor<64x1024xf32>) -> tensor<64x1xf32>
    %3 = fact.clamp %2 min 1.0e-12 : (tensor<64x1xf32>) -> tensor<64x1xf32>
    %4 = fact.div %a, %3 : (tensor<64x1024xf32>, tensor<64x1xf32>) -> tensor<64x1024xf32>
    fact.yield %4 : tensor<64x1024xf32>
  } schedule(#fact.cuda_row<threads = 32, rows = 2>) : tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Rows of a block that do not lie together, or that are not whole vectors, are read from memory by their elements.

// CHECK:      Operands<RowMajor<0, bf16, 98>>,
// CHECK:      RowSchedule<4, 32, 1>>;
func.func @apart(%x: tensor<4096x98xbf16>) -> tensor<4096x49xbf16> {
  %0 = fact.fused "rowwise" ins(%x : tensor<4096x98xbf16>) {
  ^bb0(%a: tensor<4096x98xbf16>):
    %1 = fact.slice %a dim 1 start 0 : (tensor<4096x98xbf16>) -> tensor<4096x49xbf16>
    %2 = fact.softmax %1 dim 1 : tensor<4096x49xbf16>
    fact.yield %2 : tensor<4096x49xbf16>
  } schedule(#fact.cuda_row<threads = 4, rows = 32>) : tensor<4096x49xbf16>
  return %0 : tensor<4096x49xbf16>
}

// CHECK:      RowSchedule<16, 4, 1>>;
func.func @parts_of_vectors(%x: tensor<4096x49xbf16>) -> tensor<4096x49xbf16> {
  %0 = fact.fused "rowwise" ins(%x : tensor<4096x49xbf16>) {
  ^bb0(%a: tensor<4096x49xbf16>):
    %1 = fact.softmax %a dim 1 : tensor<4096x49xbf16>
    fact.yield %1 : tensor<4096x49xbf16>
  } schedule(#fact.cuda_row<threads = 16, rows = 4>) : tensor<4096x49xbf16>
  return %0 : tensor<4096x49xbf16>
}
}
