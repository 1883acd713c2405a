// RUN: fact-translate --fact-to-cutlass -split-input-file -verify-diagnostics %s

func.func @f32(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) {
  // expected-error @below {{takes f16 or bf16 operands, not 'f32'}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) {
  ^bb0(%a: tensor<1x2x64x64xf32>, %b: tensor<1x2x64x64xf32>, %c: tensor<1x2x64x64xf32>):
    %1 = fact.attention %a, %b, %c scale 0.125 : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    fact.yield %1 : tensor<1x2x64x64xf32>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<1x2x64x64xf32>
  return
}

// -----

func.func @head_sizes(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x64xf16>, %v: tensor<1x2x64x32xf16>) {
  // expected-error @below {{keys and values must have one head size, a multiple of 8 up to 128, not 64 and 32}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x32xf16>) {
  ^bb0(%a: tensor<1x2x64x64xf16>, %b: tensor<1x2x64x64xf16>, %c: tensor<1x2x64x32xf16>):
    %1 = fact.attention %a, %b, %c scale 0.125 : (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x32xf16>) -> tensor<1x2x64x32xf16>
    fact.yield %1 : tensor<1x2x64x32xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<1x2x64x32xf16>
  return
}

// -----

func.func @alignment(%q: tensor<1x2x64x68xf16>, %k: tensor<1x2x64x64xf16>, %v: tensor<1x2x64x64xf16>) {
  // expected-error @below {{strides and offset of the query must be multiples of 16 bytes, and one is 68 elements}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x64x68xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) {
  ^bb0(%a: tensor<1x2x64x68xf16>, %b: tensor<1x2x64x64xf16>, %c: tensor<1x2x64x64xf16>):
    %0 = fact.slice %a dim 3 start 0 : (tensor<1x2x64x68xf16>) -> tensor<1x2x64x64xf16>
    %1 = fact.attention %0, %b, %c scale 0.125 : (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>
    fact.yield %1 : tensor<1x2x64x64xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<1x2x64x64xf16>
  return
}

// -----

func.func @transposed_key(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x64xf16>, %v: tensor<1x2x64x64xf16>) {
  // expected-error @below {{elements of one head must be contiguous, and those of the key have stride 64}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) {
  ^bb0(%a: tensor<1x2x64x64xf16>, %b: tensor<1x2x64x64xf16>, %c: tensor<1x2x64x64xf16>):
    %0 = fact.permute %b [0, 1, 3, 2] : (tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>
    %1 = fact.attention %a, %0, %c scale 0.125 : (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>
    fact.yield %1 : tensor<1x2x64x64xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<1x2x64x64xf16>
  return
}

// -----

func.func @epilogue(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x64xf16>, %v: tensor<1x2x64x64xf16>) {
  // expected-error @below {{takes only views beside 'fact.attention', not 'fact.relu'}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) {
  ^bb0(%a: tensor<1x2x64x64xf16>, %b: tensor<1x2x64x64xf16>, %c: tensor<1x2x64x64xf16>):
    %1 = fact.attention %a, %b, %c scale 0.125 : (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>
    %2 = fact.relu %1 : (tensor<1x2x64x64xf16>) -> tensor<1x2x64x64xf16>
    fact.yield %2 : tensor<1x2x64x64xf16>
  } : tensor<1x2x64x64xf16>
  return
}

// -----

func.func @mask(%q: tensor<1x2x64x64xf16>, %k: tensor<1x2x64x64xf16>, %v: tensor<1x2x64x64xf16>, %m: tensor<64x64xf64>) {
  // expected-error @below {{the mask must be f16, bf16 or f32, not 'f64'}}
  %r = fact.fused "attention" ins(%q, %k, %v, %m : tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<64x64xf64>) {
  ^bb0(%a: tensor<1x2x64x64xf16>, %b: tensor<1x2x64x64xf16>, %c: tensor<1x2x64x64xf16>, %d: tensor<64x64xf64>):
    %1 = fact.attention %a, %b, %c mask %d scale 0.125 : (tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<64x64xf64>) -> tensor<1x2x64x64xf16>
    fact.yield %1 : tensor<1x2x64x64xf16>
  } : tensor<1x2x64x64xf16>
  return
}

// -----

func.func @few_queries(%q: tensor<1x2x16x64xf16>) {
  // expected-error @below {{needs more than 16 queries, not 16}}
  %r = fact.fused "attention" ins(%q : tensor<1x2x16x64xf16>) {
  ^bb0(%a: tensor<1x2x16x64xf16>):
    %1 = fact.attention %a, %a, %a scale 0.125 : (tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>, tensor<1x2x16x64xf16>) -> tensor<1x2x16x64xf16>
    fact.yield %1 : tensor<1x2x16x64xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<1x2x16x64xf16>
  return
}

// -----

func.func @batches(%q: tensor<70000x2x64x64xf16>, %k: tensor<70000x2x64x64xf16>, %v: tensor<70000x2x64x64xf16>) {
  // expected-error @below {{cooperative kernels take at most 65535 heads and batches, not 2 and 70000}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<70000x2x64x64xf16>, tensor<70000x2x64x64xf16>, tensor<70000x2x64x64xf16>) {
  ^bb0(%a: tensor<70000x2x64x64xf16>, %b: tensor<70000x2x64x64xf16>, %c: tensor<70000x2x64x64xf16>):
    %1 = fact.attention %a, %b, %c scale 0.125 : (tensor<70000x2x64x64xf16>, tensor<70000x2x64x64xf16>, tensor<70000x2x64x64xf16>) -> tensor<70000x2x64x64xf16>
    fact.yield %1 : tensor<70000x2x64x64xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<70000x2x64x64xf16>
  return
}

// -----

func.func @rows(%q: tensor<65535x64x1024x64xf16>, %k: tensor<65535x64x1024x64xf16>, %v: tensor<65535x64x1024x64xf16>) {
  // expected-error @below {{batches, heads and queries must be less than 2^31 rows, not 65535 x 64 x 1024}}
  %r = fact.fused "attention" ins(%q, %k, %v : tensor<65535x64x1024x64xf16>, tensor<65535x64x1024x64xf16>, tensor<65535x64x1024x64xf16>) {
  ^bb0(%a: tensor<65535x64x1024x64xf16>, %b: tensor<65535x64x1024x64xf16>, %c: tensor<65535x64x1024x64xf16>):
    %1 = fact.attention %a, %b, %c scale 0.125 : (tensor<65535x64x1024x64xf16>, tensor<65535x64x1024x64xf16>, tensor<65535x64x1024x64xf16>) -> tensor<65535x64x1024x64xf16>
    fact.yield %1 : tensor<65535x64x1024x64xf16>
  } schedule(#fact.sm90_attention<tile = 128x128, kernel = cooperative, stages = 4>) : tensor<65535x64x1024x64xf16>
  return
}
