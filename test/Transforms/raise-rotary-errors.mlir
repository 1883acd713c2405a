// RUN: fact-opt --fact-raise-rotary --canonicalize %s | FileCheck %s --implicit-check-not=fact.rotary

// Near misses of rotary embeddings, which must stay as they are.

// Halves of the first dimension, not of the last.
// CHECK-LABEL: func @first_dimension
func.func @first_dimension(%x: tensor<8x8xf32>, %cos: tensor<8x8xf32>, %sin: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %lo = fact.slice %x dim 0 start 0 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %hi = fact.slice %x dim 0 start 4 : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %n = fact.neg %hi : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = fact.concat %n, %lo dim 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %a = fact.mul %x, %cos : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = fact.mul %r, %sin : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = fact.add %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// Parts of unequal size.
// CHECK-LABEL: func @unequal
func.func @unequal(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %hi = fact.slice %x dim 1 start 2 : (tensor<2x8xf32>) -> tensor<2x6xf32>
  %n = fact.neg %hi : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %r = fact.concat %n, %lo dim 1 : (tensor<2x6xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Both halves are negated.
// CHECK-LABEL: func @both_negated
func.func @both_negated(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %hi : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %o = fact.neg %lo : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %o dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// One half twice.
// CHECK-LABEL: func @one_half_twice
func.func @one_half_twice(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %hi : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %hi dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The rotated half is rounded to bf16.
// CHECK-LABEL: func @rounded
func.func @rounded(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %h = fact.cast %x : (tensor<2x8xf32>) -> tensor<2x8xbf16>
  %w = fact.cast %h : (tensor<2x8xbf16>) -> tensor<2x8xf32>
  %lo = fact.slice %w dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %w dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %hi : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %lo dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Angles that widen the result.
// CHECK-LABEL: func @wider_angles
func.func @wider_angles(%x: tensor<1x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %lo = fact.slice %x dim 1 start 0 : (tensor<1x8xf32>) -> tensor<1x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<1x8xf32>) -> tensor<1x4xf32>
  %n = fact.neg %hi : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %r = fact.concat %n, %lo dim 1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32>
  %a = fact.mul %x, %cos : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Pairs in the other order: odd elements, then even ones.
// CHECK-LABEL: func @pairs_reversed
func.func @pairs_reversed(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %even = fact.slice %x dim 1 start 0 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %odd = fact.slice %x dim 1 start 1 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %even : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = fact.reshape %n : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %v = fact.reshape %odd : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %s = fact.concat %u, %v dim 2 : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x2xf32>
  %r = fact.reshape %s : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Both halves multiply the cosine with the same part.
// CHECK-LABEL: func @halves_same_part
func.func @halves_same_part(%x: tensor<2x8xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %d, %a : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
