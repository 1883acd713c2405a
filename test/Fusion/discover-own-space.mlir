// RUN: not fact-opt %s --fact-discover="target=%S/../Analysis/Inputs/small-memory.json patterns=%t.none" 2>&1 | FileCheck %s

// Nothing is fused that has no legal schedule on the machine.
// CHECK: error: 'fact.attention' op has no kernel on target 'small_memory'
// CHECK: note: 'attention': its space has no legal schedule; last tried sm90_attention<{{.*}}>: needs {{[0-9]+}} bytes of shared memory, and 'small_memory' has 10
func.func @no_room(%q: tensor<1x2x128x64xbf16>) -> tensor<1x2x128x64xbf16> {
  %0 = fact.attention %q, %q, %q scale 0.125 : (tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>) -> tensor<1x2x128x64xbf16>
  return %0 : tensor<1x2x128x64xbf16>
}
