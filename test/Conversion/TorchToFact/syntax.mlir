// RUN: fact-opt %s | FileCheck %s
// RUN: fact-opt %s | fact-opt | FileCheck %s
// RUN: fact-opt -mlir-print-op-generic %s | fact-opt | FileCheck %s

// The text of torch-mlir reads, and prints as it was.

// CHECK-LABEL: func.func @types
// CHECK-SAME: !torch.vtensor<[2,?],f32>, %{{.*}}: !torch.vtensor, %{{.*}}: !torch.vtensor<*,bf16>, %{{.*}}: !torch.vtensor<[],unk>
// CHECK-SAME: !torch.vtensor<[4],si64>, %{{.*}}: !torch.vtensor<[4],ui8>, %{{.*}}: !torch.vtensor<[4],i1>
// CHECK-SAME: !torch.list<optional<vtensor<[2],f16>>>, %{{.*}}: !torch.tuple<int, float>
// CHECK-SAME: !torch.Generator, %{{.*}}: !torch.number, %{{.*}}: !torch.any
func.func @types(%0: !torch.vtensor<[2,?],f32>, %1: !torch.vtensor, %2: !torch.vtensor<*,bf16>,
                 %3: !torch.vtensor<[],unk>, %4: !torch.vtensor<[4],si64>, %5: !torch.vtensor<[4],ui8>,
                 %6: !torch.vtensor<[4],i1>, %7: !torch.list<optional<vtensor<[2],f16>>>,
                 %8: !torch.tuple<int, float>, %9: !torch.Generator, %10: !torch.number, %11: !torch.any) {
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: torch.constant.int -768
  %0 = torch.constant.int -768
  // CHECK-NEXT: torch.constant.float 1.000000e-05
  %1 = torch.constant.float 1.0e-5
  // CHECK-NEXT: torch.constant.float 0xFFF0000000000000
  %2 = torch.constant.float 0xFFF0000000000000
  // CHECK-NEXT: torch.constant.bool true
  %3 = torch.constant.bool true
  // CHECK-NEXT: torch.constant.none
  %4 = torch.constant.none
  // CHECK-NEXT: torch.constant.str "tanh"
  %5 = torch.constant.str "tanh"
  // CHECK-NEXT: torch.constant.device "cpu"
  %6 = torch.constant.device "cpu"
  // CHECK-NEXT: torch.constant.number 1 : i64
  %7 = torch.constant.number 1 : i64
  // CHECK-NEXT: torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %8 = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  // CHECK-NEXT: torch.prim.NumToTensor.Scalar %{{.*}} : !torch.int -> !torch.vtensor<[],si64>
  %9 = torch.prim.NumToTensor.Scalar %0 : !torch.int -> !torch.vtensor<[],si64>
  return
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: !torch.vtensor<[6],f32>) {
  // CHECK: torch.prim.ListConstruct %[[TWO:.*]], %[[TWO]] : (!torch.int, !torch.int) -> !torch.list<int>
  %int2 = torch.constant.int 2
  %0 = torch.prim.ListConstruct %int2, %int2 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK-NEXT: torch.prim.ListConstruct : () -> !torch.list<int>
  %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
  // CHECK: torch.aten.split.Tensor %{{.*}}, %{{.*}}, %{{.*}} : !torch.vtensor<[6],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %int0 = torch.constant.int 0
  %2 = torch.aten.split.Tensor %x, %int2, %int0 : !torch.vtensor<[6],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  // CHECK-NEXT: %[[PARTS:.*]]:3 = torch.prim.ListUnpack %{{.*}} : !torch.list<vtensor> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  %3:3 = torch.prim.ListUnpack %2 : !torch.list<vtensor> -> !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>
  // CHECK-NEXT: torch.prim.TupleConstruct %[[PARTS]]#0, %[[PARTS]]#2 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32> -> !torch.tuple<vtensor<[2],f32>, vtensor<[2],f32>>
  %4 = torch.prim.TupleConstruct %3#0, %3#2 : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32> -> !torch.tuple<vtensor<[2],f32>, vtensor<[2],f32>>
  // CHECK-NEXT: torch.operator "torch.aten.custom"(%{{.*}}) : (!torch.vtensor<[6],f32>) -> !torch.vtensor<[6],f32>
  %5 = torch.operator "torch.aten.custom"(%x) : (!torch.vtensor<[6],f32>) -> !torch.vtensor<[6],f32>
  // CHECK-NEXT: torch.aten.relu %{{.*}} {note = 1 : i64} : !torch.vtensor<[6],f32> -> !torch.vtensor<[6],f32>
  %6 = torch.aten.relu %x {note = 1 : i64} : !torch.vtensor<[6],f32> -> !torch.vtensor<[6],f32> loc("model.py":3:0)
  // CHECK-NEXT: "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[6],f32>
  %7 = "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[6],f32>
  // CHECK-NEXT: torch.aten.relu %{{.*}} : !torch.vtensor<[6],f32> -> !torch.vtensor<[6],f32>
  %8 = "torch.aten.relu"(%7) : (!torch.vtensor<[6],f32>) -> !torch.vtensor<[6],f32>
  return
}

// CHECK-LABEL: func.func @symbols
func.func @symbols(%x: !torch.vtensor<[?],f32>) {
  // CHECK-NEXT: torch.symbolic_int "s0" {max_val = 8 : i64, min_val = 2 : i64} : !torch.int
  %0 = torch.symbolic_int "s0" {min_val = 2, max_val = 8} : !torch.int
  // CHECK-NEXT: torch.bind_symbolic_shape %{{.*}}, [%{{.*}}], #{{.*}} : !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  return
}
