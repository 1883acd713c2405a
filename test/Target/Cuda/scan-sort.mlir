// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: using Kernel = ScanRows<
// CHECK-NEXT: RowsOf<4096, 1000, 1>, float, RunningSum, Identity,
// CHECK-NEXT: Operands<Strided<0, f32, Strides<1000, 0, 1>>>,
// CHECK-NEXT: Operands<>,
// CHECK-NEXT: Results<Result<Identity, Strided<1, f32, Strides<1000, 0, 1>>>>,
// CHECK-NEXT: ScanSchedule<128, 1, 4>>;
func.func @rows(%x: tensor<4096x1000xf32>) -> tensor<4096x1000xf32> {
  %0 = fact.fused "scan" ins(%x : tensor<4096x1000xf32>) {
  ^bb0(%a: tensor<4096x1000xf32>):
    %1 = fact.scan sum %a dim 1 : tensor<4096x1000xf32>
    fact.yield %1 : tensor<4096x1000xf32>
  } schedule(#fact.cuda_scan<lanes = 128, splits = 1>) : tensor<4096x1000xf32>
  return %0 : tensor<4096x1000xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Across rows, elements are read one by one.
// CHECK: RowsOf<3, 800, 64>, float, RunningLogSumExp, Identity,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<51200, 1, 64>>>,
// CHECK: ScanSchedule<8, 2, 1>>;
func.func @columns(%x: tensor<3x800x64xbf16>) -> tensor<3x800x64xbf16> {
  %0 = fact.fused "scan" ins(%x : tensor<3x800x64xbf16>) {
  ^bb0(%a: tensor<3x800x64xbf16>):
    %1 = fact.scan logsumexp %a dim 1 : tensor<3x800x64xbf16>
    fact.yield %1 : tensor<3x800x64xbf16>
  } schedule(#fact.cuda_scan<lanes = 8, splits = 2>) : tensor<3x800x64xbf16>
  return %0 : tensor<3x800x64xbf16>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// What is scanned and what is made of it are computed in the same pass, in the order of memory.
// CHECK: struct Prologue
// CHECK: struct Epilogue0
// CHECK: struct Epilogue1
// CHECK: RowsOf<64, 512, 1>, float, RunningSum, Prologue,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<512, 0, 1>>,
// CHECK-NEXT: Strided<1, bf16, Strides<0, 0, 1>>>,
// CHECK-NEXT: Operands<Strided<0, bf16, Strides<512, 0, 1>>>,
// CHECK-NEXT: Results<Result<Epilogue0, Strided<2, bf16, Strides<512, 0, 1>>>,
// CHECK-NEXT: Result<Epilogue1, Strided<3, f32, Strides<512, 0, 1>>>>,
// CHECK-NEXT: ScanSchedule<64, 1, 4>>;
func.func @exclusive(%x: tensor<64x512xbf16>, %w: tensor<512xbf16>) -> (tensor<64x512xbf16>, tensor<64x512xf32>) {
  %0:2 = fact.fused "scan" ins(%x, %w : tensor<64x512xbf16>, tensor<512xbf16>) {
  ^bb0(%a: tensor<64x512xbf16>, %b: tensor<512xbf16>):
    %1 = fact.mul %a, %b : (tensor<64x512xbf16>, tensor<512xbf16>) -> tensor<64x512xbf16>
    %2 = fact.scan sum %1 dim 1 : tensor<64x512xbf16>
    %3 = fact.sub %2, %a : (tensor<64x512xbf16>, tensor<64x512xbf16>) -> tensor<64x512xbf16>
    %4 = fact.exp %2 : (tensor<64x512xbf16>) -> tensor<64x512xbf16>
    %5 = fact.cast %4 : (tensor<64x512xbf16>) -> tensor<64x512xf32>
    fact.yield %3, %5 : tensor<64x512xbf16>, tensor<64x512xf32>
  } schedule(#fact.cuda_scan<lanes = 64, splits = 1>) : tensor<64x512xbf16>, tensor<64x512xf32>
  return %0#0, %0#1 : tensor<64x512xbf16>, tensor<64x512xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: using Kernel = Sort<RowsOf<512, 2000, 1>, f32, 50, /*Descending=*/true,
// CHECK-NEXT: SortSchedule<2048, 16, 1>>;
func.func @largest(%x: tensor<512x2000xf32>) -> tensor<512x50xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<512x2000xf32>) {
  ^bb0(%a: tensor<512x2000xf32>):
    %1 = fact.argsort %a dim 1 descending count 50 : (tensor<512x2000xf32>) -> tensor<512x50xi64>
    fact.yield %1 : tensor<512x50xi64>
  } schedule(#fact.cuda_sort<tile = 2048, items = 16>) : tensor<512x50xi64>
  return %0 : tensor<512x50xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Blocks have four warps, and columns that share a sector.
// CHECK: using Kernel = Sort<RowsOf<1, 500, 64>, bf16, 500, /*Descending=*/false,
// CHECK-NEXT: SortSchedule<512, 16, 16>>;
func.func @columns(%x: tensor<500x64xbf16>) -> tensor<500x64xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<500x64xbf16>) {
  ^bb0(%a: tensor<500x64xbf16>):
    %1 = fact.argsort %a dim 0 : (tensor<500x64xbf16>) -> tensor<500x64xi64>
    fact.yield %1 : tensor<500x64xi64>
  } schedule(#fact.cuda_sort<tile = 512, items = 16>) : tensor<500x64xi64>
  return %0 : tensor<500x64xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: #include "fact/cutlass/Select.cuh"
// CHECK: using Kernel = Select<RowsOf<512, 2000, 1>, f32, 50, /*Descending=*/true,
// CHECK-NEXT: /*OnlyLast=*/false, SelectSchedule<128, 1, 2>>;
func.func @selected(%x: tensor<512x2000xf32>) -> tensor<512x50xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<512x2000xf32>) {
  ^bb0(%a: tensor<512x2000xf32>):
    %1 = fact.argsort %a dim 1 descending count 50 : (tensor<512x2000xf32>) -> tensor<512x50xi64>
    fact.yield %1 : tensor<512x50xi64>
  } schedule(#fact.cuda_select<threads = 128, rows = 1, splits = 2>) : tensor<512x50xi64>
  return %0 : tensor<512x50xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: using Kernel = Select<RowsOf<1, 900, 40>, bf16, 450, /*Descending=*/false,
// CHECK-NEXT: /*OnlyLast=*/true, SelectSchedule<32, 16, 1>>;
func.func @last(%x: tensor<900x40xbf16>) -> tensor<1x40xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<900x40xbf16>) {
  ^bb0(%a: tensor<900x40xbf16>):
    %1 = fact.argsort %a dim 0 count 450 : (tensor<900x40xbf16>) -> tensor<450x40xi64>
    %2 = fact.slice %1 dim 0 start 449 : (tensor<450x40xi64>) -> tensor<1x40xi64>
    fact.yield %2 : tensor<1x40xi64>
  } schedule(#fact.cuda_select<threads = 32, rows = 16, splits = 1>) : tensor<1x40xi64>
  return %0 : tensor<1x40xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
// Blocks of one row count together.
// CHECK: #include "fact/cutlass/SelectTogether.cuh"
// CHECK: using Kernel = SelectTogether<RowsOf<1, 100000, 1>, f32, 50000, /*Descending=*/false,
// CHECK-NEXT: SelectSchedule<256, 1, 16>>;
func.func @median(%x: tensor<100000xf32>) -> tensor<1xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<100000xf32>) {
  ^bb0(%a: tensor<100000xf32>):
    %1 = fact.argsort %a dim 0 count 50000 : (tensor<100000xf32>) -> tensor<50000xi64>
    %2 = fact.slice %1 dim 0 start 49999 : (tensor<50000xi64>) -> tensor<1xi64>
    fact.yield %2 : tensor<1xi64>
  } schedule(#fact.cuda_select<threads = 256, rows = 1, splits = 16>) : tensor<1xi64>
  return %0 : tensor<1xi64>
}
}
