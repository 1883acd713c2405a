// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @warps(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
    // expected-error @below {{tile N must be a multiple of 64, 16 per warp, not 32}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      fact.yield %1 : tensor<64x64xf16>
    } schedule(#fact.sm80_gemm<tile = 64x32x32, warps = 1x4, stages = 3, split_k = 1, math = mma>) : tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @registers(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error @below {{sums need 256 registers per thread, and at most 128 do not spill}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      fact.yield %1 : tensor<64x64xf32>
    } schedule(#fact.sm80_gemm<tile = 128x128x16, warps = 2x2, stages = 3, split_k = 1, math = mma>) : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @splits(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
    // expected-error @below {{split_k is at most 2, the tiles of K, not 3}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      fact.yield %1 : tensor<64x64xf16>
    } schedule(#fact.sm80_gemm<tile = 64x64x32, warps = 2x2, stages = 3, split_k = 3, math = mma>) : tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @memory(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
    // expected-error @below {{needs 278528 bytes of shared memory, and 'a100' has 166912}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      fact.yield %1 : tensor<64x64xf16>
    } schedule(#fact.sm80_gemm<tile = 128x128x128, warps = 2x4, stages = 4, split_k = 1, math = mma>) : tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @reduce(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64xf16> {
    // expected-error @below {{takes no 'fact.reduce' of a product}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      %2 = fact.reduce sum %1 dims [1] : (tensor<64x64xf16>) -> tensor<64xf16>
      fact.yield %2 : tensor<64xf16>
    } : tensor<64xf16>
    return %0 : tensor<64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"rtx3090">} {
  func.func @half(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
    // expected-error @below {{math = simt multiplies f32 without tf32}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      fact.yield %1 : tensor<64x64xf16>
    } schedule(#fact.sm80_gemm<tile = 64x64x32, warps = 2x2, stages = 3, split_k = 1, math = simt>) : tensor<64x64xf16>
    return %0 : tensor<64x64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"rtx3090">} {
  func.func @lanes(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error @below {{math = simt needs 32x16 or 16x32 of the tile per warp, not 16x16}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      fact.yield %1 : tensor<64x64xf32>
    } schedule(#fact.sm80_gemm<tile = 32x32x32, warps = 2x2, stages = 3, split_k = 1, math = simt>) : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

module attributes {fact.target = #fact.machine<"rtx3090">} {
  func.func @sums(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error @below {{sums need 128 registers per thread, and at most 64 do not spill}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) {
    ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>):
      %1 = fact.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      fact.yield %1 : tensor<64x64xf32>
    } schedule(#fact.sm80_gemm<tile = 128x128x16, warps = 2x2, stages = 3, split_k = 1, math = simt>) : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @rows(%x: tensor<3000000000x64xf16>, %w: tensor<64x64xf16>) -> tensor<3000000000x64xf16> {
    // expected-error @below {{M must be at most 2147482624, not 3000000000}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<3000000000x64xf16>, tensor<64x64xf16>) {
    ^bb0(%a: tensor<3000000000x64xf16>, %b: tensor<64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<3000000000x64xf16>, tensor<64x64xf16>) -> tensor<3000000000x64xf16>
      fact.yield %1 : tensor<3000000000x64xf16>
    } : tensor<3000000000x64xf16>
    return %0 : tensor<3000000000x64xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @channels_of_windows(%x: tensor<2x16x8x9xf16>, %w: tensor<32x144xf16>) -> tensor<2x6x7x32xf16> {
    // expected-error @below {{channels of windows must be contiguous and begin at multiples of 4 bytes, or be at most 8}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<2x16x8x9xf16>, tensor<32x144xf16>) {
    ^bb0(%a: tensor<2x16x8x9xf16>, %b: tensor<32x144xf16>):
      %1 = fact.permute %a [0, 2, 3, 1] : (tensor<2x16x8x9xf16>) -> tensor<2x8x9x16xf16>
      %2 = fact.windows %1 dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1] : (tensor<2x8x9x16xf16>) -> tensor<2x6x7x3x3x16xf16>
      %3 = fact.reshape %2 : (tensor<2x6x7x3x3x16xf16>) -> tensor<2x6x7x144xf16>
      %4 = fact.matmul %3, %b transpose_b : (tensor<2x6x7x144xf16>, tensor<32x144xf16>) -> tensor<2x6x7x32xf16>
      fact.yield %4 : tensor<2x6x7x32xf16>
    } schedule(#fact.sm80_gemm<tile = 64x64x32, warps = 2x2, stages = 3, split_k = 1, math = mma>) : tensor<2x6x7x32xf16>
    return %0 : tensor<2x6x7x32xf16>
  }
}
