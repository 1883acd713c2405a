// RUN: fact-opt %s --convert-fact-to-linalg --split-input-file | FileCheck %s

// 16-bit values are computed in f32: operands are extended, and the result is
// rounded where it leaves the converted ops.

// CHECK-DAG: #[[$ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @broadcast
// CHECK-SAME: %[[X:.+]]: tensor<4x8xbf16>, %[[B:.+]]: tensor<8xbf16>
func.func @broadcast(%x: tensor<4x8xbf16>, %b: tensor<8xbf16>) -> tensor<4x8xbf16> {
  // CHECK-DAG: arith.extf %{{.+}} : bf16 to f32
  // CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
  // CHECK: ^bb0(%[[A:.+]]: f32, %[[C:.+]]: f32, %{{.+}}: f32):
  // CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[A]], %[[C]] : f32
  // CHECK-NEXT: linalg.yield %[[SUM]] : f32
  // CHECK: linalg.generic
  // CHECK: math.tanh %{{.+}} : f32
  // CHECK: arith.truncf %{{.+}} : f32 to bf16
  // CHECK: return %{{.+}} : tensor<4x8xbf16>
  %0 = fact.add %x, %b : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %1 = fact.tanh %0 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}

// -----

// A narrowing cast rounds.

// CHECK-LABEL: func @cast
func.func @cast(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: arith.truncf %{{.+}} : f32 to bf16
  // CHECK-NEXT: arith.extf %{{.+}} : bf16 to f32
  %0 = fact.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = fact.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A fused region rounds what it yields, and nothing before.

// CHECK-LABEL: func @fused
func.func @fused(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: math.exp
  // CHECK-NOT: arith.truncf
  // CHECK: math.sqrt
  // CHECK: arith.truncf
  %0 = fact.fused "pointwise" ins(%x : tensor<4xf16>) {
  ^bb0(%a: tensor<4xf16>):
    %1 = fact.exp %a : (tensor<4xf16>) -> tensor<4xf16>
    %2 = fact.sqrt %1 : (tensor<4xf16>) -> tensor<4xf16>
    fact.yield %2 : tensor<4xf16>
  } : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// Booleans are 0 and 1; signed ops would order them as 0 and -1.
// CHECK-LABEL: func.func @booleans
// CHECK: arith.ori
// CHECK: arith.andi
// CHECK: arith.cmpi ult
func.func @booleans(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %0 = fact.maximum %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %1 = fact.minimum %0, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %2 = fact.compare lt %1, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %2 : tensor<4xi1>
}

// -----

// No processor sees a divisor of 0, or of -1: the quotient of the first is 0,
// and that of the second wraps.

// CHECK-LABEL: func @divide
func.func @divide(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK: ^bb0(%[[X:.+]]: i32, %[[Y:.+]]: i32, %{{.+}}: i32):
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[IS_ZERO:.+]] = arith.cmpi eq, %[[Y]], %[[ZERO]]
  // CHECK-NEXT: %[[MINUS:.+]] = arith.constant -1 : i32
  // CHECK-NEXT: %[[IS_MINUS:.+]] = arith.cmpi eq, %[[Y]], %[[MINUS]]
  // CHECK-NEXT: %[[SPECIAL:.+]] = arith.ori %[[IS_ZERO]], %[[IS_MINUS]]
  // CHECK-NEXT: %[[ONE:.+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[DIVISOR:.+]] = arith.select %[[SPECIAL]], %[[ONE]], %[[Y]]
  // CHECK-NEXT: %[[PRODUCT:.+]] = arith.muli %[[X]], %[[Y]]
  // CHECK-NEXT: %[[QUOTIENT:.+]] = arith.divsi %[[X]], %[[DIVISOR]]
  // CHECK-NEXT: arith.select %[[SPECIAL]], %[[PRODUCT]], %[[QUOTIENT]]
  %0 = fact.div %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: linalg.generic
  // CHECK-NOT: arith.remsi
  // CHECK: %[[SAFE:.+]] = arith.select
  // CHECK: arith.divsi %{{.+}}, %[[SAFE]]
  // CHECK-NOT: arith.remsi
  %1 = fact.fmod %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// A region that yields what it was given.

// CHECK-LABEL: func @given
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @given(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[E:.+]] = linalg.generic
  // CHECK: math.exp
  // CHECK: return %[[E]], %[[X]]
  %0:2 = fact.fused "pointwise" ins(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %1 = fact.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    fact.yield %1, %a : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
