// RUN: fact-opt --fact-raise-rotary --canonicalize %s | FileCheck %s

// CHECK-LABEL: func @half(
func.func @half(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: fact.rotary %arg0, %arg1, %arg2 : 
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %hi : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %lo dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Operands in another order, and the sign with the sum.
// CHECK-LABEL: func @half_other_order(
func.func @half_other_order(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: fact.rotary %arg0, %arg1, %arg2 : 
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %lo : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %hi, %n dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %cos, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %sin, %r : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.sub %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func @interleaved(
func.func @interleaved(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: fact.rotary %arg0, %arg1, %arg2 interleaved : 
  %even = fact.slice %x dim 1 start 0 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %odd = fact.slice %x dim 1 start 1 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %odd : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = fact.reshape %n : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %v = fact.reshape %even : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %s = fact.concat %u, %v dim 2 : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x2xf32>
  %r = fact.reshape %s : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Pairs as a dimension of their own.
// CHECK-LABEL: func @interleaved_pairs(
func.func @interleaved_pairs(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: fact.rotary %arg0, %arg1, %arg2 interleaved : 
  %p = fact.reshape %x : (tensor<2x8xf32>) -> tensor<2x4x2xf32>
  %e = fact.slice %p dim 2 start 0 : (tensor<2x4x2xf32>) -> tensor<2x4x1xf32>
  %o = fact.slice %p dim 2 start 1 : (tensor<2x4x2xf32>) -> tensor<2x4x1xf32>
  %n = fact.neg %o : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %s = fact.concat %n, %e dim 2 : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x2xf32>
  %r = fact.reshape %s : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Both halves with angles of half the width.
// CHECK-LABEL: func @halves(
func.func @halves(%x: tensor<2x8xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK-DAG: %[[COS:.*]] = fact.concat %arg1, %arg1 dim 1
  // CHECK-DAG: %[[SIN:.*]] = fact.concat %arg2, %arg2 dim 1
  // CHECK: fact.rotary %arg0, %[[COS]], %[[SIN]] : 
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %d, %c : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func @halves_interleaved(
func.func @halves_interleaved(%x: tensor<2x8xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[COS:.*]] = fact.reshape %{{.*}} : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  // CHECK: %[[SIN:.*]] = fact.reshape %{{.*}} : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  // CHECK: fact.rotary %arg0, %[[COS]], %[[SIN]] interleaved : 
  %lo = fact.slice %x dim 1 start 0 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 1 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %d, %c : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = fact.reshape %f : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %v = fact.reshape %g : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %s = fact.concat %u, %v dim 2 : (tensor<2x4x1xf32>, tensor<2x4x1xf32>) -> tensor<2x4x2xf32>
  %y = fact.reshape %s : (tensor<2x4x2xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Angles of the full width, in halves: joined, they are what they were.
// CHECK-LABEL: func @halves_of_angles(
func.func @halves_of_angles(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NEXT: fact.rotary %arg0, %arg1, %arg2 : 
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %c1 = fact.slice %cos dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %c2 = fact.slice %cos dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %s1 = fact.slice %sin dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %s2 = fact.slice %sin dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %c1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %s1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %c2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %s2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %c, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Half of each row is rotated: slices of slices.
// CHECK-LABEL: func @part_of_row(
func.func @part_of_row(%x: tensor<2x16xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[X:.*]] = fact.slice %arg0 dim 1 start 8 : (tensor<2x16xf32>) -> tensor<2x8xf32>
  // CHECK: fact.rotary %[[X]]
  %lo = fact.slice %x dim 1 start 8 : (tensor<2x16xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 12 : (tensor<2x16xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %d, %c : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Halves swapped.
// CHECK-LABEL: func @swapped(
func.func @swapped(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %lo : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %hi dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Turned the other way.
// CHECK-LABEL: func @wrong_sign(
func.func @wrong_sign(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %lo : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %hi, %n dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// A reflection.
// CHECK-LABEL: func @no_sign(
func.func @no_sign(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %r = fact.concat %hi, %lo dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Another tensor is turned.
// CHECK-LABEL: func @other_tensor(
func.func @other_tensor(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>, %z: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %z dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %z dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %hi : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %lo dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Pairs are taken interleaved and put together as halves.
// CHECK-LABEL: func @mixed(
func.func @mixed(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %even = fact.slice %x dim 1 start 0 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %odd = fact.slice %x dim 1 start 1 step 2 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %n = fact.neg %odd : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = fact.concat %n, %even dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %a = fact.mul %x, %cos : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = fact.mul %r, %sin : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = fact.add %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func @halves_wrong_sign(
func.func @halves_wrong_sign(%x: tensor<2x8xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 4 : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.add %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.sub %c, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The second half begins elsewhere.
// CHECK-LABEL: func @quarter(
func.func @quarter(%x: tensor<2x16xf32>, %cos: tensor<2x4xf32>, %sin: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: fact.rotary
  %lo = fact.slice %x dim 1 start 0 : (tensor<2x16xf32>) -> tensor<2x4xf32>
  %hi = fact.slice %x dim 1 start 8 : (tensor<2x16xf32>) -> tensor<2x4xf32>
  %a = fact.mul %lo, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = fact.mul %hi, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = fact.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = fact.mul %hi, %cos : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = fact.mul %lo, %sin : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = fact.add %d, %c : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = fact.concat %f, %g dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
