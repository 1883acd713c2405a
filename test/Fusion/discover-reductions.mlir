// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" --split-input-file | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: fact-opt %s --fact-discover="target=host patterns=%t.none" --split-input-file | FileCheck %s

// What follows a product reduces it while it is at hand; the product is not
// stored.

// CHECK-LABEL: func.func @columns
// CHECK: fact.fused "gemm_epilogue"
// CHECK: fact.matmul
// CHECK-NEXT: fact.add
// CHECK-NEXT: fact.relu
// CHECK-NEXT: fact.reduce sum
// CHECK-NEXT: fact.yield {{.*}} : tensor<256xf16>
// CHECK-NOT: stream_k
// CHECK-NOT: fact.fused
func.func @columns(%x: tensor<512x128xf16>, %w: tensor<256x128xf16>, %b: tensor<256xf16>) -> tensor<256xf16> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<512x128xf16>, tensor<256x128xf16>) -> tensor<512x256xf16>
  %1 = fact.add %0, %b : (tensor<512x256xf16>, tensor<256xf16>) -> tensor<512x256xf16>
  %2 = fact.relu %1 : (tensor<512x256xf16>) -> tensor<512x256xf16>
  %3 = fact.reduce sum %2 dims [0] : (tensor<512x256xf16>) -> tensor<256xf16>
  return %3 : tensor<256xf16>
}

// -----

// A mean over the tokens of each batch.

// CHECK-LABEL: func.func @pooled
// CUDA: fact.fused "gemm_epilogue"
// CUDA: fact.matmul
// CUDA-NEXT: fact.reduce mean
// CUDA-NEXT: fact.reshape
// CUDA-NEXT: fact.yield {{.*}} : tensor<8x256xf16>
// CUDA-NOT: fact.fused
func.func @pooled(%x: tensor<8x512x128xf16>, %w: tensor<256x128xf16>) -> tensor<8x256xf16> {
  %0 = fact.matmul %x, %w transpose_b : (tensor<8x512x128xf16>, tensor<256x128xf16>) -> tensor<8x512x256xf16>
  %3 = fact.reduce mean %0 dims [1] keep : (tensor<8x512x256xf16>) -> tensor<8x1x256xf16>
  %4 = fact.reshape %3 : (tensor<8x1x256xf16>) -> tensor<8x256xf16>
  return %4 : tensor<8x256xf16>
}

// -----

// The product is stored where others read it, and what is made of its reduction
// follows.

// CHECK-LABEL: func.func @shared
// CHECK: %[[R:.*]]:2 = fact.fused "gemm_epilogue"
// CHECK: fact.matmul
// CHECK-NEXT: fact.reduce max
// CHECK-NEXT: fact.tanh
// CHECK: fact.fused "rowwise" ins(%[[R]]
// CHECK: fact.softmax
// CHECK-NOT: fact.fused
func.func @shared(%x: tensor<4096x1024xbf16>, %w: tensor<1024x2048xbf16>) -> (tensor<4096x2048xbf16>, tensor<4096xbf16>) {
  %0 = fact.matmul %x, %w : (tensor<4096x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16>
  %1 = fact.softmax %0 dim 1 : tensor<4096x2048xbf16>
  %2 = fact.reduce max %0 dims [1] : (tensor<4096x2048xbf16>) -> tensor<4096xbf16>
  %3 = fact.tanh %2 : (tensor<4096xbf16>) -> tensor<4096xbf16>
  return %1, %3 : tensor<4096x2048xbf16>, tensor<4096xbf16>
}

// -----

// What comes back to the product is for a kernel that has whole rows.

// CHECK-LABEL: func.func @centered
// CHECK: fact.fused "gemm_epilogue"
// CHECK: fact.matmul
// CHECK-NEXT: fact.yield
// CHECK: fact.fused "rowwise"
// CHECK: fact.reduce mean
// CHECK-NEXT: fact.sub
// CHECK-NOT: fact.fused
func.func @centered(%x: tensor<4096x1024xbf16>, %w: tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16> {
  %0 = fact.matmul %x, %w : (tensor<4096x1024xbf16>, tensor<1024x2048xbf16>) -> tensor<4096x2048xbf16>
  %1 = fact.reduce mean %0 dims [1] keep : (tensor<4096x2048xbf16>) -> tensor<4096x1xbf16>
  %2 = fact.sub %0, %1 : (tensor<4096x2048xbf16>, tensor<4096x1xbf16>) -> tensor<4096x2048xbf16>
  return %2 : tensor<4096x2048xbf16>
}
