// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @pair(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf16> {
    // expected-error @below {{two_sm needs tile M of 128, not 64}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x256xf16>, tensor<256x256xf16>) {
    ^bb0(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>):
      %1 = fact.matmul %a, %b : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
      fact.yield %1 : tensor<256x256xf16>
    } schedule(#fact.sm100_gemm<tile = 64x128x64, cluster = 2x1, kernel = two_sm, swizzle = 1>) : tensor<256x256xf16>
    return %0 : tensor<256x256xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @cluster(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf16> {
    // expected-error @below {{two_sm needs an even cluster M, not 1}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x256xf16>, tensor<256x256xf16>) {
    ^bb0(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>):
      %1 = fact.matmul %a, %b : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
      fact.yield %1 : tensor<256x256xf16>
    } schedule(#fact.sm100_gemm<tile = 128x128x64, cluster = 1x2, kernel = two_sm, swizzle = 1>) : tensor<256x256xf16>
    return %0 : tensor<256x256xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @blocks(%x: tensor<256x256xf16>, %w: tensor<256x256xf16>) -> tensor<256x256xf16> {
    // expected-error @below {{a cluster has 1, 2 or 4 blocks, not 8}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x256xf16>, tensor<256x256xf16>) {
    ^bb0(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>):
      %1 = fact.matmul %a, %b : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
      fact.yield %1 : tensor<256x256xf16>
    } schedule(#fact.sm100_gemm<tile = 128x128x64, cluster = 4x2, kernel = two_sm, swizzle = 1>) : tensor<256x256xf16>
    return %0 : tensor<256x256xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @narrow(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
    // expected-error @below {{multiplies f16 and bf16, not 'f32'}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) {
    ^bb0(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>):
      %1 = fact.matmul %a, %b : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
      fact.yield %1 : tensor<256x256xf32>
    } schedule(#fact.sm100_gemm<tile = 128x128x64, cluster = 2x1, kernel = two_sm, swizzle = 1>) : tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
}

// -----

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @odd(%x: tensor<100x100xf16>, %w: tensor<100x100xf16>) -> tensor<100x100xf16> {
    // expected-error @below {{needs strides and offsets that are multiples of 16 bytes for TMA, and a row has 100 elements of 'f16'}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<100x100xf16>, tensor<100x100xf16>) {
    ^bb0(%a: tensor<100x100xf16>, %b: tensor<100x100xf16>):
      %1 = fact.matmul %a, %b : (tensor<100x100xf16>, tensor<100x100xf16>) -> tensor<100x100xf16>
      fact.yield %1 : tensor<100x100xf16>
    } schedule(#fact.sm100_gemm<tile = 128x128x64, cluster = 2x1, kernel = two_sm, swizzle = 1>) : tensor<100x100xf16>
    return %0 : tensor<100x100xf16>
  }
}

// -----

module attributes {fact.target = #fact.machine<"b200">} {
  func.func @batches(%x: tensor<70000x64x64xf16>, %w: tensor<70000x64x64xf16>) -> tensor<70000x64x64xf16> {
    // expected-error @below {{takes at most 65535 tiles along M and N and batches, not 70000}}
    %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<70000x64x64xf16>, tensor<70000x64x64xf16>) {
    ^bb0(%a: tensor<70000x64x64xf16>, %b: tensor<70000x64x64xf16>):
      %1 = fact.matmul %a, %b : (tensor<70000x64x64xf16>, tensor<70000x64x64xf16>) -> tensor<70000x64x64xf16>
      fact.yield %1 : tensor<70000x64x64xf16>
    } schedule(#fact.sm100_gemm<tile = 64x64x64, cluster = 1x1, kernel = one_sm, swizzle = 1>) : tensor<70000x64x64xf16>
    return %0 : tensor<70000x64x64xf16>
  }
}
