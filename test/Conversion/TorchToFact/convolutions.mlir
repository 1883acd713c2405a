// RUN: fact-opt -convert-torch-to-fact %s -split-input-file | FileCheck %s

// Rows of the product are windows of whole pixels, columns are filters.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[X:.+]]: tensor<2x4x9x7xf32>, %[[W:.+]]: tensor<6x4x3x3xf32>, %[[B:.+]]: tensor<6xf32>
// CHECK: %[[IMAGE:.+]] = fact.permute %[[X]] [0, 2, 3, 1]
// CHECK: %[[ROWS:.+]] = fact.concat %{{.+}}, %[[IMAGE]], %{{.+}} dim 1 : {{.+}} -> tensor<2x11x7x4xf32>
// CHECK: %[[PADDED:.+]] = fact.concat %{{.+}}, %[[ROWS]], %{{.+}} dim 2 : {{.+}} -> tensor<2x11x9x4xf32>
// CHECK: %[[LAST:.+]] = fact.permute %[[W]] [0, 2, 3, 1]
// CHECK: %[[FILTERS:.+]] = fact.reshape %[[LAST]] : (tensor<6x3x3x4xf32>) -> tensor<6x36xf32>
// CHECK: %[[WINDOWS:.+]] = fact.windows %[[PADDED]] dim 1 kernel [3, 3] strides [2, 2] dilations [1, 1] : (tensor<2x11x9x4xf32>) -> tensor<2x5x4x3x3x4xf32>
// CHECK: %[[TALL:.+]] = fact.reshape %[[WINDOWS]] : (tensor<2x5x4x3x3x4xf32>) -> tensor<2x5x4x36xf32>
// CHECK: %[[PRODUCT:.+]] = fact.matmul %[[TALL]], %[[FILTERS]] transpose_b tf32 : {{.+}} -> tensor<2x5x4x6xf32>
// CHECK: %[[SUM:.+]] = fact.add %[[PRODUCT]], %[[B]]
// CHECK: fact.permute %[[SUM]] [0, 3, 1, 2] : (tensor<2x5x4x6xf32>) -> tensor<2x6x5x4xf32>
module attributes {fact.float32_convolution_precision = "high", fact.float32_matmul_precision = "highest"} {
  func.func @padded(%x: !torch.vtensor<[2,4,9,7],f32>, %w: !torch.vtensor<[6,4,3,3],f32>, %b: !torch.vtensor<[6],f32>) -> !torch.vtensor<[2,6,5,4],f32> {
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %twos = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
    %ones = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %int0, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.convolution %x, %w, %b, %twos, %ones, %ones, %false, %zeros, %int1 : !torch.vtensor<[2,4,9,7],f32>, !torch.vtensor<[6,4,3,3],f32>, !torch.vtensor<[6],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[2,6,5,4],f32>
    return %0 : !torch.vtensor<[2,6,5,4],f32>
  }
}

// -----

// Groups are batches. A convolution is strict where PyTorch's is.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[SPLIT:.+]] = fact.reshape %{{.+}} : (tensor<2x9x4xf32>) -> tensor<2x9x2x2xf32>
// CHECK: %[[IMAGES:.+]] = fact.permute %[[SPLIT]] [2, 0, 1, 3] : (tensor<2x9x2x2xf32>) -> tensor<2x2x9x2xf32>
// CHECK: %[[PADDED:.+]] = fact.concat %{{.+}}, %[[IMAGES]], %{{.+}} dim 2 : {{.+}} -> tensor<2x2x11x2xf32>
// CHECK: %[[WINDOWS:.+]] = fact.windows %[[PADDED]] dim 2 kernel [3] strides [1] dilations [2] : (tensor<2x2x11x2xf32>) -> tensor<2x2x7x3x2xf32>
// CHECK: %[[PRODUCT:.+]] = fact.matmul %{{.+}}, %{{.+}} transpose_b : (tensor<2x14x6xf32>, tensor<2x3x6xf32>) -> tensor<2x14x3xf32>
// CHECK: %[[IMAGE:.+]] = fact.reshape %[[PRODUCT]] : (tensor<2x14x3xf32>) -> tensor<2x2x7x3xf32>
// CHECK: fact.permute %[[IMAGE]] [1, 2, 0, 3] : (tensor<2x2x7x3xf32>) -> tensor<2x7x2x3xf32>
// CHECK: fact.permute %{{.+}} [0, 2, 1] : (tensor<2x7x6xf32>) -> tensor<2x6x7xf32>
module attributes {fact.float32_convolution_precision = "highest", fact.float32_matmul_precision = "high"} {
  func.func @groups(%x: !torch.vtensor<[2,4,9],f32>, %w: !torch.vtensor<[6,2,3],f32>) -> !torch.vtensor<[2,6,7],f32> {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %zeros = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %ones = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %twos = torch.prim.ListConstruct %int2 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.convolution %x, %w, %none, %ones, %ones, %twos, %false, %zeros, %int2 : !torch.vtensor<[2,4,9],f32>, !torch.vtensor<[6,2,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[2,6,7],f32>
    return %0 : !torch.vtensor<[2,6,7],f32>
  }
}
