// RUN: fact-opt %s --fact-plan-memory | FileCheck %s
// Planning again changes nothing.
// RUN: fact-opt %s --fact-plan-memory --fact-plan-memory | FileCheck %s

program.kernel @one(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

program.kernel @two(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>, %y: tensor<64xf32>):
    %1 = fact.add %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

program.kernel @pair(%a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0:2 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    %2 = fact.neg %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1, %2 : tensor<64xf32>, tensor<64xf32>
  } : tensor<64xf32>, tensor<64xf32>
  program.return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}

program.kernel @compare(%a: tensor<64xf32>) -> tensor<64xi1> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.compare lt %x, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    fact.yield %1 : tensor<64xi1>
  } : tensor<64xi1>
  program.return %0 : tensor<64xi1>
}

program.kernel @choose(%a: tensor<64xi1>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a, %b : tensor<64xi1>, tensor<64xf32>) {
  ^bb0(%x: tensor<64xi1>, %y: tensor<64xf32>):
    %1 = fact.select %x, %y, %y : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

program.kernel @grow(%a: tensor<64xf32>) -> tensor<128xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.concat %x, %x dim 0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    fact.yield %1 : tensor<128xf32>
  } : tensor<128xf32>
  program.return %0 : tensor<128xf32>
}

program.kernel @shrink(%a: tensor<128xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<128xf32>) {
  ^bb0(%x: tensor<128xf32>):
    %1 = fact.slice %x dim 0 start 0 : (tensor<128xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

program.kernel @nothing(%a: tensor<64xf32>) -> tensor<0xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.slice %x dim 0 start 64 : (tensor<64xf32>) -> tensor<0xf32>
    fact.yield %1 : tensor<0xf32>
  } : tensor<0xf32>
  program.return %0 : tensor<0xf32>
}

// The third value is written when the first is no longer needed, and takes its
// place. A launch reads and writes at the same time: neighbors are apart.
// CHECK-LABEL: program.model @chain
// CHECK-SAME: workspace(512) prepared(0)
program.model @chain : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 :
  %a = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 256 :
  %b = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 :
  %c = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @one(%x) -> (%a)
    program.launch @one(%a) -> (%b)
    program.launch @one(%b) -> (%c)
    program.launch @one(%c) -> (%y)
  }
}

// A residual is live across the launches that do not read it.
// CHECK-LABEL: program.model @residual
// CHECK-SAME: workspace(768) prepared(0)
program.model @residual : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 :
  %a = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 256 :
  %b = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 512 :
  %c = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @one(%x) -> (%a)
    program.launch @one(%a) -> (%b)
    program.launch @one(%b) -> (%c)
    program.launch @two(%c, %a) -> (%y)
  }
}

// Sizes are rounded up: 64 booleans take 256 bytes, as 64 floats do.
// CHECK-LABEL: program.model @alignment
// CHECK-SAME: workspace(512) prepared(0)
program.model @alignment : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<64xi1>
  %a = program.alloc workspace : tensor<64xi1>
  // CHECK: program.alloc workspace at 256 : tensor<64xf32>
  %b = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @compare(%x) -> (%a)
    program.launch @one(%x) -> (%b)
    program.launch @choose(%a, %b) -> (%y)
  }
}

// The largest buffer is placed first; the gap that it leaves is filled.
// CHECK-LABEL: program.model @largest_first
// CHECK-SAME: workspace(768) prepared(0)
program.model @largest_first : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // CHECK: program.alloc workspace at 512 : tensor<64xf32>
  %a = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<128xf32>
  %b = program.alloc workspace : tensor<128xf32>
  // CHECK: program.alloc workspace at 512 : tensor<64xf32>
  %c = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<64xf32>
  %d = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @one(%x) -> (%a)
    program.launch @grow(%a) -> (%b)
    program.launch @shrink(%b) -> (%c)
    program.launch @one(%c) -> (%d)
    program.launch @one(%d) -> (%y)
  }
}

// Prepared memory keeps its contents: nothing in it is shared, and workspace is
// another memory. Outputs have no offset and are read like any value.
// CHECK-LABEL: program.model @prepared
// CHECK-SAME: workspace(256) prepared(1024)
program.model @prepared : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) inputs(["x"]) outputs(["y", "z"]) {
  %x = program.input 0 : tensor<64xf32>
  %w = program.constant dense<1.0> : tensor<64xf32>
  // CHECK: program.alloc prepared at 0 : tensor<64xf32>
  %p = program.alloc prepared : tensor<64xf32>
  // CHECK: program.alloc prepared at 256 : tensor<128xf32>
  %q = program.alloc prepared : tensor<128xf32>
  // CHECK: program.alloc prepared at 768 : tensor<64xf32>
  %r = program.alloc prepared : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<64xf32>
  %a = program.alloc workspace : tensor<64xf32>
  // CHECK: program.output 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  // CHECK: program.output 1 : tensor<64xf32>
  %z = program.output 1 : tensor<64xf32>
  program.prepare {
    program.launch @one(%w) -> (%p)
    program.launch @grow(%p) -> (%q)
    program.launch @shrink(%q) -> (%r)
  }
  program.run {
    program.launch @two(%x, %r) -> (%a)
    program.launch @one(%a) -> (%y)
    program.launch @one(%y) -> (%z)
  }
}

// A result that nobody reads is written all the same, and a buffer without
// elements takes no memory.
// CHECK-LABEL: program.model @unread
// CHECK-SAME: workspace(512) prepared(0)
program.model @unread : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<64xf32>
  %a = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 256 : tensor<64xf32>
  %b = program.alloc workspace : tensor<64xf32>
  // CHECK: program.alloc workspace at 0 : tensor<0xf32>
  %c = program.alloc workspace : tensor<0xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @pair(%x) -> (%a, %b)
    program.launch @nothing(%x) -> (%c)
    program.launch @one(%a) -> (%y)
  }
}
