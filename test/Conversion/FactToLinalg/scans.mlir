// RUN: fact-opt -convert-fact-to-linalg %s | FileCheck %s
// RUN: fact-opt -convert-fact-to-linalg=sequential %s | FileCheck %s --check-prefix=ORDER

// Step k combines elements that are 2^k apart; 16-bit floats are computed in
// f32. In sequence, errors add up, so that sums are in f64.
// CHECK-LABEL: func.func @scan
// CHECK-DAG: %[[STEPS:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[ONE:.+]] = arith.constant 1 : index
// CHECK: scf.for %[[K:.+]] = %{{.+}} to %[[STEPS]] step %{{.+}} iter_args(%[[X:.+]] = %{{.+}}) -> (tensor<4x9x5xf32>)
// CHECK: %[[DISTANCE:.+]] = arith.shli %[[ONE]], %[[K]] : index
// CHECK: linalg.generic
// CHECK: %[[I:.+]] = linalg.index 1 : index
// CHECK: %[[FIRST:.+]] = arith.cmpi slt, %[[I]], %[[DISTANCE]] : index
// CHECK: %[[BEFORE:.+]] = tensor.extract %[[X]]
// CHECK: %[[SUM:.+]] = arith.addf %[[BEFORE]], %{{.+}} : f32
// CHECK: arith.select %[[FIRST]], %{{.+}}, %[[SUM]] : f32
// ORDER-LABEL: func.func @scan
// ORDER-NOT: arith.shli
// ORDER: scf.for
// ORDER: %[[LAST:.+]] = tensor.extract
// ORDER: %[[NEXT:.+]] = tensor.extract
// ORDER: %[[SUM:.+]] = arith.addf %[[LAST]], %[[NEXT]] : f64
// ORDER: tensor.insert %[[SUM]]
func.func @scan(%x: tensor<4x9x5xbf16>) -> tensor<4x9x5xbf16> {
  %0 = fact.scan sum %x dim 1 : tensor<4x9x5xbf16>
  return %0 : tensor<4x9x5xbf16>
}

// The larger of two is subtracted; two equal infinities stay.
// CHECK-LABEL: func.func @logsumexp
// CHECK: %[[LARGER:.+]] = arith.maximumf
// CHECK: %[[SMALLER:.+]] = arith.minimumf
// CHECK: %[[DISTANCE:.+]] = arith.subf %[[SMALLER]], %[[LARGER]] : f32
// CHECK: math.exp %[[DISTANCE]]
// CHECK: math.log1p
// CHECK: %[[OPEN:.+]] = arith.cmpf uno, %[[DISTANCE]], %[[DISTANCE]] : f32
// CHECK: arith.select %[[OPEN]], %[[LARGER]]
func.func @logsumexp(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fact.scan logsumexp %x dim 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Each stage merges pairs of runs. In parallel, a binary search finds what is
// before a place; the first three places are the result.
// CHECK-LABEL: func.func @argsort
// CHECK: scf.for %[[K:.+]] = %{{.+}} iter_args(%[[KEYS:.+]] = %{{.+}}, %[[PLACES:.+]] = %{{.+}}) -> (tensor<4x9x1xf32>, tensor<4x9x1xi64>)
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.+}}, %{{.+}} : tensor<4x9x1xf32>, tensor<4x9x1xi64>)
// CHECK: scf.for
// CHECK-DAG: %[[X:.+]] = tensor.extract %[[KEYS]]
// CHECK-DAG: %[[Y:.+]] = tensor.extract %[[KEYS]]
// CHECK: arith.cmpf ult
// CHECK: arith.cmpf ord
// CHECK: tensor.extract %[[PLACES]]
// CHECK: linalg.yield
// CHECK: tensor.extract_slice %{{.+}}[0, 0, 0] [4, 3, 1] [1, 1, 1]
// In sequence, numbers of 64 bits hold the keys and, below them, their places.
// ORDER-LABEL: func.func @argsort
// ORDER: linalg.generic
// ORDER: arith.shli
// ORDER: arith.ori
// ORDER: scf.for {{.+}} -> (tensor<4x9x1xi64>)
// ORDER: scf.for
// ORDER: scf.for
// ORDER: scf.for
// ORDER-NOT: scf.for
// ORDER: arith.cmpi slt
// ORDER: tensor.insert
// ORDER-NOT: tensor.insert
// ORDER: linalg.generic
// ORDER: arith.andi
func.func @argsort(%x: tensor<4x9xf32>) -> tensor<4x3xi64> {
  %0 = fact.argsort %x dim 1 descending count 3 : (tensor<4x9xf32>) -> tensor<4x3xi64>
  return %0 : tensor<4x3xi64>
}

// Wider keys have their places beside them, and long rows are sorted one by one.
// ORDER-LABEL: func.func @long
// ORDER: scf.for {{.+}} -> (tensor<4x90x1xf64>, tensor<4x90x1xi64>)
// ORDER: scf.for
// ORDER: tensor.extract %{{.+}} : tensor<4x90x1xf64>
// ORDER: scf.for {{.+}} -> (tensor<1x90x1xf64>, tensor<1x90x1xi64>)
// ORDER: arith.cmpf ult
// ORDER: tensor.insert %{{.+}} : tensor<1x90x1xf64>
// ORDER: tensor.insert %{{.+}} : tensor<1x90x1xi64>
// ORDER: tensor.insert_slice %{{.+}} into
// ORDER: tensor.insert_slice %{{.+}} into
func.func @long(%x: tensor<4x90xf64>) -> tensor<4x90xi64> {
  %0 = fact.argsort %x dim 1 : (tensor<4x90xf64>) -> tensor<4x90xi64>
  return %0 : tensor<4x90xi64>
}

// Few updates are tried one by one.
// CHECK-LABEL: func.func @few
// CHECK: linalg.generic
// CHECK: %[[ROW:.+]] = arith.index_cast %{{.+}} : index to i32
// CHECK: scf.for %[[U:.+]] = %{{.+}} iter_args(%[[OLD:.+]] = %{{.+}}) -> (f32)
// CHECK: %[[PLACE:.+]] = tensor.extract %{{.+}}[%[[U]]] : tensor<6xi32>
// CHECK: %[[HITS:.+]] = arith.cmpi eq, %[[PLACE]], %[[ROW]] : i32
// CHECK: %[[NEW:.+]] = arith.addf %[[OLD]], %{{.+}} : f32
// CHECK: arith.select %[[HITS]], %[[NEW]], %[[OLD]] : f32
// An update outside is skipped.
// ORDER-LABEL: func.func @few
// ORDER: %[[PLACE:.+]] = tensor.extract %{{.+}} : tensor<6xi32>
// ORDER: %[[INSIDE:.+]] = arith.cmpi ult, %[[PLACE]], %{{.+}} : i32
// ORDER: %[[END:.+]] = arith.select %[[INSIDE]]
// ORDER: scf.for %{{.+}} = %{{.+}} to %[[END]]
// ORDER: tensor.insert
func.func @few(%x: tensor<4x8x5xf32>, %i: tensor<2x3xi32>, %u: tensor<4x2x3x5xf32>) -> tensor<4x8x5xf32> {
  %0 = fact.scatter sum %x, %i, %u dim 1 : (tensor<4x8x5xf32>, tensor<2x3xi32>, tensor<4x2x3x5xf32>) -> tensor<4x8x5xf32>
  return %0 : tensor<4x8x5xf32>
}

// Many are sorted by their index; each row finds its own, of which the last
// remains.
// CHECK-LABEL: func.func @many
// CHECK: scf.for
// CHECK: %[[BOUNDS:.+]] = linalg.generic {{.+}} outs(%{{.+}} : tensor<9xi64>)
// CHECK: linalg.generic
// CHECK: tensor.extract %[[BOUNDS]]
// CHECK: tensor.extract %[[BOUNDS]]
// CHECK: scf.for
// CHECK: tensor.extract %arg2
func.func @many(%x: tensor<4x8x5xf32>, %i: tensor<100xi64>, %u: tensor<4x100x5xf32>) -> tensor<4x8x5xf32> {
  %0 = fact.scatter set %x, %i, %u dim 1 : (tensor<4x8x5xf32>, tensor<100xi64>, tensor<4x100x5xf32>) -> tensor<4x8x5xf32>
  return %0 : tensor<4x8x5xf32>
}
