// RUN: fact-opt -convert-torch-to-fact %s | FileCheck %s

// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3x4xf32>) -> tensor<2x1x3x4xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.reshape %[[V4]] : (tensor<2x1x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]], %[[V3]], %[[V5]] : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<2x12xf32>, tensor<2x3x4xf32>
func.func @reshapes(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[6,4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[2,12],f32>, !torch.vtensor<[2,3,4],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %d0 = torch.constant.int 6
  %d1 = torch.constant.int 4
  %dims = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.view %x, %dims : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[6,4],f32>
  %1 = torch.aten.reshape %x, %dims : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[6,4],f32>
  %2 = torch.aten._unsafe_view %x, %dims : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[6,4],f32>
  %3 = torch.aten.flatten.using_ints %x, %int1, %int-1 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,12],f32>
  %4 = torch.aten.unsqueeze %x, %int1 : !torch.vtensor<[2,3,4],f32>, !torch.int -> !torch.vtensor<[2,1,3,4],f32>
  %5 = torch.aten.squeeze.dim %4, %int1 : !torch.vtensor<[2,1,3,4],f32>, !torch.int -> !torch.vtensor<[2,3,4],f32>
  return %0, %1, %2, %3, %5 : !torch.vtensor<[6,4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[6,4],f32>, !torch.vtensor<[2,12],f32>, !torch.vtensor<[2,3,4],f32>
}

// CHECK-LABEL: func.func @permutations(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.permute %[[ARG0]] [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.permute %[[ARG0]] [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.permute %[[ARG0]] [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.permute %[[ARG0]] [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]], %[[V3]] : tensor<4x3x2xf32>, tensor<4x2x3xf32>, tensor<2x4x3xf32>, tensor<4x3x2xf32>
func.func @permutations(%x: !torch.vtensor<[2,3,4],f32>) -> (!torch.vtensor<[4,3,2],f32>, !torch.vtensor<[4,2,3],f32>, !torch.vtensor<[2,4,3],f32>, !torch.vtensor<[4,3,2],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %d0 = torch.constant.int -1
  %d1 = torch.constant.int 0
  %d2 = torch.constant.int 1
  %dims = torch.prim.ListConstruct %d0, %d1, %d2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.transpose.int %x, %int0, %int-1 : !torch.vtensor<[2,3,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,3,2],f32>
  %1 = torch.aten.permute %x, %dims : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %2 = torch.aten.mT %x : !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[2,4,3],f32>
  %3 = torch.aten.numpy_T %x : !torch.vtensor<[2,3,4],f32> -> !torch.vtensor<[4,3,2],f32>
  return %0, %1, %2, %3 : !torch.vtensor<[4,3,2],f32>, !torch.vtensor<[4,2,3],f32>, !torch.vtensor<[2,4,3],f32>, !torch.vtensor<[4,3,2],f32>
}

// CHECK-LABEL: func.func @transposes_of_few_dimensions(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.permute %[[ARG0]] [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V0]], %[[ARG1]] : tensor<3x2xf32>, tensor<3xf32>
func.func @transposes_of_few_dimensions(%x: !torch.vtensor<[2,3],f32>, %v: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3,2],f32>, !torch.vtensor<[3],f32>) {
  %0 = torch.aten.t %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[3,2],f32>
  %1 = torch.aten.t %v : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %0, %1 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3],f32>
}

// CHECK-LABEL: func.func @expand(
// CHECK-SAME: %[[ARG0:.+]]: tensor<1x3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.expand %[[ARG0]] : (tensor<1x3xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4x2x3xf32>
func.func @expand(%x: !torch.vtensor<[1,3],f32>) -> (!torch.vtensor<[4,2,3],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %false = torch.constant.bool false
  %d0 = torch.constant.int 4
  %d1 = torch.constant.int 2
  %d2 = torch.constant.int -1
  %dims = torch.prim.ListConstruct %d0, %d1, %d2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.expand %x, %dims, %false : !torch.vtensor<[1,3],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4,2,3],f32>
  return %0 : !torch.vtensor<[4,2,3],f32>
}

// CHECK-LABEL: func.func @repeats(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.expand %[[V0]] : (tensor<2x3x1xf32>) -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[V1]] : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[V3]] : (tensor<6xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: %[[V5:.+]] = fact.expand %[[V4]] : (tensor<6x1xf32>) -> tensor<6x2xf32>
// CHECK-NEXT: %[[V6:.+]] = fact.reshape %[[V5]] : (tensor<6x2xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V7:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3xf32>) -> tensor<1x1x1x2x1x3xf32>
// CHECK-NEXT: %[[V8:.+]] = fact.expand %[[V7]] : (tensor<1x1x1x2x1x3xf32>) -> tensor<2x1x1x2x3x3xf32>
// CHECK-NEXT: %[[V9:.+]] = fact.reshape %[[V8]] : (tensor<2x1x1x2x3x3xf32>) -> tensor<2x2x9xf32>
// CHECK-NEXT: return %[[V2]], %[[V6]], %[[V9]] : tensor<2x6xf32>, tensor<12xf32>, tensor<2x2x9xf32>
func.func @repeats(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[2,6],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[2,2,9],f32>) {
  %none = torch.constant.none
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %d0 = torch.constant.int 2
  %d1 = torch.constant.int 1
  %d2 = torch.constant.int 3
  %dims = torch.prim.ListConstruct %d0, %d1, %d2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.repeat_interleave.self_int %x, %int2, %int1, %none : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,6],f32>
  %1 = torch.aten.repeat_interleave.self_int %x, %int2, %none, %none : !torch.vtensor<[2,3],f32>, !torch.int, !torch.none, !torch.none -> !torch.vtensor<[12],f32>
  %2 = torch.aten.repeat %x, %dims : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2,2,9],f32>
  return %0, %1, %2 : !torch.vtensor<[2,6],f32>, !torch.vtensor<[12],f32>, !torch.vtensor<[2,2,9],f32>
}

// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x9xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 2 step 3 : (tensor<2x9xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 1 start 5 : (tensor<2x9xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.slice %[[ARG0]] dim 1 start 1 : (tensor<2x9xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.slice %[[ARG0]] dim 1 start 8 : (tensor<2x9xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.reshape %[[V3]] : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[ARG0]], %[[V2]], %[[V4]] : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x9xf32>, tensor<2x3xf32>, tensor<2xf32>
func.func @slices(%x: !torch.vtensor<[2,9],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,9],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2],f32>) {
  %none = torch.constant.none
  %big = torch.constant.int 9223372036854775807
  %int-4 = torch.constant.int -4
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.aten.slice.Tensor %x, %int1, %int2, %big, %int3 : !torch.vtensor<[2,9],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.slice.Tensor %x, %int-1, %int-4, %int-1, %int1 : !torch.vtensor<[2,9],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %2 = torch.aten.slice.Tensor %x, %int0, %none, %none, %int1 : !torch.vtensor<[2,9],f32>, !torch.int, !torch.none, !torch.none, !torch.int -> !torch.vtensor<[2,9],f32>
  %3 = torch.aten.narrow %x, %int1, %int1, %int3 : !torch.vtensor<[2,9],f32>, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,3],f32>
  %4 = torch.aten.select.int %x, %int1, %int-1 : !torch.vtensor<[2,9],f32>, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  return %0, %1, %2, %3, %4 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,9],f32>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2],f32>
}

// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 0 : (tensor<2x5xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 1 start 3 : (tensor<2x5xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<2x3xf32>, tensor<2x2xf32>
func.func @split(%x: !torch.vtensor<[2,5],f32>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,2],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.aten.split.Tensor %x, %int3, %int-1 : !torch.vtensor<[2,5],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,2],f32>
  return %1#0, %1#1 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,2],f32>
}

// CHECK-LABEL: func.func @split_with_sizes(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 0 : (tensor<2x5xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.slice %[[ARG0]] dim 1 start 1 : (tensor<2x5xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<2x1xf32>, tensor<2x4xf32>
func.func @split_with_sizes(%x: !torch.vtensor<[2,5],f32>) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,4],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %d0 = torch.constant.int 1
  %d1 = torch.constant.int 4
  %dims = torch.prim.ListConstruct %d0, %d1 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.split_with_sizes %x, %dims, %int1 : !torch.vtensor<[2,5],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[2,1],f32>, !torch.vtensor<[2,4],f32>
  return %1#0, %1#1 : !torch.vtensor<[2,1],f32>, !torch.vtensor<[2,4],f32>
}

// CHECK-LABEL: func.func @chunk(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 1 start 3 : (tensor<2x5xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x2xf32>
func.func @chunk(%x: !torch.vtensor<[2,5],f32>) -> (!torch.vtensor<[2,2],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.aten.chunk %x, %int2, %int1 : !torch.vtensor<[2,5],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %1 = torch.aten.__getitem__.t %0, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,2],f32>
  return %1 : !torch.vtensor<[2,2],f32>
}

// CHECK-LABEL: func.func @unbind(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x5xf32>
// CHECK-NEXT: %[[V0:.+]] = fact.slice %[[ARG0]] dim 0 start 0 : (tensor<2x5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.reshape %[[V0]] : (tensor<1x5xf32>) -> tensor<5xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.slice %[[ARG0]] dim 0 start 1 : (tensor<2x5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[V2]] : (tensor<1x5xf32>) -> tensor<5xf32>
// CHECK-NEXT: return %[[V1]], %[[V3]] : tensor<5xf32>, tensor<5xf32>
func.func @unbind(%x: !torch.vtensor<[2,5],f32>) -> (!torch.vtensor<[5],f32>, !torch.vtensor<[5],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.aten.unbind.int %x, %int0 : !torch.vtensor<[2,5],f32>, !torch.int -> !torch.list<vtensor>
  %1:2 = torch.prim.ListUnpack %0 : !torch.list<vtensor> -> !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32>
  return %1#0, %1#1 : !torch.vtensor<[5],f32>, !torch.vtensor<[5],f32>
}

// CHECK-LABEL: func.func @joins(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x3xbf16>
// CHECK-NEXT: %[[V0:.+]] = fact.cast %[[ARG1]] : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V1:.+]] = fact.concat %[[ARG0]], %[[V0]] dim 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: %[[V3:.+]] = fact.reshape %[[ARG0]] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: %[[V4:.+]] = fact.concat %[[V2]], %[[V3]] dim 1 : (tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT: return %[[V1]], %[[V4]] : tensor<2x6xf32>, tensor<2x2x3xf32>
func.func @joins(%x: !torch.vtensor<[2,3],f32>, %h: !torch.vtensor<[2,3],bf16>) -> (!torch.vtensor<[2,6],f32>, !torch.vtensor<[2,2,3],f32>) {
  %int-1 = torch.constant.int -1
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int3 = torch.constant.int 3
  %0 = torch.prim.ListConstruct %x, %h : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],bf16>) -> !torch.list<vtensor>
  %1 = torch.aten.cat %0, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,6],f32>
  %2 = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],f32>) -> !torch.list<vtensor>
  %3 = torch.aten.stack %2, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[2,2,3],f32>
  return %1, %3 : !torch.vtensor<[2,6],f32>, !torch.vtensor<[2,2,3],f32>
}
