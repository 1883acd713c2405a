// RUN: fact-opt %s --fact-discover="target=%S/../Analysis/Inputs/small-memory.json patterns=%t.none" | FileCheck %s

// Nothing is fused that has no legal schedule on the machine: attention is written out.
// CHECK-NOT: fact.attention
// CHECK-COUNT-2: fact.matmul
// CHECK-NOT: fact.attention
func.func @no_room(%q: tensor<1x2x128x64xbf16>) -> tensor<1x2x128x64xbf16> {
  %0 = fact.attention %q, %q, %q scale 0.125 : (tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>) -> tensor<1x2x128x64xbf16>
  return %0 : tensor<1x2x128x64xbf16>
}
