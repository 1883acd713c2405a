// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

module attributes {fact.target = #fact.machine<"h200">} {
  func.func @splits(%q: tensor<1x2x64x64xf32>) {
    // expected-error @below {{the keys have 1 tiles, and cannot be split among 2 blocks}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x64xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
      fact.yield %1 : tensor<1x2x64x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 1, splits = 2>) : tensor<1x2x64x64xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
  func.func @shared(%q: tensor<1x2x64x128xf32>) {
    // expected-error @below {{shared memory}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x128xf32>) {
    ^bb0(%a: tensor<1x2x64x128xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x128xf32>, tensor<1x2x64x128xf32>, tensor<1x2x64x128xf32>) -> tensor<1x2x64x128xf32>
      fact.yield %1 : tensor<1x2x64x128xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x64, stages = 2, splits = 1>) : tensor<1x2x64x128xf32>
    return
  }
}

// -----

// A kernel whose tiles have 64 queries or more.
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @few(%q: tensor<1x2x20x64xf32>) {
    // expected-error @below {{needs more than 32 queries per head of keys, not 20}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x20x64xf32>) {
    ^bb0(%a: tensor<1x2x20x64xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x20x64xf32>, tensor<1x2x20x64xf32>, tensor<1x2x20x64xf32>) -> tensor<1x2x20x64xf32>
      fact.yield %1 : tensor<1x2x20x64xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x64, stages = 1, splits = 1>) : tensor<1x2x20x64xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
  func.func @wide(%q: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x136xf32>) {
    // expected-error @below {{tiles of heads of more than 128 elements have 32 keys, not 64}}
    %r = fact.fused "attention" ins(%q, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x136xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<1x2x64x136xf32>):
      %1 = fact.attention %a, %a, %b scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x136xf32>) -> tensor<1x2x64x136xf32>
      fact.yield %1 : tensor<1x2x64x136xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x64, stages = 1, splits = 1>) : tensor<1x2x64x136xf32>
    return
  }
}

// -----

module attributes {fact.target = #fact.machine<"h200">} {
  func.func @values(%q: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x264xf32>) {
    // expected-error @below {{heads of keys and values must have at most 256 elements, not 64 and 264}}
    %r = fact.fused "attention" ins(%q, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x264xf32>) {
    ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<1x2x64x264xf32>):
      %1 = fact.attention %a, %a, %b scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x264xf32>) -> tensor<1x2x64x264xf32>
      fact.yield %1 : tensor<1x2x64x264xf32>
    } schedule(#fact.sm90_strict_attention<tile = 64x32, stages = 1, splits = 1>) : tensor<1x2x64x264xf32>
    return
  }
}

// -----

// Panels of 64 of keys and values, 16 KiB each, beside 128 KiB of queries: six fit, eight do not.
module attributes {fact.target = #fact.machine<"h200">} {
  func.func @panels(%q: tensor<1x2x64x256xf32>) {
    // expected-error @below {{shared memory}}
    %r = fact.fused "attention" ins(%q : tensor<1x2x64x256xf32>) {
    ^bb0(%a: tensor<1x2x64x256xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>) -> tensor<1x2x64x256xf32>
      fact.yield %1 : tensor<1x2x64x256xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 4, splits = 1>) : tensor<1x2x64x256xf32>
    %s = fact.fused "attention" ins(%q : tensor<1x2x64x256xf32>) {
    ^bb0(%a: tensor<1x2x64x256xf32>):
      %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>, tensor<1x2x64x256xf32>) -> tensor<1x2x64x256xf32>
      fact.yield %1 : tensor<1x2x64x256xf32>
    } schedule(#fact.sm90_strict_attention<tile = 128x32, stages = 3, splits = 1>) : tensor<1x2x64x256xf32>
    return
  }
}
