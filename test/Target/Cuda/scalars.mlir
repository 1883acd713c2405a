// RUN: fact-translate --fact-to-cutlass -split-input-file %s | FileCheck %s

// Sines of f32 are ours, and those of f64 CUDA's.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         = sine(operand0);
// CHECK:         = cosine(operand0);
func.func @sines(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>):
    %1 = fact.sin %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = fact.cos %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %3 = fact.mul %1, %2 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    fact.yield %3 : tensor<4096xf32>
  } : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         = sin(operand0);
func.func @sine_of_f64(%x: tensor<4096xf64>) -> tensor<4096xf64> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xf64>) {
  ^bb0(%a: tensor<4096xf64>):
    %1 = fact.sin %a : (tensor<4096xf64>) -> tensor<4096xf64>
    fact.yield %1 : tensor<4096xf64>
  } : tensor<4096xf64>
  return %0 : tensor<4096xf64>
}

// -----

// A power of 2 is an instruction; the sign of an inverse is a bit.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         = exp2f(operand0);
// CHECK:         = has_negative_inverse(operand0);
func.func @two(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xi1>) {
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>):
    %1 = fact.constant dense<2.0> : tensor<f32>
    %2 = fact.pow %1, %a : (tensor<f32>, tensor<4096xf32>) -> tensor<4096xf32>
    %3 = fact.reciprocal %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %4 = fact.constant dense<0.0> : tensor<f32>
    %5 = fact.compare lt %3, %4 : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xi1>
    fact.yield %2, %5 : tensor<4096xf32>, tensor<4096xi1>
  } : tensor<4096xf32>, tensor<4096xi1>
  return %0#0, %0#1 : tensor<4096xf32>, tensor<4096xi1>
}

// -----

// Results of 16 bits need no more than these.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK-DAG:     = fast_sqrt(operand0);
// CHECK-DAG:     = fast_log1p(
// CHECK-DAG:     = fast_pow(
func.func @narrow(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %0 = fact.fused "pointwise" ins(%x, %y : tensor<4096xbf16>, tensor<4096xbf16>) {
  ^bb0(%a: tensor<4096xbf16>, %b: tensor<4096xbf16>):
    %1 = fact.sqrt %a : (tensor<4096xbf16>) -> tensor<4096xbf16>
    %2 = fact.log1p %b : (tensor<4096xbf16>) -> tensor<4096xbf16>
    %3 = fact.pow %a, %b : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xbf16>
    %4 = fact.add %1, %2 : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xbf16>
    %5 = fact.add %3, %4 : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xbf16>
    fact.yield %5 : tensor<4096xbf16>
  } : tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// What only one side of a select needs, and costs more than a branch, is in
// one; what both sides or the condition need comes before it.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         const bool [[IS:v.]] = operand0 < 0.0f;
// CHECK-NEXT:    const float [[SHARED:v.]] = expf(operand0);
// CHECK-NEXT:    float [[RESULT:v.]];
// CHECK-NEXT:    if ([[IS]]) {
// CHECK-NEXT:      const float [[LOG:v.]] = logf([[SHARED]]);
// CHECK-NEXT:      const float [[SUM:v.]] = [[LOG]] + [[SHARED]];
// CHECK-NEXT:      [[RESULT]] = [[SUM]];
// CHECK-NEXT:    } else {
// CHECK-NEXT:      const float [[ERF:v.]] = erff([[SHARED]]);
// CHECK-NEXT:      [[RESULT]] = [[ERF]];
// CHECK-NEXT:    }
// CHECK-NEXT:    return [[RESULT]];
func.func @both_sides(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>):
    %zero = fact.constant dense<0.0> : tensor<f32>
    %1 = fact.exp %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = fact.log %1 : (tensor<4096xf32>) -> tensor<4096xf32>
    %3 = fact.add %2, %1 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %4 = fact.erf %1 : (tensor<4096xf32>) -> tensor<4096xf32>
    %5 = fact.compare lt %a, %zero : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xi1>
    %6 = fact.select %5, %3, %4 : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    fact.yield %6 : tensor<4096xf32>
  } : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// The other side is the initial value. A cheap side is not worth a branch, and
// what both sides need is in none.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         float [[RESULT:v.]] = operand0;
// CHECK-NEXT:    if (!{{v.}}) {
// CHECK-NEXT:      const float [[ERF:v.]] = erff(operand0);
// CHECK-NEXT:      [[RESULT]] = [[ERF]];
// CHECK-NEXT:    }
// CHECK:         logf([[RESULT]]);
// CHECK-NOT:     if (
// CHECK:         return
func.func @one_side(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>):
    %zero = fact.constant dense<0.0> : tensor<f32>
    %1 = fact.erf %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = fact.compare lt %a, %zero : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xi1>
    %3 = fact.select %2, %a, %1 : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %4 = fact.log %3 : (tensor<4096xf32>) -> tensor<4096xf32>
    %5 = fact.neg %4 : (tensor<4096xf32>) -> tensor<4096xf32>
    %6 = fact.select %2, %5, %4 : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    fact.yield %6 : tensor<4096xf32>
  } : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// Numbers are rarely equal: a branch would always be taken.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK-NOT:     if (
// CHECK:         return
func.func @rarely_equal(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>):
    %zero = fact.constant dense<0.0> : tensor<f32>
    %1 = fact.log %a : (tensor<4096xf32>) -> tensor<4096xf32>
    %2 = fact.mul %1, %a : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %3 = fact.compare eq %a, %zero : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xi1>
    %4 = fact.select %3, %a, %2 : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    fact.yield %4 : tensor<4096xf32>
  } : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// Extremes that ignore NaN are one instruction.

// CHECK-LABEL: fact::pointwise_0 {
// CHECK:         = fminf(operand0, operand1);
// CHECK-NOT:     ?
// CHECK:         = fmaxf(
func.func @numeric(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fact.fused "pointwise" ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) {
  ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
    %1 = fact.compare eq %a, %a : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %2 = fact.compare eq %b, %b : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %3 = fact.minimum %a, %b : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %4 = fact.select %2, %3, %a : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %5 = fact.select %1, %4, %b : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %6 = fact.compare eq %5, %5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %7 = fact.maximum %b, %5 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %8 = fact.select %2, %7, %5 : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %9 = fact.select %6, %8, %b : (tensor<4096xi1>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    fact.yield %9 : tensor<4096xf32>
  } : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
