// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"h200">} {
func.func @wide(%x: tensor<9x64xf32>, %w: tensor<64x32xf32>) -> tensor<9x32xf32> {
  // expected-error @+1 {{rows, columns or terms of the product must be at most 8, and it is 9 x 32 x 64}}
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<9x64xf32>, tensor<64x32xf32>) {
  ^bb0(%a: tensor<9x64xf32>, %b: tensor<64x32xf32>):
    %1 = fact.matmul %a, %b : (tensor<9x64xf32>, tensor<64x32xf32>) -> tensor<9x32xf32>
    fact.yield %1 : tensor<9x32xf32>
  } : tensor<9x32xf32>
  return %0 : tensor<9x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @lanes(%x: tensor<1x64xf32>, %w: tensor<64x32xf32>) -> tensor<1x32xf32> {
  // expected-error @+1 {{a sum of 64 terms cannot be shared by 4 splits of 32 lanes with 1 terms each}}
  %0 = fact.fused "thin_gemm" ins(%x, %w : tensor<1x64xf32>, tensor<64x32xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>):
    %1 = fact.matmul %a, %b : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
    fact.yield %1 : tensor<1x32xf32>
  } schedule(#fact.cuda_thin<lanes = 32, splits = 4>) : tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @more(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{needs exactly one 'fact.scan'}}
  %0 = fact.fused "scan" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.scan sum %a dim 1 : tensor<8x64xf32>
    %2 = fact.scan max %1 dim 1 : tensor<8x64xf32>
    fact.yield %2 : tensor<8x64xf32>
  } : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @tile(%x: tensor<8x16384xi64>) -> tensor<8x16384xi64> {
  // expected-error @+1 {{needs 278528 bytes of shared memory}}
  %0 = fact.fused "sort" ins(%x : tensor<8x16384xi64>) {
  ^bb0(%a: tensor<8x16384xi64>):
    %1 = fact.argsort %a dim 1 : (tensor<8x16384xi64>) -> tensor<8x16384xi64>
    fact.yield %1 : tensor<8x16384xi64>
  } schedule(#fact.cuda_sort<tile = 16384, items = 16>) : tensor<8x16384xi64>
  return %0 : tensor<8x16384xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @threads(%x: tensor<8x64xf32>) -> tensor<8x64xi64> {
  // expected-error @+1 {{a block has at most 1024 threads, and a thread no more than a tile of 32768 elements, not 4}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 : (tensor<8x64xf32>) -> tensor<8x64xi64>
    fact.yield %1 : tensor<8x64xi64>
  } schedule(#fact.cuda_sort<tile = 32768, items = 4>) : tensor<8x64xi64>
  return %0 : tensor<8x64xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @items(%x: tensor<8x64xf64>) -> tensor<8x64xi64> {
  // expected-error @+1 {{a thread has at most 16 keys of 16 bytes, not 32}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf64>) {
  ^bb0(%a: tensor<8x64xf64>):
    %1 = fact.argsort %a dim 1 : (tensor<8x64xf64>) -> tensor<8x64xi64>
    fact.yield %1 : tensor<8x64xi64>
  } schedule(#fact.cuda_sort<tile = 64, items = 32>) : tensor<8x64xi64>
  return %0 : tensor<8x64xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @sorts_all(%x: tensor<8x64xf32>) -> tensor<8x1xi64> {
  // expected-error @+1 {{sorts all places: use cuda_select for the last one}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 count 7 : (tensor<8x64xf32>) -> tensor<8x7xi64>
    %2 = fact.slice %1 dim 1 start 6 : (tensor<8x7xi64>) -> tensor<8x1xi64>
    fact.yield %2 : tensor<8x1xi64>
  } schedule(#fact.cuda_sort<tile = 64, items = 8>) : tensor<8x1xi64>
  return %0 : tensor<8x1xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @block(%x: tensor<8x64xf32>) -> tensor<8x7xi64> {
  // expected-error @+1 {{a block has 32 to 1024 threads, not 2048}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 count 7 : (tensor<8x64xf32>) -> tensor<8x7xi64>
    fact.yield %1 : tensor<8x7xi64>
  } schedule(#fact.cuda_select<threads = 256, rows = 8, splits = 1>) : tensor<8x7xi64>
  return %0 : tensor<8x7xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @no_parts(%x: tensor<8x64xf32>) -> tensor<8x7xi64> {
  // expected-error @+1 {{a row of 64 has no 33 parts}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 count 7 : (tensor<8x64xf32>) -> tensor<8x7xi64>
    fact.yield %1 : tensor<8x7xi64>
  } schedule(#fact.cuda_select<threads = 32, rows = 1, splits = 33>) : tensor<8x7xi64>
  return %0 : tensor<8x7xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @small_parts(%x: tensor<8x64xf32>) -> tensor<8x20xi64> {
  // expected-error @+1 {{a part of a row has at least the 20 elements that are wanted, not 16}}
  %0 = fact.fused "sort" ins(%x : tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>):
    %1 = fact.argsort %a dim 1 count 20 : (tensor<8x64xf32>) -> tensor<8x20xi64>
    fact.yield %1 : tensor<8x20xi64>
  } schedule(#fact.cuda_select<threads = 32, rows = 1, splits = 4>) : tensor<8x20xi64>
  return %0 : tensor<8x20xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @places(%x: tensor<8x65536xf32>) -> tensor<8x30000xi64> {
  // expected-error @+1 {{needs 263212 bytes of shared memory}}
  %0 = fact.fused "sort" ins(%x : tensor<8x65536xf32>) {
  ^bb0(%a: tensor<8x65536xf32>):
    %1 = fact.argsort %a dim 1 count 30000 : (tensor<8x65536xf32>) -> tensor<8x30000xi64>
    fact.yield %1 : tensor<8x30000xi64>
  } schedule(#fact.cuda_select<threads = 1024, rows = 1, splits = 1>) : tensor<8x30000xi64>
  return %0 : tensor<8x30000xi64>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @last(%x: tensor<8x64xf32>, %i: tensor<90xi64>, %u: tensor<90x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{the last update of a row decides a 'set', not a 'sum'}}
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<90xi64>, %c: tensor<90x64xf32>):
    %1 = fact.scatter sum %a, %b, %c dim 0 : (tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) -> tensor<8x64xf32>
    fact.yield %1 : tensor<8x64xf32>
  } schedule(#fact.cuda_scatter<method = last, chunk = 32>) : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @sorted_set(%x: tensor<8x64xf32>, %i: tensor<90xi64>, %u: tensor<90x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{updates of a 'set' need no order: the last of each row decides it}}
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<90xi64>, %c: tensor<90x64xf32>):
    %1 = fact.scatter set %a, %b, %c dim 0 : (tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) -> tensor<8x64xf32>
    fact.yield %1 : tensor<8x64xf32>
  } schedule(#fact.cuda_scatter<method = sort, chunk = 32>) : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @search(%x: tensor<8x64xf32>, %i: tensor<2000xi64>, %u: tensor<2000x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{a search compares each row with at most 1024 indices, not 2000}}
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<8x64xf32>, tensor<2000xi64>, tensor<2000x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<2000xi64>, %c: tensor<2000x64xf32>):
    %1 = fact.scatter sum %a, %b, %c dim 0 : (tensor<8x64xf32>, tensor<2000xi64>, tensor<2000x64xf32>) -> tensor<8x64xf32>
    fact.yield %1 : tensor<8x64xf32>
  } schedule(#fact.cuda_scatter<method = search, chunk = 32>) : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @more_than_scatter(%x: tensor<8x64xf32>, %i: tensor<90xi64>, %u: tensor<90x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{needs exactly one 'fact.scatter', and views before it}}
  %0 = fact.fused "scatter" ins(%x, %i, %u : tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<90xi64>, %c: tensor<90x64xf32>):
    %1 = fact.scatter sum %a, %b, %c dim 0 : (tensor<8x64xf32>, tensor<90xi64>, tensor<90x64xf32>) -> tensor<8x64xf32>
    %2 = fact.relu %1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
    fact.yield %2 : tensor<8x64xf32>
  } : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @split_softmax(%x: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  // expected-error @+1 {{blocks that share a column hold nothing}}
  %0 = fact.fused "reduction" ins(%x : tensor<4x64x32xf32>) {
  ^bb0(%a: tensor<4x64x32xf32>):
    %1 = fact.softmax %a dim 1 : tensor<4x64x32xf32>
    fact.yield %1 : tensor<4x64x32xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 2, operands = held>) : tensor<4x64x32xf32>
  return %0 : tensor<4x64x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @held_sum(%x: tensor<4x64x32xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{a single pass has nothing to hold}}
  %0 = fact.fused "reduction" ins(%x : tensor<4x64x32xf32>) {
  ^bb0(%a: tensor<4x64x32xf32>):
    %1 = fact.reduce sum %a dims [1] : (tensor<4x64x32xf32>) -> tensor<4x32xf32>
    fact.yield %1 : tensor<4x32xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 1, operands = held>) : tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @splits(%x: tensor<4x64x32xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{a column of 64 elements cannot be shared by 16 splits of 8 lanes}}
  %0 = fact.fused "reduction" ins(%x : tensor<4x64x32xf32>) {
  ^bb0(%a: tensor<4x64x32xf32>):
    %1 = fact.reduce sum %a dims [1] : (tensor<4x64x32xf32>) -> tensor<4x32xf32>
    fact.yield %1 : tensor<4x32xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 8, splits = 16, operands = read>) : tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @threads(%x: tensor<4x64x32xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{a block has 32 to 1024 threads, not 16}}
  %0 = fact.fused "reduction" ins(%x : tensor<4x64x32xf32>) {
  ^bb0(%a: tensor<4x64x32xf32>):
    %1 = fact.reduce sum %a dims [1] : (tensor<4x64x32xf32>) -> tensor<4x32xf32>
    fact.yield %1 : tensor<4x32xf32>
  } schedule(#fact.cuda_reduction<columns = 8, lanes = 2, splits = 1, operands = read>) : tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @too_long_to_hold(%x: tensor<4x256x32xf32>) -> tensor<4x256x32xf32> {
  // expected-error @+1 {{a thread holds at most 256 bytes of operands, not 512}}
  %0 = fact.fused "reduction" ins(%x : tensor<4x256x32xf32>) {
  ^bb0(%a: tensor<4x256x32xf32>):
    %1 = fact.softmax %a dim 1 : tensor<4x256x32xf32>
    fact.yield %1 : tensor<4x256x32xf32>
  } schedule(#fact.cuda_reduction<columns = 32, lanes = 2, splits = 1, operands = held>) : tensor<4x256x32xf32>
  return %0 : tensor<4x256x32xf32>
}
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
func.func @few_long_rows(%x: tensor<2x4194304xf32>) -> tensor<2x4194304xf32> {
  // expected-error @+1 {{fewer blocks than multiprocessors read at most 524288 bytes each in several passes, not 16777216}}
  %0 = fact.fused "reduction" ins(%x : tensor<2x4194304xf32>) {
  ^bb0(%a: tensor<2x4194304xf32>):
    %1 = fact.softmax %a dim 1 : tensor<2x4194304xf32>
    fact.yield %1 : tensor<2x4194304xf32>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 1024, splits = 1, operands = read>) : tensor<2x4194304xf32>
  return %0 : tensor<2x4194304xf32>
}
}

// -----

#small = #fact.machine<"small", {architecture = "sm_90a", multiprocessors = 132 : i64, shared_memory_bytes = 511 : i64, cache_bytes = 1024 : i64, bandwidth = 1.0e12 : f64, matrix_flops_16 = 1.0e12 : f64, matrix_flops_32 = 1.0e12 : f64, matrix_flops_tf32 = 1.0e12 : f64, matrix_flops_64 = 1.0e12 : f64, scalar_flops = 1.0e12 : f64, clock = 1.0e9 : f64, launch_seconds = 3.0e-6 : f64}>
module attributes {fact.target = #small} {
// Booleans are not shuffled: each lane has a place in shared memory, however few the sums need.
func.func @mixed(%x: tensor<64x1024xf32>, %m: tensor<64x1024xi1>) -> (tensor<1024xf32>, tensor<1024xi1>) {
  // expected-error @+1 {{needs 512 bytes of shared memory, and 'small' has 511}}
  %0:2 = fact.fused "reduction" ins(%x, %m : tensor<64x1024xf32>, tensor<64x1024xi1>) {
  ^bb0(%a: tensor<64x1024xf32>, %b: tensor<64x1024xi1>):
    %1 = fact.reduce sum %a dims [0] : (tensor<64x1024xf32>) -> tensor<1024xf32>
    %2 = fact.reduce max %b dims [0] : (tensor<64x1024xi1>) -> tensor<1024xi1>
    fact.yield %1, %2 : tensor<1024xf32>, tensor<1024xi1>
  } schedule(#fact.cuda_reduction<columns = 1, lanes = 64, splits = 1, operands = read>) : tensor<1024xf32>, tensor<1024xi1>
  return %0#0, %0#1 : tensor<1024xf32>, tensor<1024xi1>
}
}
