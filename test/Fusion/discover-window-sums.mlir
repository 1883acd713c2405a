// Sums of many windows are computed in a few steps. What a step reads of a tensor that is not part of
// it is read in place, also if the filter is that of another sum, or the tensor another sum's result.

// RUN: fact-opt %s --fact-discover=target=host > %t
// RUN: FileCheck %s < %t

// How many kernels there are depends on the processor, but no place of a filter has one of its own.
// RUN: grep -c "fact.fused" %t | %python -c "import sys; sys.exit(int(input()) >= 30)"

// CHECK-LABEL: func.func @shared_filter(
// CHECK: fact.fused "pointwise"
// CHECK: return
func.func @shared_filter(%a: tensor<2x3x38x38xf32>, %b: tensor<2x3x38x38xf32>, %w: tensor<3x1x1x7x7xf32>) -> (tensor<2x3x32x32xf32>, tensor<2x3x32x32xf32>) {
  %0 = fact.windows %a dim 2 kernel [7, 7] strides [1, 1] dilations [1, 1] : (tensor<2x3x38x38xf32>) -> tensor<2x3x32x32x7x7xf32>
  %1 = fact.mul %0, %w : (tensor<2x3x32x32x7x7xf32>, tensor<3x1x1x7x7xf32>) -> tensor<2x3x32x32x7x7xf32>
  %2 = fact.reduce sum %1 dims [4, 5] : (tensor<2x3x32x32x7x7xf32>) -> tensor<2x3x32x32xf32>
  %3 = fact.windows %b dim 2 kernel [7, 7] strides [1, 1] dilations [1, 1] : (tensor<2x3x38x38xf32>) -> tensor<2x3x32x32x7x7xf32>
  %4 = fact.mul %3, %w : (tensor<2x3x32x32x7x7xf32>, tensor<3x1x1x7x7xf32>) -> tensor<2x3x32x32x7x7xf32>
  %5 = fact.reduce sum %4 dims [4, 5] : (tensor<2x3x32x32x7x7xf32>) -> tensor<2x3x32x32xf32>
  return %2, %5 : tensor<2x3x32x32xf32>, tensor<2x3x32x32xf32>
}

// CHECK-LABEL: func.func @one_after_the_other(
// CHECK: fact.fused "pointwise"
// CHECK: return
func.func @one_after_the_other(%a: tensor<2x3x44x44xf32>, %v: tensor<3x1x1x7x7xf32>, %w: tensor<3x1x1x7x7xf32>) -> tensor<2x3x32x32xf32> {
  %0 = fact.windows %a dim 2 kernel [7, 7] strides [1, 1] dilations [1, 1] : (tensor<2x3x44x44xf32>) -> tensor<2x3x38x38x7x7xf32>
  %1 = fact.mul %0, %v : (tensor<2x3x38x38x7x7xf32>, tensor<3x1x1x7x7xf32>) -> tensor<2x3x38x38x7x7xf32>
  %2 = fact.reduce sum %1 dims [4, 5] : (tensor<2x3x38x38x7x7xf32>) -> tensor<2x3x38x38xf32>
  %3 = fact.windows %2 dim 2 kernel [7, 7] strides [1, 1] dilations [1, 1] : (tensor<2x3x38x38xf32>) -> tensor<2x3x32x32x7x7xf32>
  %4 = fact.mul %3, %w : (tensor<2x3x32x32x7x7xf32>, tensor<3x1x1x7x7xf32>) -> tensor<2x3x32x32x7x7xf32>
  %5 = fact.reduce sum %4 dims [4, 5] : (tensor<2x3x32x32x7x7xf32>) -> tensor<2x3x32x32xf32>
  return %5 : tensor<2x3x32x32xf32>
}
