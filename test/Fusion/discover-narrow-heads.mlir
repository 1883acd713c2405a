// RUN: fact-opt %s --fact-discover="target=h200 patterns=%t.none" | FileCheck %s

// Narrow heads are multiplied sooner than they arrive: more of them are on their way.

// CHECK-LABEL: func @narrow
// CHECK: space(#fact.sm90_attention_space<{{.*}}stages = [4, 5, 8]>)
func.func @narrow(%q: tensor<4x51x1024x40xbf16>) -> tensor<4x51x1024x40xbf16> {
  %0 = fact.attention %q, %q, %q scale 0.158 : (tensor<4x51x1024x40xbf16>, tensor<4x51x1024x40xbf16>, tensor<4x51x1024x40xbf16>) -> tensor<4x51x1024x40xbf16>
  return %0 : tensor<4x51x1024x40xbf16>
}

// CHECK-LABEL: func @wide
// CHECK: space(#fact.sm90_attention_space<{{.*}}stages = [4, 5]>)
func.func @wide(%q: tensor<4x16x1024x80xbf16>) -> tensor<4x16x1024x80xbf16> {
  %0 = fact.attention %q, %q, %q scale 0.112 : (tensor<4x16x1024x80xbf16>, tensor<4x16x1024x80xbf16>, tensor<4x16x1024x80xbf16>) -> tensor<4x16x1024x80xbf16>
  return %0 : tensor<4x16x1024x80xbf16>
}
