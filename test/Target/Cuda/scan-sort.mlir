// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

module attributes {fact.target = #fact.machine<"h200">} {
// CHECK: using Kernel = Scan<RowsOf<4096, 1000, 1>, f32, RunningSum,
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
// CHECK: using Kernel = Scan<RowsOf<3, 800, 64>, bf16, RunningLogSumExp,
// CHECK-NEXT: ScanSchedule<8, 2, 1>>;
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
// CHECK: using Kernel = Sort<RowsOf<512, 2000, 1>, f32, 50, /*Descending=*/true,
// CHECK-NEXT: SortSchedule<2048, 512>>;
func.func @largest(%x: tensor<512x2000xf32>) -> tensor<512x50xi64> {
  %0 = fact.fused "sort" ins(%x : tensor<512x2000xf32>) {
  ^bb0(%a: tensor<512x2000xf32>):
    %1 = fact.argsort %a dim 1 descending count 50 : (tensor<512x2000xf32>) -> tensor<512x50xi64>
    fact.yield %1 : tensor<512x50xi64>
  } schedule(#fact.cuda_sort<tile = 2048, threads = 512>) : tensor<512x50xi64>
  return %0 : tensor<512x50xi64>
}
}
