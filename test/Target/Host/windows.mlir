// RUN: fact-translate --fact-to-host %s | FileCheck %s

// Four rows of an image are computed at a time: six rows are read for the three
// taps above each other, and each factor once. Products are not rounded before
// they are added.
module attributes {fact.target = #fact.machine<"neoverse-n1">} {
  // CHECK: // pointwise_0: 1 tiles
  // CHECK-LABEL: func.func @tile(
  // CHECK-COUNT-3: llvm.load {{.*}} -> f32
  // CHECK: scf.for
  // CHECK-COUNT-6: llvm.load {{.*}} -> vector<8xf32>
  // CHECK-NOT: llvm.load {{.*}} -> vector<8xf32>
  // CHECK-COUNT-4: math.fma {{.*}} : vector<8xf32>
  // CHECK-NOT: arith.addf
  // CHECK-COUNT-4: llvm.store {{.*}} vector<8xf32>
  func.func @main(%x: tensor<3x10x18xf32>, %w: tensor<3x3xf32>) -> tensor<3x8x16xf32> {
    %0 = fact.fused "pointwise" ins(%x, %w : tensor<3x10x18xf32>, tensor<3x3xf32>) {
    ^bb0(%a: tensor<3x10x18xf32>, %f: tensor<3x3xf32>):
      %c = fact.slice %a dim 2 start 1 : (tensor<3x10x18xf32>) -> tensor<3x10x16xf32>
      %1 = fact.slice %c dim 1 start 0 : (tensor<3x10x16xf32>) -> tensor<3x8x16xf32>
      %2 = fact.slice %c dim 1 start 1 : (tensor<3x10x16xf32>) -> tensor<3x8x16xf32>
      %3 = fact.slice %c dim 1 start 2 : (tensor<3x10x16xf32>) -> tensor<3x8x16xf32>
      %4 = fact.slice %f dim 1 start 0 : (tensor<3x3xf32>) -> tensor<3x1xf32>
      %5 = fact.slice %f dim 1 start 1 : (tensor<3x3xf32>) -> tensor<3x1xf32>
      %6 = fact.slice %f dim 1 start 2 : (tensor<3x3xf32>) -> tensor<3x1xf32>
      %7 = fact.reshape %4 : (tensor<3x1xf32>) -> tensor<3x1x1xf32>
      %8 = fact.reshape %5 : (tensor<3x1xf32>) -> tensor<3x1x1xf32>
      %9 = fact.reshape %6 : (tensor<3x1xf32>) -> tensor<3x1x1xf32>
      %10 = fact.mul %1, %7 : (tensor<3x8x16xf32>, tensor<3x1x1xf32>) -> tensor<3x8x16xf32>
      %11 = fact.mul %2, %8 : (tensor<3x8x16xf32>, tensor<3x1x1xf32>) -> tensor<3x8x16xf32>
      %12 = fact.mul %3, %9 : (tensor<3x8x16xf32>, tensor<3x1x1xf32>) -> tensor<3x8x16xf32>
      %13 = fact.add %10, %11 : (tensor<3x8x16xf32>, tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
      %14 = fact.add %13, %12 : (tensor<3x8x16xf32>, tensor<3x8x16xf32>) -> tensor<3x8x16xf32>
      fact.yield %14 : tensor<3x8x16xf32>
    } schedule(#fact.host_rows<grain = 32>) : tensor<3x8x16xf32>
    return %0 : tensor<3x8x16xf32>
  }
}
