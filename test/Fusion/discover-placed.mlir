// RUN: fact-opt --fact-discover="target=h200 place-parts=true" %s | FileCheck %s
// RUN: fact-opt --fact-discover="target=h200 place-parts=true" --fact-inline-fused --canonicalize %s | FileCheck %s --check-prefix=INLINED

// A fire module: two products write their columns of what the third one reads.
// CHECK-LABEL: func @columns
// CHECK: %[[A:.*]] = fact.fused "gemm_epilogue" ins(%arg0, %arg1 :
// CHECK: %[[RELU:.*]] = fact.relu
// CHECK: %[[REST:.*]] = ub.poison : tensor<8x16x16x192xbf16>
// CHECK: %[[PART:.*]] = fact.concat %[[RELU]], %[[REST]] dim 3
// CHECK: fact.yield %[[PART]] : tensor<8x16x16x256xbf16>
// CHECK: space(
// CHECK: %[[B:.*]] = fact.fused "gemm_epilogue" ins(%arg0, %arg2 :
// CHECK: %[[REST:.*]] = ub.poison : tensor<8x16x16x64xbf16>
// CHECK: fact.concat %[[REST]], %{{.*}} dim 3
// CHECK-DAG: %[[LEFT:.*]] = fact.slice %[[A]] dim 3 start 0
// CHECK-DAG: %[[RIGHT:.*]] = fact.slice %[[B]] dim 3 start 64
// CHECK: %[[WHOLE:.*]] = fact.concat %[[LEFT]], %[[RIGHT]] dim 3
// CHECK: fact.fused "gemm_epilogue" ins(%[[WHOLE]], %arg3 :
// CHECK-NOT: fact.fused

// INLINED-LABEL: func @columns
// INLINED-NOT: ub.poison
// INLINED-NOT: fact.slice
// INLINED: fact.concat {{.*}} dim 3 : (tensor<8x16x16x64xbf16>, tensor<8x16x16x192xbf16>)
func.func @columns(%x: tensor<8x16x16x64xbf16>, %a: tensor<64x64xbf16>, %b: tensor<64x192xbf16>,
                   %c: tensor<256x128xbf16>) -> tensor<8x16x16x128xbf16> {
  %0 = fact.matmul %x, %a : (tensor<8x16x16x64xbf16>, tensor<64x64xbf16>) -> tensor<8x16x16x64xbf16>
  %1 = fact.relu %0 : (tensor<8x16x16x64xbf16>) -> tensor<8x16x16x64xbf16>
  %2 = fact.matmul %x, %b : (tensor<8x16x16x64xbf16>, tensor<64x192xbf16>) -> tensor<8x16x16x192xbf16>
  %3 = fact.gelu %2 : (tensor<8x16x16x192xbf16>) -> tensor<8x16x16x192xbf16>
  %4 = fact.concat %1, %3 dim 3 : (tensor<8x16x16x64xbf16>, tensor<8x16x16x192xbf16>) -> tensor<8x16x16x256xbf16>
  %5 = fact.matmul %4, %c : (tensor<8x16x16x256xbf16>, tensor<256x128xbf16>) -> tensor<8x16x16x128xbf16>
  return %5 : tensor<8x16x16x128xbf16>
}

// An input is copied to its place; the product is not.
// CHECK-LABEL: func @copied
// CHECK: fact.fused "gemm_epilogue"
// CHECK: ub.poison
// CHECK: fact.fused "pointwise" ins(%arg0 :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: ub.poison
// CHECK-NEXT: fact.concat %arg{{.*}}, %{{.*}} dim 1
// CHECK: fact.concat
// CHECK-NEXT: return
func.func @copied(%x: tensor<65536x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<65536x1024xbf16> {
  %0 = fact.matmul %x, %w : (tensor<65536x512xbf16>, tensor<512x512xbf16>) -> tensor<65536x512xbf16>
  %1 = fact.concat %x, %0 dim 1 : (tensor<65536x512xbf16>, tensor<65536x512xbf16>) -> tensor<65536x1024xbf16>
  return %1 : tensor<65536x1024xbf16>
}

// What others read too, and columns that TMA cannot begin at, are copied as
// before.
// CHECK-LABEL: func @shared
// CHECK-NOT: ub.poison
// CHECK: fact.fused "concat"
func.func @shared(%x: tensor<4096x64xbf16>, %w: tensor<64x64xbf16>) -> (tensor<4096x128xbf16>, tensor<4096x64xbf16>) {
  %0 = fact.matmul %x, %w : (tensor<4096x64xbf16>, tensor<64x64xbf16>) -> tensor<4096x64xbf16>
  %1 = fact.concat %x, %0 dim 1 : (tensor<4096x64xbf16>, tensor<4096x64xbf16>) -> tensor<4096x128xbf16>
  return %1, %0 : tensor<4096x128xbf16>, tensor<4096x64xbf16>
}

// A kernel with several results writes all parts of a whole whose parts are as
// large as each other, and two parts of another one.
// CHECK-LABEL: func @several
// CHECK: %[[R:.*]]:3 = fact.fused "pointwise" ins(%arg0 :
// CHECK: %[[WHOLE:.*]] = fact.concat {{.*}} -> tensor<32x3x65536xf32>
// CHECK: fact.yield %{{.*}}, %{{.*}}, %[[WHOLE]] : tensor<32x163840xf32>, tensor<32x163840xf32>, tensor<32x3x65536xf32>
// CHECK: %[[S:.*]] = fact.fused "pointwise" ins(%arg0 :
// CHECK: fact.yield {{.*}} : tensor<32x163840xf32>
// CHECK-NOT: fact.fused
// CHECK: %[[FIRST:.*]] = fact.slice %[[R]]#0 dim 1 start 0
// CHECK: %[[SECOND:.*]] = fact.slice %[[R]]#1 dim 1 start 65536
// CHECK: %[[THIRD:.*]] = fact.slice %[[S]] dim 1 start 131072
// CHECK: %[[JOINED:.*]] = fact.concat %[[FIRST]], %[[SECOND]], %[[THIRD]] dim 1
// CHECK: return %[[R]]#2, %[[JOINED]]

// INLINED-LABEL: func @several
// INLINED-NOT: ub.poison
func.func @several(%x: tensor<32x65536xf32>) -> (tensor<32x3x65536xf32>, tensor<32x163840xf32>) {
  %0 = fact.sin %x : (tensor<32x65536xf32>) -> tensor<32x65536xf32>
  %1 = fact.cos %0 : (tensor<32x65536xf32>) -> tensor<32x65536xf32>
  %2 = fact.exp %1 : (tensor<32x65536xf32>) -> tensor<32x65536xf32>
  %3 = fact.tanh %2 : (tensor<32x65536xf32>) -> tensor<32x65536xf32>
  %4 = fact.sigmoid %3 : (tensor<32x65536xf32>) -> tensor<32x65536xf32>
  %11 = fact.slice %x dim 1 start 0 : (tensor<32x65536xf32>) -> tensor<32x32768xf32>
  %10 = fact.sigmoid %11 : (tensor<32x32768xf32>) -> tensor<32x32768xf32>
  %5 = fact.reshape %0 : (tensor<32x65536xf32>) -> tensor<32x1x65536xf32>
  %6 = fact.reshape %1 : (tensor<32x65536xf32>) -> tensor<32x1x65536xf32>
  %7 = fact.reshape %2 : (tensor<32x65536xf32>) -> tensor<32x1x65536xf32>
  %8 = fact.concat %5, %6, %7 dim 1 : (tensor<32x1x65536xf32>, tensor<32x1x65536xf32>, tensor<32x1x65536xf32>) -> tensor<32x3x65536xf32>
  %9 = fact.concat %3, %4, %10 dim 1 : (tensor<32x65536xf32>, tensor<32x65536xf32>, tensor<32x32768xf32>) -> tensor<32x163840xf32>
  return %8, %9 : tensor<32x3x65536xf32>, tensor<32x163840xf32>
}
