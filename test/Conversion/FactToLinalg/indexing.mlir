// RUN: fact-opt -convert-fact-to-linalg %s | FileCheck %s

// An index outside gives NaN, and nothing is read there. Only the elements that
// are read are converted.

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[TABLE:.+]]: tensor<100x16xbf16>, %[[TOKENS:.+]]: tensor<2x7xi64>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[TOKENS]] : tensor<2x7xi64>)
// CHECK: ^bb0(%[[TOKEN:.+]]: i64,
// CHECK-DAG: %[[NAN:.+]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 100 : i64
// CHECK: %[[INSIDE:.+]] = arith.cmpi ult, %[[TOKEN]], %[[SIZE]] : i64
// CHECK: %[[SAFE:.+]] = arith.select %[[INSIDE]], %[[TOKEN]], %{{.+}} : i64
// CHECK: %[[ROW:.+]] = arith.index_cast %[[SAFE]] : i64 to index
// CHECK: %[[COLUMN:.+]] = linalg.index 2 : index
// CHECK: %[[STORED:.+]] = tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]] : tensor<100x16xbf16>
// CHECK: %[[FOUND:.+]] = arith.extf %[[STORED]] : bf16 to f32
// CHECK: arith.select %[[INSIDE]], %[[FOUND]], %[[NAN]] : f32
func.func @gather(%table: tensor<100x16xbf16>, %tokens: tensor<2x7xi64>) -> tensor<2x7x16xbf16> {
  %0 = fact.gather %table, %tokens dim 0 : (tensor<100x16xbf16>, tensor<2x7xi64>) -> tensor<2x7x16xbf16>
  return %0 : tensor<2x7x16xbf16>
}

// CHECK-LABEL: func.func @rotary
// CHECK: linalg.generic
// CHECK: %[[PLACE:.+]] = linalg.index 1 : index
// CHECK: %[[FIRST:.+]] = arith.cmpi ult, %[[PLACE]], %{{.+}} : index
// CHECK: %[[OTHER:.+]] = tensor.extract
// CHECK: %[[MINUS:.+]] = arith.negf %[[OTHER]] : f32
// CHECK: arith.select %[[FIRST]], %[[MINUS]], %[[OTHER]] : f32
func.func @rotary(%x: tensor<4x8xf32>, %c: tensor<8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.rotary %x, %c, %s : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @interleaved
// CHECK: %[[PLACE:.+]] = linalg.index 1 : index
// CHECK: %[[ODD:.+]] = arith.remui %[[PLACE]], %{{.+}} : index
// CHECK: arith.cmpi eq, %[[ODD]], %{{.+}} : index
func.func @interleaved(%x: tensor<4x8xf32>, %c: tensor<8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fact.rotary %x, %c, %s interleaved : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// The first element that equals the extreme one, or the first NaN.

// CHECK-LABEL: func.func @places
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%[[X:.+]]: f64, %[[BEST:.+]]: f64, %[[AT:.+]]: i64)
// CHECK: %[[EQUAL:.+]] = arith.cmpf oeq, %[[X]], %[[BEST]] : f64
// CHECK: %[[NAN:.+]] = arith.cmpf une, %[[X]], %[[X]] : f64
// CHECK: arith.ori %[[EQUAL]], %[[NAN]] : i1
// CHECK: arith.minsi %[[AT]]
func.func @places(%x: tensor<4x8xf64>) -> tensor<4xi64> {
  %0 = fact.reduce argmax %x dims [1] : (tensor<4x8xf64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// In one pass, where an element and its place are one integer of 64 bits.

// CHECK-LABEL: func.func @places_at_once
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%[[X:.+]]: f32, %[[BEST:.+]]: i64)
// CHECK: arith.bitcast
// CHECK: %[[ORDER:.+]] = arith.shli
// CHECK: %[[KEY:.+]] = arith.ori %[[ORDER]]
// CHECK: arith.maxsi %[[BEST]], %[[KEY]] : i64
func.func @places_at_once(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %0 = fact.reduce argmin %x dims [1] : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// CHECK-LABEL: func.func @product
// CHECK: arith.mulf
func.func @product(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = fact.reduce prod %x dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A query that sees no key gives 0: the largest score is taken as 0, and a sum
// of 0 does not divide.

// CHECK-LABEL: func.func @unseen
// CHECK: %[[NONE:.+]] = arith.constant 0xFF800000 : f32
// CHECK: arith.cmpf oeq, %{{.+}}, %{{.+}} : f32
// CHECK: math.exp
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %{{.+}}, %{{.+}} : f32
// CHECK-NEXT: arith.select %[[EMPTY]]
func.func @unseen(%q: tensor<1x2x3x4xf32>, %m: tensor<3x3xf32>) -> tensor<1x2x3x4xf32> {
  %0 = fact.attention %q, %q, %q mask %m scale 5.0e-01 : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}
