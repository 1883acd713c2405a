// RUN: fact-opt -convert-torch-to-fact -mlir-print-debuginfo -mlir-print-local-scope %s | FileCheck %s

// Ops and weights keep the Python line they came from.

// CHECK: fact.weight @w : tensor<4xf32> loc("model.py":2:0)
// CHECK: fact.get_weight @w : tensor<4xf32> loc("model.py":2:0)
// CHECK: fact.constant {{.*}} loc(callsite("block.py":7:0 at "model.py":3:0))
// CHECK: fact.mul {{.*}} loc(callsite("block.py":7:0 at "model.py":3:0))
func.func @main() -> (!torch.vtensor<[4],f32> {fact.name = "output0"}) {
  %0 = "torch.fact.weight"() {name = "w"} : () -> !torch.vtensor<[4],f32> loc("model.py":2:0)
  %half = torch.constant.float 5.0e-01
  %1 = torch.aten.mul.Scalar %0, %half : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32> loc(callsite("block.py":7:0 at "model.py":3:0))
  return %1 : !torch.vtensor<[4],f32>
}
