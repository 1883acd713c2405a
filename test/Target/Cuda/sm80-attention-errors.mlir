// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @f64(%q: tensor<1x2x64x64xf64>) {
    // expected-error @below {{takes f16, bf16 or f32 operands, not 'f64'}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x64xf64>) {
    ^bb0(%a: tensor<1x2x64x64xf64>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x64xf64>, tensor<1x2x64x64xf64>, tensor<1x2x64x64xf64>) -> tensor<1x2x64x64xf64>
      fact.yield %1 : tensor<1x2x64x64xf64>
    } : tensor<1x2x64x64xf64>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @large_head(%q: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x257xf32>) {
    // expected-error @below {{heads of keys and values must have at most 256 elements, not 64 and 257}}
    %r = fact.fused "attention" ins(%q, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x257xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<1x2x64x257xf32>):
      %1 = fact.attention %a, %a, %b scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x257xf32>) -> tensor<1x2x64x257xf32>
      fact.yield %1 : tensor<1x2x64x257xf32>
    } : tensor<1x2x64x257xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @mask(%q: tensor<1x2x64x64xf32>, %m: tensor<64x64xf64>) {
    // expected-error @below {{the mask must be f16, bf16 or f32, not 'f64'}}
    %r = fact.fused "attention" ins(%q, %m : tensor<1x2x64x64xf32>, tensor<64x64xf64>) {
    ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<64x64xf64>):
      %1 = fact.attention %a, %a, %a mask %b scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<64x64xf64>) -> tensor<1x2x64x64xf32>
      fact.yield %1 : tensor<1x2x64x64xf32>
    } : tensor<1x2x64x64xf32>
    return
  }
}

// -----

// Legal values that do not fit together, or not the region and the machine.

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @warps(%q: tensor<1x2x64x64xf32>) {
    // expected-error @below {{a warp needs 16 or 32 queries, not 64 in 8 warps}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x64xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
      fact.yield %1 : tensor<1x2x64x64xf32>
    } schedule(#fact.sm80_attention<tile = 64x64, warps = 8, stages = 2, splits = 1>) : tensor<1x2x64x64xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @registers(%q: tensor<1x2x64x128xf32>) {
    // expected-error @below {{the sums of a thread need 256 registers, and it has 160 for them}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x128xf32>) {
    ^bb0(%a: tensor<1x2x64x128xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x128xf32>, tensor<1x2x64x128xf32>, tensor<1x2x64x128xf32>) -> tensor<1x2x64x128xf32>
      fact.yield %1 : tensor<1x2x64x128xf32>
    } schedule(#fact.sm80_attention<tile = 128x64, warps = 4, stages = 2, splits = 1>) : tensor<1x2x64x128xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @splits(%q: tensor<1x2x64x64xf32>) {
    // expected-error @below {{the keys have 1 tiles, and cannot be split among 2 blocks}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x64xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
      fact.yield %1 : tensor<1x2x64x64xf32>
    } schedule(#fact.sm80_attention<tile = 64x64, warps = 4, stages = 2, splits = 2>) : tensor<1x2x64x64xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"a100">} {
  func.func @memory(%q: tensor<1x2x64x256xf32>) {
    // expected-error @below {{needs 199680 bytes of shared memory, and 'a100' has 166912}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x256xf32>) {
    ^bb0(%a: tensor<1x2x64x256xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>) -> tensor<1x2x64x256xf32>
      fact.yield %1 : tensor<1x2x64x256xf32>
    } schedule(#fact.sm80_attention<tile = 64x32, warps = 4, stages = 2, splits = 1>) : tensor<1x2x64x256xf32>
    return
  }
}
