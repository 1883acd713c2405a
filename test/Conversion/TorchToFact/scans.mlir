// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// Booleans are counted in i64.
// CHECK-LABEL: func.func @cumsum(
// CHECK: %[[WIDE:.+]] = fact.cast %arg1 : (tensor<3x4xi1>) -> tensor<3x4xi64>
// CHECK: fact.scan sum %[[WIDE]] dim 1 : tensor<3x4xi64>
// CHECK: fact.scan prod %arg0 dim 0 : tensor<3x4xf32>
// CHECK: fact.scan logsumexp %arg0 dim 1 : tensor<3x4xf32>
func.func @cumsum(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,4],i1>) -> (!torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) {
  %none = torch.constant.none
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %0 = torch.aten.cumsum %arg1, %int-1, %none : !torch.vtensor<[3,4],i1>, !torch.int, !torch.none -> !torch.vtensor<[3,4],si64>
  %1 = torch.aten.cumprod %arg0, %int0, %none : !torch.vtensor<[3,4],f32>, !torch.int, !torch.none -> !torch.vtensor<[3,4],f32>
  %2 = torch.aten.logcumsumexp %arg0, %int-1 : !torch.vtensor<[3,4],f32>, !torch.int -> !torch.vtensor<[3,4],f32>
  return %0, %1, %2 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>
}

// The last place of an element that is the extreme so far, or NaN.
// CHECK-LABEL: func.func @cummax(
// CHECK: %[[MAX:.+]] = fact.scan max %arg0 dim 1 : tensor<3x4xf32>
// CHECK: %[[EQUAL:.+]] = fact.compare eq %arg0, %[[MAX]]
// CHECK: %[[NAN:.+]] = fact.compare ne %arg0, %arg0
// CHECK: %[[HIT:.+]] = fact.select %[[EQUAL]], %[[EQUAL]], %[[NAN]]
// CHECK: %[[NONE:.+]] = fact.constant dense<-1> : tensor<i32>
// CHECK: %[[PLACE:.+]] = fact.select %[[HIT]], %{{.+}}, %[[NONE]]
// CHECK: %[[LAST:.+]] = fact.scan max %[[PLACE]] dim 1 : tensor<3x4xi32>
// CHECK: %[[WIDE:.+]] = fact.cast %[[LAST]] : (tensor<3x4xi32>) -> tensor<3x4xi64>
// CHECK: return %[[MAX]], %[[WIDE]]
func.func @cummax(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>) {
  %int1 = torch.constant.int 1
  %0, %1 = torch.aten.cummax %arg0, %int1 : !torch.vtensor<[3,4],f32>, !torch.int -> !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>
  return %0, %1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>
}

// CHECK-LABEL: func.func @sort(
// CHECK: %[[PLACES:.+]] = fact.argsort %arg0 dim 0 descending : (tensor<3x4xf32>) -> tensor<3x4xi64>
// CHECK: %[[FLAT:.+]] = fact.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK: %[[VALUES:.+]] = fact.gather %[[FLAT]], %{{.+}} dim 0
// CHECK: return %[[VALUES]], %[[PLACES]]
func.func @sort(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>) {
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %0, %1 = torch.aten.sort %arg0, %int0, %true : !torch.vtensor<[3,4],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>
  return %0, %1 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>
}

// The overloads with `stable`.
// CHECK-LABEL: func.func @stable(
// CHECK: fact.argsort %arg0 dim 1 : (tensor<3x4xf32>) -> tensor<3x4xi64>
// CHECK: fact.argsort %arg0 dim 0 descending : (tensor<3x4xf32>) -> tensor<3x4xi64>
func.func @stable(%arg0: !torch.vtensor<[3,4],f32>) -> (!torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %0, %1 = torch.operator "torch.aten.sort.stable"(%arg0, %true, %int-1, %false) : (!torch.vtensor<[3,4],f32>, !torch.bool, !torch.int, !torch.bool) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],si64>)
  %2 = torch.operator "torch.aten.argsort.stable"(%arg0, %true, %int0, %true) : (!torch.vtensor<[3,4],f32>, !torch.bool, !torch.int, !torch.bool) -> !torch.vtensor<[3,4],si64>
  return %1, %2 : !torch.vtensor<[3,4],si64>, !torch.vtensor<[3,4],si64>
}

// CHECK-LABEL: func.func @topk(
// CHECK: fact.argsort %arg0 dim 1 count 2 : (tensor<3x9xf32>) -> tensor<3x2xi64>
// CHECK: %[[PLACES:.+]] = fact.argsort %arg0 dim 1 count 3 : (tensor<3x9xf32>) -> tensor<3x3xi64>
// CHECK: fact.slice %[[PLACES]] dim 1 start 2 : (tensor<3x3xi64>) -> tensor<3x1xi64>
func.func @topk(%arg0: !torch.vtensor<[3,9],f32>) -> (!torch.vtensor<[3,2],f32>, !torch.vtensor<[3],f32>) {
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %int-1 = torch.constant.int -1
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %0, %1 = torch.aten.topk %arg0, %int2, %int-1, %false, %true : !torch.vtensor<[3,9],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>
  %2, %3 = torch.aten.kthvalue %arg0, %int3, %int-1, %false : !torch.vtensor<[3,9],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
  return %0, %2 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3],f32>
}

// Few elements are compared in registers where their places are not used. NaNs
// are the largest.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: fact.argsort
// CHECK: %[[A:.+]] = fact.slice %arg0 dim 1 start 0 : (tensor<3x3xf32>) -> tensor<3x1xf32>
// CHECK: %[[B:.+]] = fact.slice %arg0 dim 1 start 1
// CHECK: %[[C:.+]] = fact.slice %arg0 dim 1 start 2
// CHECK: %[[MIN:.+]] = fact.minimum %[[A]], %[[B]]
// CHECK-DAG: %[[IS_A:.+]] = fact.compare eq %[[A]], %[[A]]
// CHECK-DAG: %[[IS_B:.+]] = fact.compare eq %[[B]], %[[B]]
// CHECK: %[[KNOWN:.+]] = fact.select %[[IS_B]], %[[MIN]], %[[A]]
// CHECK: %[[LOW:.+]] = fact.select %[[IS_A]], %[[KNOWN]], %[[B]]
// CHECK: %[[HIGH:.+]] = fact.maximum %[[A]], %[[B]]
// CHECK: fact.minimum %[[LOW]], %[[C]]
// CHECK: %[[FIRST:.+]] = fact.select %{{.+}}, %{{.+}}, %[[C]]
// CHECK: %[[NEXT:.+]] = fact.maximum %[[LOW]], %[[C]]
// CHECK: fact.minimum %[[HIGH]], %[[NEXT]]
// CHECK: %[[MIDDLE:.+]] = fact.select %{{.+}}, %{{.+}}, %[[NEXT]]
// CHECK: %[[LAST:.+]] = fact.maximum %[[HIGH]], %[[NEXT]]
// CHECK: fact.concat %[[LAST]], %[[MIDDLE]], %[[FIRST]] dim 1
// CHECK-NOT: fact.argsort
func.func @few(%arg0: !torch.vtensor<[3,3],f32>) -> !torch.vtensor<[3,3],f32> {
  %int1 = torch.constant.int 1
  %true = torch.constant.bool true
  %0, %1 = torch.aten.sort %arg0, %int1, %true : !torch.vtensor<[3,3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3,3],f32>, !torch.vtensor<[3,3],si64>
  return %0 : !torch.vtensor<[3,3],f32>
}

// CHECK-LABEL: func.func @few_integers(
// CHECK: %[[A:.+]] = fact.slice %arg0 dim 0 start 0
// CHECK: %[[B:.+]] = fact.slice %arg0 dim 0 start 1
// CHECK: %[[LOW:.+]] = fact.minimum %[[A]], %[[B]]
// CHECK: fact.reshape %[[LOW]]
func.func @few_integers(%arg0: !torch.vtensor<[2],si64>) -> !torch.vtensor<[],si64> {
  %0 = torch.aten.median %arg0 : !torch.vtensor<[2],si64> -> !torch.vtensor<[],si64>
  return %0 : !torch.vtensor<[],si64>
}

// The lower of two middle elements; the first NaN if there is one.
// CHECK-LABEL: func.func @median(
// CHECK: %[[FLAT:.+]] = fact.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK: %[[PLACES:.+]] = fact.argsort %[[FLAT]] dim 0 count 6
// CHECK: %[[MIDDLE:.+]] = fact.slice %[[PLACES]] dim 0 start 5
// CHECK: %[[MAX:.+]] = fact.reduce max %[[FLAT]] dims [0] keep
// CHECK: %[[NAN:.+]] = fact.compare ne %[[MAX]], %[[MAX]]
// CHECK: fact.select %[[NAN]], %{{.+}}, %[[MIDDLE]]
func.func @median(%arg0: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[],f32> {
  %0 = torch.aten.median %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// The median of the numbers is not behind the middle.
// CHECK-LABEL: func.func @nanmedian(
// CHECK: %[[PLACES:.+]] = fact.argsort %{{.+}} dim 0 count 6
// CHECK: fact.gather %[[PLACES]]
func.func @nanmedian(%arg0: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[],f32> {
  %0 = torch.aten.nanmedian %arg0 : !torch.vtensor<[3,4],f32> -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// All boundaries that are not beyond an element are before it.
// CHECK-LABEL: func.func @searchsorted(
// CHECK: %[[LARGEST:.+]] = fact.slice %arg0 dim 1 start 3
// CHECK: fact.compare gt %[[LARGEST]], %arg1
// CHECK-COUNT-2: fact.gather
// CHECK-NOT: fact.gather
func.func @searchsorted(%arg0: !torch.vtensor<[3,4],f32>, %arg1: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[3,2],si64> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %0 = torch.aten.searchsorted.Tensor %arg0, %arg1, %false, %true, %none, %none : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,2],f32>, !torch.bool, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[3,2],si64>
  return %0 : !torch.vtensor<[3,2],si64>
}

// The first step leaves 32 places of 40, so that no later one reads outside of
// a row.
// CHECK-LABEL: func.func @search_many(
// CHECK: %[[MIDDLE:.+]] = fact.slice %arg0 dim 1 start 31
// CHECK: %[[FIRST:.+]] = fact.compare ge %[[MIDDLE]], %arg1
// CHECK: %[[AT:.+]] = fact.select %[[FIRST]]
// CHECK: %[[LAST:.+]] = fact.add %[[AT]], %{{.+}} : (tensor<3x2xi32>, tensor<3x1xi32>)
// CHECK: %[[FLAT:.+]] = fact.reshape %arg0 : (tensor<3x40xf32>) -> tensor<120xf32>
// CHECK: %[[PROBE:.+]] = fact.add %[[LAST]]
// CHECK: %[[EDGE:.+]] = fact.gather %[[FLAT]], %[[PROBE]] dim 0
// CHECK: %[[AFTER:.+]] = fact.compare ge %[[EDGE]], %arg1
// CHECK: fact.select %[[AFTER]], %[[LAST]], %[[PROBE]]
// CHECK-COUNT-4: fact.gather
// CHECK-NOT: fact.gather
func.func @search_many(%arg0: !torch.vtensor<[3,40],f32>, %arg1: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[3,2],si64> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.searchsorted.Tensor %arg0, %arg1, %false, %false, %none, %none : !torch.vtensor<[3,40],f32>, !torch.vtensor<[3,2],f32>, !torch.bool, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[3,2],si64>
  return %0 : !torch.vtensor<[3,2],si64>
}

// CHECK-LABEL: func.func @search_none(
// CHECK: fact.constant dense<0> : tensor<3x2xi64>
func.func @search_none(%arg0: !torch.vtensor<[3,0],f32>, %arg1: !torch.vtensor<[3,2],f32>) -> !torch.vtensor<[3,2],si64> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.searchsorted.Tensor %arg0, %arg1, %false, %false, %none, %none : !torch.vtensor<[3,0],f32>, !torch.vtensor<[3,2],f32>, !torch.bool, !torch.bool, !torch.none, !torch.none -> !torch.vtensor<[3,2],si64>
  return %0 : !torch.vtensor<[3,2],si64>
}

// CHECK-LABEL: func.func @search_by_sorter(
// CHECK: %[[SORTED:.+]] = fact.gather %arg0, %{{.+}} dim 0
// CHECK: %[[LARGEST:.+]] = fact.slice %[[SORTED]] dim 0 start 3
// CHECK: fact.compare ge %[[LARGEST]], %{{.+}}
func.func @search_by_sorter(%arg0: !torch.vtensor<[4],f32>, %arg1: !torch.vtensor<[2],f32>, %arg2: !torch.vtensor<[4],si64>) -> !torch.vtensor<[2],si64> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten.searchsorted.Tensor %arg0, %arg1, %false, %false, %none, %arg2 : !torch.vtensor<[4],f32>, !torch.vtensor<[2],f32>, !torch.bool, !torch.bool, !torch.none, !torch.vtensor<[4],si64> -> !torch.vtensor<[2],si64>
  return %0 : !torch.vtensor<[2],si64>
}
