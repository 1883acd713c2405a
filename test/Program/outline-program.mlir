// RUN: fact-opt %s --split-input-file --fact-outline-program | FileCheck %s

// Layers of equal content are one kernel, named by its position, with the
// strategy and the priority of the most urgent one; inputs and outputs have
// their names. An argument that is a weight in each launch is fixed.

fact.weight @a : tensor<8xf32>
fact.weight @b : tensor<8xf32>

// CHECK-LABEL: program.kernel @pointwise_0(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32> {fact.fixed}) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[F:.*]] = fact.fused "pointwise" ins(%[[X]], %[[B]] : tensor<4x8xf32>, tensor<8xf32>) {
// CHECK: } strategy(<reuse, "pointwise/f32/host#0">) priority(2) : tensor<4x8xf32>
// CHECK: program.return %[[F]] : tensor<4x8xf32>
// CHECK-LABEL: program.kernel @rowwise_1(
// CHECK-NOT: program.kernel
// CHECK-LABEL: program.model @layers : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>)
// CHECK-SAME: inputs(["tokens"]) outputs(["output0", "logits"]) {
// CHECK-NEXT: %[[X:tokens]] = program.input 0 : tensor<4x8xf32>
// CHECK-NEXT: %[[A:a]] = program.weight @a : tensor<8xf32>
// CHECK-NEXT: %[[B:b]] = program.weight @b : tensor<8xf32>
// CHECK-NEXT: %[[S:.*]] = program.alloc workspace : tensor<4x8xf32>
// CHECK-NEXT: %[[Y:output0]] = program.output 0 : tensor<4x8xf32>
// A reshape of a value is its memory; the output has its own shape.
// CHECK-NEXT: %[[Z:logits]] = program.output 1 : tensor<32xf32>
// CHECK-NEXT: program.prepare {
// CHECK-NEXT: }
// CHECK-NEXT: program.run {
// CHECK-NEXT: program.launch @pointwise_0(%[[X]], %[[A]]) -> (%[[S]])
// CHECK-NEXT: program.launch @pointwise_0(%[[S]], %[[B]]) -> (%[[Y]])
// CHECK-NEXT: program.launch @rowwise_1(%[[Y]]) -> (%[[Z]])
// CHECK-NEXT: }
// CHECK-NOT: func.func
func.func @layers(%x: tensor<4x8xf32> {fact.name = "tokens"}) -> (tensor<4x8xf32>, tensor<32xf32> {fact.name = "logits"}) {
  %a = fact.get_weight @a : tensor<8xf32>
  %b = fact.get_weight @b : tensor<8xf32>
  %0 = fact.fused "pointwise" ins(%x, %a : tensor<4x8xf32>, tensor<8xf32>) {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8xf32>):
    %s = fact.add %p, %q : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    fact.yield %s : tensor<4x8xf32>
  } strategy(<new>) priority(1) : tensor<4x8xf32>
  %1 = fact.fused "pointwise" ins(%0, %b : tensor<4x8xf32>, tensor<8xf32>) {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8xf32>):
    %s = fact.add %p, %q : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    fact.yield %s : tensor<4x8xf32>
  } strategy(<reuse, "pointwise/f32/host#0">) priority(2) : tensor<4x8xf32>
  %2 = fact.fused "rowwise" ins(%1 : tensor<4x8xf32>) {
  ^bb0(%p: tensor<4x8xf32>):
    %s = fact.softmax %p dim 1 : tensor<4x8xf32>
    fact.yield %s : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %3 = fact.reshape %2 : (tensor<4x8xf32>) -> tensor<32xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<32xf32>
}

// -----

// Operands that are the same memory are one argument, under both shapes. A
// region of equal content that reads two memories is another kernel: it moves
// more bytes.

// CHECK-LABEL: program.kernel @pointwise_0(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT: %[[R:.*]] = fact.reshape %[[X]] : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: fact.fused "pointwise" ins(%[[X]], %[[R]] : tensor<8xf32>, tensor<2x4xf32>)
// CHECK-LABEL: program.kernel @pointwise_1(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<2x4xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT: fact.fused "pointwise" ins(%[[X]], %[[Y]] : tensor<8xf32>, tensor<2x4xf32>)
// CHECK: program.launch @pointwise_0(%x) -> (%output0)
// CHECK-NEXT: program.launch @pointwise_1(%x, %y) -> (%output1)
func.func @shared(%x: tensor<8xf32> {fact.name = "x"}, %y: tensor<2x4xf32> {fact.name = "y"}) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = fact.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  %1 = fact.fused "pointwise" ins(%x, %0 : tensor<8xf32>, tensor<2x4xf32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<2x4xf32>):
    %s = fact.concat %q, %q dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
    %t = fact.add %s, %p : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    fact.yield %t : tensor<2x8xf32>
  } : tensor<2x8xf32>
  %2 = fact.fused "pointwise" ins(%x, %y : tensor<8xf32>, tensor<2x4xf32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<2x4xf32>):
    %s = fact.concat %q, %q dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
    %t = fact.add %s, %p : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    fact.yield %t : tensor<2x8xf32>
  } : tensor<2x8xf32>
  return %1, %2 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// Functions of weights run first and have memory of their own. A weight that has
// the name of a kernel keeps it.

// CHECK: fact.weight @pointwise_0
fact.weight @pointwise_0 : tensor<8xf32>

// CHECK-LABEL: program.kernel @pointwise_0_0(
// CHECK-LABEL: program.model @prepare
// CHECK: %[[X:.*]] = program.input 0
// CHECK-NEXT: %[[W:.*]] = program.weight @pointwise_0
// CHECK-NEXT: %[[C:.*]] = program.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[P:.*]] = program.alloc prepared : tensor<8xf32>
// CHECK-NEXT: %[[Y:.*]] = program.output 0
// CHECK-NEXT: program.prepare {
// CHECK-NEXT: program.launch @pointwise_0_0(%[[W]], %[[C]]) -> (%[[P]])
// CHECK-NEXT: }
// CHECK-NEXT: program.run {
// CHECK-NEXT: program.launch @pointwise_0_0(%[[X]], %[[P]]) -> (%[[Y]])
func.func @prepare(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fact.prepare {
    %w = fact.get_weight @pointwise_0 : tensor<8xf32>
    %c = fact.constant dense<1.0> : tensor<8xf32>
    %2 = fact.fused "pointwise" ins(%w, %c : tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
      %s = fact.add %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      fact.yield %s : tensor<8xf32>
    } : tensor<8xf32>
    fact.yield %2 : tensor<8xf32>
  } : tensor<8xf32>
  %1 = fact.fused "pointwise" ins(%x, %0 : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
    %s = fact.add %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    fact.yield %s : tensor<8xf32>
  } : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A constant that kernels hold in their code is not stored.

// CHECK-LABEL: program.model @held
// CHECK-NOT: program.constant
// CHECK: program.launch
func.func @held(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fact.constant dense<2.0> : tensor<8xf32>
  %1 = fact.fused "pointwise" ins(%x : tensor<8xf32>) {
  ^bb0(%p: tensor<8xf32>):
    %c = fact.constant dense<2.0> : tensor<8xf32>
    %s = fact.mul %p, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    fact.yield %s : tensor<8xf32>
  } : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// An output without elements has no buffer; a constant without elements has one
// where a kernel reads it, if need be under another shape.

// CHECK-LABEL: program.model @empty : (tensor<8xf32>) -> (tensor<0xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[X:.*]] = program.input 0
// CHECK-NEXT: %[[C:.*]] = program.constant dense<> : tensor<0x2xf32>
// CHECK-NEXT: %[[Y:.*]] = program.output 1
// CHECK: program.launch @pointwise_0(%[[X]], %[[C]]) -> (%[[Y]])
func.func @empty(%x: tensor<8xf32>) -> (tensor<0xf32>, tensor<8xf32>) {
  %0 = fact.constant dense<> : tensor<0xf32>
  %1 = fact.constant dense<> : tensor<0x2xf32>
  %2 = fact.reshape %1 : (tensor<0x2xf32>) -> tensor<0xf32>
  %3 = fact.fused "pointwise" ins(%x, %2 : tensor<8xf32>, tensor<0xf32>) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<0xf32>):
    %s = fact.concat %p, %q dim 0 : (tensor<8xf32>, tensor<0xf32>) -> tensor<8xf32>
    fact.yield %s : tensor<8xf32>
  } : tensor<8xf32>
  return %0, %3 : tensor<0xf32>, tensor<8xf32>
}

// -----

// A slice between kernels is a part of its operand's memory, and a slice of a
// slice one of the same memory. A concatenation between kernels is memory that
// they write in parts.

// CHECK-LABEL: program.kernel @pointwise_0(
// CHECK-NOT: program.kernel
// CHECK-LABEL: program.model @steps
// CHECK-NEXT: %[[X:x]] = program.input 0 : tensor<4x8xf32>
// CHECK-NEXT: %[[HALF:.*]] = program.part %[[X]] at 64 : tensor<2x8xf32>
// CHECK-NEXT: %[[A:.*]] = program.part %[[X]] at 96 : tensor<1x8xf32>
// CHECK-NEXT: %[[Y:output0]] = program.output 0 : tensor<16xf32>
// CHECK-NEXT: %[[FIRST:.*]] = program.part %[[Y]] at 0 : tensor<1x8xf32>
// CHECK-NEXT: %[[SECOND:.*]] = program.part %[[Y]] at 32 : tensor<1x8xf32>
// CHECK: program.launch @pointwise_0(%[[A]]) -> (%[[FIRST]])
// CHECK-NEXT: program.launch @pointwise_0(%[[FIRST]]) -> (%[[SECOND]])
func.func @steps(%x: tensor<4x8xf32> {fact.name = "x"}) -> tensor<16xf32> {
  %half = fact.slice %x dim 0 start 2 : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %a = fact.slice %half dim 0 start 1 : (tensor<2x8xf32>) -> tensor<1x8xf32>
  %0 = fact.fused "pointwise" ins(%a : tensor<1x8xf32>) {
  ^bb0(%p: tensor<1x8xf32>):
    %s = fact.exp %p : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fact.yield %s : tensor<1x8xf32>
  } : tensor<1x8xf32>
  %1 = fact.fused "pointwise" ins(%0 : tensor<1x8xf32>) {
  ^bb0(%p: tensor<1x8xf32>):
    %s = fact.exp %p : (tensor<1x8xf32>) -> tensor<1x8xf32>
    fact.yield %s : tensor<1x8xf32>
  } : tensor<1x8xf32>
  %2 = fact.concat %0, %1 dim 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = fact.reshape %2 : (tensor<2x8xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// -----

// Kernels that write their columns of a concatenation share its memory.

// CHECK-LABEL: program.kernel @pointwise_0(
// CHECK-LABEL: program.kernel @pointwise_1(
// CHECK-LABEL: program.model @columns
// CHECK-NEXT: %[[X:x]] = program.input 0 : tensor<4x8xf32>
// CHECK-NEXT: %[[Y:output0]] = program.output 0 : tensor<4x11xf32>
// CHECK-NEXT: %[[LEFT:.*]] = program.part %[[Y]] at 0 : tensor<4x11xf32>
// CHECK-NEXT: %[[RIGHT:.*]] = program.part %[[Y]] at 0 : tensor<4x11xf32>
// CHECK: program.launch @pointwise_0(%[[X]]) -> (%[[LEFT]])
// CHECK-NEXT: program.launch @pointwise_1(%[[X]]) -> (%[[RIGHT]])
func.func @columns(%x: tensor<4x8xf32> {fact.name = "x"}) -> tensor<4x11xf32> {
  %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%p: tensor<4x8xf32>):
    %s = fact.exp %p : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %n = ub.poison : tensor<4x3xf32>
    %t = fact.concat %s, %n dim 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
    fact.yield %t : tensor<4x11xf32>
  } : tensor<4x11xf32>
  %1 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
  ^bb0(%p: tensor<4x8xf32>):
    %s = fact.slice %p dim 1 start 5 : (tensor<4x8xf32>) -> tensor<4x3xf32>
    %n = ub.poison : tensor<4x8xf32>
    %t = fact.concat %n, %s dim 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
    fact.yield %t : tensor<4x11xf32>
  } : tensor<4x11xf32>
  %2 = fact.slice %0 dim 1 start 0 : (tensor<4x11xf32>) -> tensor<4x8xf32>
  %3 = fact.slice %1 dim 1 start 8 : (tensor<4x11xf32>) -> tensor<4x3xf32>
  %4 = fact.concat %2, %3 dim 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  return %4 : tensor<4x11xf32>
}
