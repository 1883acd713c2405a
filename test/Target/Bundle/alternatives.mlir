// Other forms of kernels are in the bundle, over operands and results of the kernel that they replace.
// RUN: rm -rf %t && mkdir %t
// RUN: fact-compile %s --target=h200 --until=bundle --bundle=%t/h200 --alternatives=1000 --candidates=2 --summary=%t/summary.json
// RUN: FileCheck %s --check-prefix=JSON < %t/h200/bundle.json
// RUN: FileCheck %s --check-prefix=SUMMARY < %t/summary.json
// The bundle is accepted with them.
// RUN: fact-registry migrate %t/h200 --to %t/patterns
// RUN: fact-compile %s --target=host --until=bundle --bundle=%t/host --alternatives=1000 --candidates=2
// RUN: fact-registry migrate %t/host --to %t/patterns
// RUN: FileCheck %s --check-prefix=JSON < %t/host/bundle.json
// Nothing is near, none are wanted, and one candidate is no search.
// RUN: fact-compile %s --target=h200 --until=bundle --bundle=%t/far --alternatives=0.5 --candidates=2
// RUN: FileCheck %s --check-prefix=NONE < %t/far/bundle.json
// RUN: fact-compile %s --target=h200 --until=bundle --bundle=%t/none --alternatives=0 --candidates=2
// RUN: FileCheck %s --check-prefix=NONE < %t/none/bundle.json
// RUN: fact-compile %s --target=h200 --until=bundle --bundle=%t/one --candidates=1
// RUN: FileCheck %s --check-prefix=NONE < %t/one/bundle.json
// RUN: not fact-compile %s --until=bundle --bundle=%t/bad --alternatives=-1 2>&1 | FileCheck %s --check-prefix=BAD

// JSON: "alternatives": [
// JSON: "form": "apart",
// JSON: "kernel": "gemm_epilogue_0",
// JSON: "steps": [
// JSON: "kernel": "gemm_epilogue_1",
// JSON-NEXT: "operands": [
// JSON-NEXT: 0,
// JSON-NEXT: 1
// JSON-NEXT: ],
// JSON-NEXT: "results": [
// JSON-NEXT: 2
// JSON: "kernel": "{{[a-z]+}}_2",
// JSON: "values": [
// JSON: "kind": "input"
// JSON: "kind": "input"
// JSON: "kind": "workspace"
// JSON: "kind": "output"
// JSON: "commands"
// SUMMARY: "alternatives": 1,
// SUMMARY: "name": "gemm_epilogue_0",
// SUMMARY-NOT: "name": "gemm
// NONE: "alternatives": [],
// BAD: --alternatives must be 0 or more

fact.weight @w : tensor<512x256xbf16>

func.func @forward(%x: tensor<1024x256xbf16>) -> tensor<1024x512xbf16> {
  %w = fact.get_weight @w : tensor<512x256xbf16>
  %0 = fact.matmul %x, %w transpose_b : (tensor<1024x256xbf16>, tensor<512x256xbf16>) -> tensor<1024x512xbf16>
  %1 = fact.silu %0 : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %1 : tensor<1024x512xbf16>
}
