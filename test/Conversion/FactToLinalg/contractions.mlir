// RUN: fact-opt %s --convert-fact-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func @linear
func.func @linear(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x4x16xf32> {
  // CHECK: linalg.fill
  // CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
  %0 = fact.matmul %x, %w transpose_b : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  return %0 : tensor<2x4x16xf32>
}

// -----

// Two query heads share a key head.

// CHECK-DAG: #[[$K:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 2, d3, d4)>
// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>, %v: tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[$K]], #{{.+}}]
  // CHECK: %[[ROW:.+]] = linalg.index 2
  // CHECK: %[[COLUMN:.+]] = linalg.index 3
  // CHECK: arith.cmpi sle, %[[COLUMN]], %[[ROW]] : index
  // CHECK: math.exp
  // CHECK: arith.divf
  // CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[$K]], #{{.+}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
  %0 = fact.attention %q, %k, %v causal scale 0.25 : (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}
