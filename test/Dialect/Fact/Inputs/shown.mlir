// Modules that have what descriptions show of one op, attribute or program.

fact.weight @up.weight : tensor<3072x768xbf16>
fact.weight @causal baked = dense<true> : tensor<4x4xi1>
func.func @weights() -> (tensor<3072x768xbf16>, tensor<f32>) {
  %w = fact.get_weight @up.weight : tensor<3072x768xbf16>
  %c = fact.constant dense<5.0e-01> : tensor<f32>
  return %w, %c : tensor<3072x768xbf16>, tensor<f32>
}

// -----

fact.weight @q : tensor<8x8xf32>
fact.weight @k : tensor<8x8xf32>
func.func @prepared() -> tensor<16x8xf32> {
  %w = fact.prepare {
    %0 = fact.get_weight @q : tensor<8x8xf32>
    %1 = fact.get_weight @k : tensor<8x8xf32>
    %2 = fact.concat %0, %1 dim 0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    fact.yield %2 : tensor<16x8xf32>
  } : tensor<16x8xf32>
  return %w : tensor<16x8xf32>
}

// -----

func.func @fused(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %b: tensor<16xf32>) -> tensor<64x16xf32> {
  %h = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<64x32xf32>, tensor<16x32xf32>, tensor<16xf32>) {
  ^bb0(%a: tensor<64x32xf32>, %c: tensor<16x32xf32>, %d: tensor<16xf32>):
    %0 = fact.matmul %a, %c transpose_b : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
    %1 = fact.add %0, %d : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32>
    fact.yield %1 : tensor<64x16xf32>
  } : tensor<64x16xf32>
  return %h : tensor<64x16xf32>
}

// -----

#strategy = #fact.strategy<reuse, "gemm_epilogue/bf16/sm_90a#d12cb87f6a">
#schedule = #fact.sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = pingpong, swizzle = 1>
#space = #fact.host_gemm_space<micro = [8x12, 8x8], rows = [48, 96], columns = [384]>
#list = #fact.schedules<#fact.host_rows<grain = 8>, #fact.host_rows<grain = 32>>
module attributes {fact.target = #fact.machine<"h200">} {
}

// -----

func.func @imported(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}

// -----

program.kernel @pointwise_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @forward : (tensor<4x8xf32>) -> tensor<4x8xf32>
    inputs(["x"]) outputs(["output0"]) workspace(256) prepared(0) {
  %x = program.input 0 : tensor<4x8xf32>
  %workspace = program.alloc workspace at 0 : tensor<4x8xf32>
  %output0 = program.output 0 : tensor<4x8xf32>
  program.prepare {
  }
  program.run {
    program.launch @pointwise_0(%x) -> (%workspace)
    program.launch @pointwise_0(%workspace) -> (%output0)
  }
}

// -----

fact.weight @up.weight : tensor<4x8xf32>
program.kernel @pointwise_0(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%x, %w : tensor<4x8xf32>, tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %1 = fact.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @buffers : (tensor<8x8xf32>) -> tensor<4x8xf32>
    inputs(["x"]) outputs(["y"]) workspace(256) prepared(512) {
  %x = program.input 0 : tensor<8x8xf32>
  %rows = program.part %x at 128 : tensor<4x8xf32>
  %up.weight = program.weight @up.weight : tensor<4x8xf32>
  %half = program.constant dense<5.0e-01> : tensor<4x8xf32>
  %workspace = program.alloc workspace at 0 : tensor<4x8xf32>
  %prepared = program.alloc prepared at 256 : tensor<4x8xf32>
  %y = program.output 0 : tensor<4x8xf32>
  program.prepare {
    program.launch @pointwise_0(%half, %up.weight) -> (%prepared)
  }
  program.run {
    program.launch @pointwise_0(%rows, %up.weight) -> (%workspace)
    program.launch @pointwise_0(%workspace, %prepared) -> (%y)
  }
}
