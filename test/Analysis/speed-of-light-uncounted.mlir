// RUN: fact-translate --fact-to-sol %s 2>&1 | FileCheck %s
// RUN: fact-opt --fact-annotate-sol %s 2>&1 | FileCheck %s --check-prefix=WARNING

// Of text that was not converted there is nothing to count, and that is said.
// CHECK: warning: 'torch.aten.relu' is not a FACT op and is not counted (2 such ops); --fact-raise converts ops of 'torch'
// CHECK: speed of light on host (host)
// CHECK-NEXT: work result MB SOL us unfused us bound by
// CHECK-NEXT: 0 kernels: 0.000 us
// WARNING: warning: 'torch.aten.relu' is not a FACT op
func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.exp %0 : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %1 : !torch.vtensor<[4],f32>
}
