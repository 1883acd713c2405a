// What the registry keeps the results of each kernel under.

// RUN: rm -rf %t
// RUN: fact-compile %s --target=sm_90a --until=bundle --bundle=%t --candidates=1
// RUN: %python -c "import json, sys; [print(k['rule'], json.dumps(k['problem'])) for k in json.load(open(sys.argv[1]))['kernels']]" %t/bundle.json | FileCheck %s

func.func @main(%x: tensor<4x128x64xbf16>, %gate: tensor<256x64xbf16>, %up: tensor<256x64xbf16>,
                %down: tensor<64x256xbf16>, %bias: tensor<64xbf16>,
                %a: tensor<8x64x32xf16>, %b: tensor<8x32x96xf16>,
                %q: tensor<2x8x128x64xbf16>, %k: tensor<2x2x256x64xbf16>,
                %v: tensor<2x2x256x64xbf16>, %n: tensor<32x768xf32>, %w: tensor<768xf32>,
                %p: tensor<32x768xf32>, %t: tensor<32x768xf32>)
    -> (tensor<4x128x64xbf16>, tensor<8x64x96xf16>, tensor<2x8x128x64xbf16>, tensor<32x768xf32>,
        tensor<768x32xf32>, tensor<32x1536xf32>) {
  // Batches that share a factor are rows; n is that of the result.
  // CHECK-DAG: gated_gemm {"dtype": "bf16", "example": "49_hopper_gemm_with_collective_builder", "extents": {"batch": 1, "k": 64, "m": 512, "n": 256, "tensors": 1}, "format": 2, "ops": "matmul.nt,silu,matmul.nt,mul"}
  %0 = fact.matmul %x, %gate transpose_b : (tensor<4x128x64xbf16>, tensor<256x64xbf16>) -> tensor<4x128x256xbf16>
  %1 = fact.silu %0 : (tensor<4x128x256xbf16>) -> tensor<4x128x256xbf16>
  %2 = fact.matmul %x, %up transpose_b : (tensor<4x128x64xbf16>, tensor<256x64xbf16>) -> tensor<4x128x256xbf16>
  %3 = fact.mul %1, %2 : (tensor<4x128x256xbf16>, tensor<4x128x256xbf16>) -> tensor<4x128x256xbf16>

  // The bias is nothing, the residual one more tensor.
  // CHECK-DAG: gemm_epilogue {"dtype": "bf16", "example": "49_hopper_gemm_with_collective_builder", "extents": {"batch": 1, "k": 256, "m": 512, "n": 64, "tensors": 2}, "format": 2, "ops": "matmul.nt,add,add"}
  %4 = fact.matmul %3, %down transpose_b : (tensor<4x128x256xbf16>, tensor<64x256xbf16>) -> tensor<4x128x64xbf16>
  %5 = fact.add %4, %bias : (tensor<4x128x64xbf16>, tensor<64xbf16>) -> tensor<4x128x64xbf16>
  %6 = fact.add %5, %x : (tensor<4x128x64xbf16>, tensor<4x128x64xbf16>) -> tensor<4x128x64xbf16>

  // CHECK-DAG: gemm_epilogue {"dtype": "f16", "example": "49_hopper_gemm_with_collective_builder", "extents": {"batch": 8, "k": 32, "m": 64, "n": 96, "tensors": 1}, "format": 2, "ops": "matmul.nn"}
  %7 = fact.matmul %a, %b : (tensor<8x64x32xf16>, tensor<8x32x96xf16>) -> tensor<8x64x96xf16>

  // CHECK-DAG: attention {"dtype": "bf16", "example": "88_hopper_fmha", "extents": {"batch": 2, "head": 64, "heads": 8, "keys": 256, "kv_heads": 2, "queries": 128}, "format": 2, "ops": "attention"}
  %8 = fact.attention %q, %k, %v scale 0.125 : (tensor<2x8x128x64xbf16>, tensor<2x2x256x64xbf16>, tensor<2x2x256x64xbf16>) -> tensor<2x8x128x64xbf16>

  // CHECK-DAG: rowwise {"dtype": "f32", "extents": {"columns": 768, "rows": 32, "tensors": 3}, "format": 2, "ops": "add,rms_norm"}
  %9 = fact.add %n, %p : (tensor<32x768xf32>, tensor<32x768xf32>) -> tensor<32x768xf32>
  %10 = fact.norm rms %9 weight %w eps 1.0e-05 : (tensor<32x768xf32>, tensor<768xf32>) -> tensor<32x768xf32>

  // Without a contraction, a layout is work.
  // CHECK-DAG: pointwise {"dtype": "f32", "extents": {"elements": 24576, "tensors": 2}, "format": 2, "ops": "permute,exp"}
  %11 = fact.permute %t [1, 0] : (tensor<32x768xf32>) -> tensor<768x32xf32>
  %12 = fact.exp %11 : (tensor<768x32xf32>) -> tensor<768x32xf32>

  // CHECK-DAG: concat {"dtype": "f32", "extents": {"elements": 49152, "tensors": 2}, "format": 2, "ops": "concat"}
  %13 = fact.concat %n, %p dim 1 : (tensor<32x768xf32>, tensor<32x768xf32>) -> tensor<32x1536xf32>
  return %6, %7, %8, %10, %12, %13 : tensor<4x128x64xbf16>, tensor<8x64x96xf16>, tensor<2x8x128x64xbf16>, tensor<32x768xf32>, tensor<768x32xf32>, tensor<32x1536xf32>
}
