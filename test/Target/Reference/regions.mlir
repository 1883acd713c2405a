// RUN: fact-translate --fact-to-cutlass-reference -split-input-file %s | FileCheck %s
// RUN: fact-translate --fact-to-host-reference -split-input-file %s | FileCheck %s

// Both targets have the same text. A product is a program, what follows a
// function of an element's index, and the 16-bit result stays f32.

// CHECK:      // %0 = fact.matmul
// CHECK:      #include "fact/reference/Reference.h"
// CHECK:      namespace fact::gemm_epilogue_0_reference {
// CHECK:        double *value0;
// CHECK-NEXT:   f32 *result0;
// CHECK-NEXT: };
// CHECK:      struct value0_lhs {
// CHECK:          return argument0::at(v, ((c0) * 16 + row) * 32 + column);
// CHECK:      struct value0_rhs {
// CHECK:          return argument1::at(v, (column) * 32 + row);
// CHECK:      struct value1 {
// CHECK:          return rounded_in_f32(apply<op::Add>(value0::at(v, i), argument2::at(v, c2)));
// CHECK:      struct value2 {
// CHECK:          return in_f32(apply<op::GeluTanh>(value1::at(v, i)));
// CHECK:          matmul<value0_lhs, value0_rhs, true, true, F32>(v, v.value0, {8, 16, 64, 32}, stream);
// CHECK-NEXT:     store<value2>(v, v.result0, 8192, stream);
// CHECK:      FACT_REFERENCE(gemm_epilogue_0_reference, Region, 4, 65536)
func.func @gemm(%x: tensor<8x16x32xbf16>, %w: tensor<64x32xbf16>, %b: tensor<64xbf16>) -> tensor<8x16x64xbf16> {
  %0 = fact.fused "gemm_epilogue" ins(%x, %w, %b : tensor<8x16x32xbf16>, tensor<64x32xbf16>, tensor<64xbf16>) {
  ^bb0(%a: tensor<8x16x32xbf16>, %c: tensor<64x32xbf16>, %d: tensor<64xbf16>):
    %1 = fact.matmul %a, %c transpose_b : (tensor<8x16x32xbf16>, tensor<64x32xbf16>) -> tensor<8x16x64xbf16>
    %2 = fact.add %1, %d : (tensor<8x16x64xbf16>, tensor<64xbf16>) -> tensor<8x16x64xbf16>
    %3 = fact.gelu %2 approximate tanh : (tensor<8x16x64xbf16>) -> tensor<8x16x64xbf16>
    fact.yield %3 : tensor<8x16x64xbf16>
  } : tensor<8x16x64xbf16>
  return %0 : tensor<8x16x64xbf16>
}

// -----

// Each view has its own formula; rows are programs.

// CHECK:        f64 *result0;
// CHECK-NEXT:   i64 *result1;
// CHECK-NOT:    doubt
// CHECK:        if (c1 < 8)
// CHECK-NEXT:     return argument0::at(v, (c0) * 8 + (c1 - 0));
// CHECK:      // %1 = fact.permute
// CHECK:          return value0::at(v, (c1) * 16 + c0);
// CHECK:      // %2 = fact.slice
// CHECK:          return value1::at(v, (c0) * 4 + ((c1 * 2) + 1));
// CHECK:          const double elements[] = {0x1p+0, 0x1p+1};
// CHECK:          for_rows(Softmax<
// CHECK:          for_rows(Norm<
// CHECK:          for_rows(ReduceExtreme<
// CHECK:          for_rows(ReduceIntegers<{{.*}}, i64, IntegerSum>{v, {{.*}}, 4}, 0, 8, stream);
func.func @kinds(%x: tensor<4x8xf32>, %w: tensor<16xf32>, %i: tensor<4x8xi64>) -> (tensor<16xf32>, tensor<8xi64>) {
  %0:2 = fact.fused "pointwise" ins(%x, %w, %i : tensor<4x8xf32>, tensor<16xf32>, tensor<4x8xi64>) {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<16xf32>, %c: tensor<4x8xi64>):
    %1 = fact.concat %a, %a dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    %p = fact.permute %1 [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %l = fact.slice %p dim 1 start 1 step 2 : (tensor<16x4xf32>) -> tensor<16x2xf32>
    %k = fact.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %3 = fact.mul %l, %k : (tensor<16x2xf32>, tensor<2xf32>) -> tensor<16x2xf32>
    %4 = fact.softmax %3 dim 0 : tensor<16x2xf32>
    %q = fact.permute %4 [1, 0] : (tensor<16x2xf32>) -> tensor<2x16xf32>
    %5 = fact.norm rms %q weight %b eps 1.0e-06 : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
    %6 = fact.reduce max %5 dims [0] : (tensor<2x16xf32>) -> tensor<16xf32>
    %7 = fact.reduce sum %c dims [0] : (tensor<4x8xi64>) -> tensor<8xi64>
    fact.yield %6, %7 : tensor<16xf32>, tensor<8xi64>
  } : tensor<16xf32>, tensor<8xi64>
  return %0#0, %0#1 : tensor<16xf32>, tensor<8xi64>
}

// -----

// A comparison of computed floats: elements carry their errors, and the third
// buffer says which ones rounding may decide.

// CHECK:        Tracked<double> *value0;
// CHECK:        i1 *result0;
// CHECK-NEXT:   f32 *result1;
// CHECK-NEXT:   f32 *doubt0;
// CHECK-NEXT: };
// CHECK:          return apply<op::Less>(value0::at(v, i), argument1::at(v, i));
// CHECK:          store_doubt<value1, false>(v, v.doubt0, 64, stream);
// CHECK:      FACT_REFERENCE(pointwise_0_reference, Region, 5, 1024)
func.func @undecided(%x: tensor<64xbf16>, %y: tensor<64xbf16>) -> (tensor<64xi1>, tensor<64xbf16>) {
  %0:2 = fact.fused "pointwise" ins(%x, %y : tensor<64xbf16>, tensor<64xbf16>) {
  ^bb0(%a: tensor<64xbf16>, %b: tensor<64xbf16>):
    %1 = fact.exp %a : (tensor<64xbf16>) -> tensor<64xbf16>
    %2 = fact.compare lt %1, %b : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xi1>
    fact.yield %2, %1 : tensor<64xi1>, tensor<64xbf16>
  } : tensor<64xi1>, tensor<64xbf16>
  return %0#0, %0#1 : tensor<64xi1>, tensor<64xbf16>
}

// -----

// A comparison with itself asks for NaN, which rounding does not decide.

// CHECK:          return apply<op::IsNan>(value0::at(v, i));
// CHECK-NOT:      doubt
// CHECK:      FACT_REFERENCE(pointwise_0_reference, Region, 2,
func.func @asks_for_nan(%x: tensor<64xf32>) -> tensor<64xi1> {
  %0 = fact.fused "pointwise" ins(%x : tensor<64xf32>) {
  ^bb0(%a: tensor<64xf32>):
    %1 = fact.log %a : (tensor<64xf32>) -> tensor<64xf32>
    %2 = fact.compare ne %1, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    fact.yield %2 : tensor<64xi1>
  } : tensor<64xi1>
  return %0 : tensor<64xi1>
}
