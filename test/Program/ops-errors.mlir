// RUN: fact-opt %s -verify-diagnostics -split-input-file

// Kernels.
// expected-error @+1 {{(C1) the body does not end in a 'fact.fused' and a 'program.return'}}
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  program.return %a : tensor<64xf32>
}

// -----

// expected-error @+1 {{(C1) the body has a 'fact.exp' before the 'fact.fused', where only reshapes may be}}
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  // expected-note @+1 {{the op}}
  %e = fact.exp %a : (tensor<64xf32>) -> tensor<64xf32>
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

// -----

// expected-error @+1 {{(C1) the values returned are not the results of the 'fact.fused' in order}}
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %a : tensor<64xf32>
}

// -----

// expected-error @+1 {{(C2) returns ('tensor<64xf32>'), but the results are ('tensor<8x8xf32>')}}
program.kernel @k(%a: tensor<64xf32>) -> tensor<8x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}

// -----

// Buffers.
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) no input 1; the model has 1}}
  %z = program.input 1 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) input 0 is 'tensor<64xf32>' in the model's signature, but the buffer is 'tensor<8xf32>'}}
  %z = program.input 0 : tensor<8xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) no output 1; the model has 1}}
  %z = program.output 1 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{the other buffer}}
  %z = program.output 0 : tensor<64xf32>
  // expected-error @+1 {{(C2) output 0 has two buffers}}
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
    program.launch @k(%x) -> (%z)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %a = program.alloc workspace : tensor<64xf32>
  // expected-error @+1 {{(C3) no launch writes it}}
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) no 'fact.weight' is named @w}}
  %w = program.weight @w : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

// expected-note @+1 {{the weight}}
fact.weight @w : tensor<8xf32>
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) @w is 'tensor<8xf32>', but the buffer is 'tensor<64xf32>'}}
  %w = program.weight @w : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) the value is of type 'vector<64xf32>', not a tensor}}
  %c = program.constant dense<1.0> : vector<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) no launch writes it}}
  %a = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C2) it has an offset, but its memory has no size}}
  %a = program.alloc workspace at 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(256) prepared(0) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C2) its memory has a size, but it has no offset}}
  %a = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(512) prepared(0) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C3) offset 128 is not a multiple of 256}}
  %a = program.alloc workspace at 128 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(512) prepared(0) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C3) offset -256 is not a multiple of 256}}
  %a = program.alloc workspace at -256 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(511) prepared(0) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C3) 256 bytes at 256 end beyond the 511 bytes of workspace memory}}
  %a = program.alloc workspace at 256 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%y)
  }
}

// -----

// A launch reads one and writes the other.
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(256) prepared(0) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{256 bytes at 0}}
  %a = program.alloc workspace at 0 : tensor<64xf32>
  // expected-error @+1 {{(C4) 256 bytes at 0 overlap a buffer that is live at the same time}}
  %b = program.alloc workspace at 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%a)
    program.launch @k(%a) -> (%b)
    program.launch @k(%b) -> (%y)
  }
}

// -----

// Prepared memory is live always.
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(0) prepared(512) {
  %x = program.input 0 : tensor<64xf32>
  %c = program.constant dense<1.0> : tensor<64xf32>
  // expected-note @+1 {{256 bytes at 0}}
  %a = program.alloc prepared at 0 : tensor<64xf32>
  %b = program.alloc prepared at 256 : tensor<64xf32>
  // expected-error @+1 {{(C4) 256 bytes at 0 overlap a buffer that is live at the same time}}
  %d = program.alloc prepared at 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {
    program.launch @k(%c) -> (%a)
    program.launch @k(%a) -> (%b)
    program.launch @k(%b) -> (%d)
  }
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

// Launches.
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C1) no 'program.kernel' is named @nowhere}}
    program.launch @nowhere(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C2) @k has 1 arguments, but the launch has 2}}
    program.launch @k(%x, %x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{the buffer}}
  %c = program.constant dense<1.0> : tensor<8xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C2) argument 0 of @k is 'tensor<64xf32>', but the buffer holds 'tensor<8xf32>'}}
    program.launch @k(%c) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{the buffer}}
  %a = program.alloc workspace : tensor<64xi32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C2) result 0 of @k is 'tensor<64xf32>', but the buffer holds 'tensor<64xi32>'}}
    program.launch @k(%x) -> (%a)
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{the buffer}}
  %a = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C3) no earlier launch writes argument 0}}
    program.launch @k(%a) -> (%y)
    program.launch @k(%x) -> (%a)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  // expected-note @+1 {{the buffer}}
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C4) result 0 is a 'program.input', which no launch may write}}
    program.launch @k(%x) -> (%x)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-note @+1 {{the other launch}}
    program.launch @k(%x) -> (%y)
    // expected-error @+1 {{(C4) another launch also writes result 0}}
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  // expected-note @+1 {{the buffer}}
  %x = program.input 0 : tensor<64xf32>
  %a = program.alloc prepared : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {
    // expected-error @+1 {{(C5) argument 0 is an input, which 'program.prepare' cannot read}}
    program.launch @k(%x) -> (%a)
  }
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %c = program.constant dense<1.0> : tensor<64xf32>
  // expected-note @+1 {{the buffer}}
  %a = program.alloc workspace : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {
    // expected-error @+1 {{(C5) result 0 is not in prepared memory, which 'program.prepare' alone writes}}
    program.launch @k(%c) -> (%a)
  }
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-note @+1 {{the buffer}}
  %a = program.alloc prepared : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-error @+1 {{(C5) result 0 is in prepared memory, which 'program.prepare' alone writes}}
    program.launch @k(%x) -> (%a)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) the body has a 'func.func' among the launches}}
  program.prepare {
    // expected-note @+1 {{the op}}
    func.func private @f()
  }
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  // expected-error @+1 {{(C1) the body has a 'func.func' among the launches}}
  program.run {
    // expected-note @+1 {{the op}}
    func.func private @f()
    program.launch @k(%x) -> (%y)
  }
}

// -----

// Models.
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C1) 1 inputs, but 2 names}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x", "z"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C1) 1 outputs, but 0 names}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs([]) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

// expected-error @+1 {{(C2) the body does not end in 'program.prepare' and 'program.run'}}
program.model @m : () -> () inputs([]) outputs([]) {
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C2) the body has a 'func.func' among the buffers}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  // expected-note @+1 {{the op}}
  func.func private @f()
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C3) only one memory has a size; --fact-plan-memory sets both}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) workspace(0) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %a = program.part %x at 128 : tensor<32xf32>
  // expected-error @+1 {{(C1) it is a part of a part; name the whole buffer}}
  %b = program.part %a at 0 : tensor<32xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%b) -> (%y)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  // expected-note @+1 {{the buffer}}
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C1) it is 'tensor<32xf16>', but the buffer holds 'tensor<64xf32>'}}
  %a = program.part %x at 128 : tensor<32xf16>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%a) -> (%y)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C2) offset 130 is not a multiple of 4, the size of an element}}
  %a = program.part %x at 130 : tensor<31xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%a) -> (%y)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  // expected-note @+1 {{the buffer}}
  %x = program.input 0 : tensor<64xf32>
  // expected-error @+1 {{(C2) 128 bytes at 132 end beyond the 256 bytes of the buffer}}
  %a = program.part %x at 132 : tensor<32xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%a) -> (%y)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %a = program.part %x at 128 : tensor<32xf32>
  // expected-error @+1 {{(C3) launches write only parts of it}}
  %y = program.output 0 : tensor<64xf32>
  %b = program.part %y at 64 : tensor<32xf32>
  program.prepare {}
  program.run {
    program.launch @k(%a) -> (%b)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %a = program.part %x at 128 : tensor<32xf32>
  // expected-note @+1 {{the buffer}}
  %w = program.alloc workspace : tensor<64xf32>
  %b = program.part %w at 0 : tensor<32xf32>
  %c = program.part %w at 64 : tensor<32xf32>
  %y = program.output 0 : tensor<64xf32>
  %d = program.part %y at 0 : tensor<32xf32>
  program.prepare {}
  program.run {
    program.launch @k(%a) -> (%b)
    // expected-error @+1 {{(C3) no earlier launch writes all of argument 0}}
    program.launch @k(%c) -> (%d)
  }
}


// -----

program.kernel @k(%a: tensor<32xf32>) -> tensor<32xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<32xf32>) {
  ^bb0(%x: tensor<32xf32>):
    %1 = fact.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>
  } : tensor<32xf32>
  program.return %0 : tensor<32xf32>
}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<64xf32>
  %a = program.part %x at 128 : tensor<32xf32>
  %y = program.output 0 : tensor<64xf32>
  %b = program.part %y at 0 : tensor<32xf32>
  %c = program.part %y at 64 : tensor<32xf32>
  program.prepare {}
  program.run {
    // expected-note @+1 {{the other launch}}
    program.launch @k(%a) -> (%b)
    // expected-error @+1 {{(C4) another launch also writes result 0}}
    program.launch @k(%a) -> (%c)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C4) no kernel 'nothing'}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) replaces(@nothing) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

// expected-note @+1 {{the kernel}}
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C4) its signature is '(tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>', but that of 'k' is '(tensor<64xf32>) -> tensor<64xf32>'}}
program.model @m : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> inputs(["x", "z"]) outputs(["y"]) replaces(@k) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C4) it launches 'k'}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) replaces(@k) {
  %x = program.input 0 : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    // expected-note @+1 {{the launch}}
    program.launch @k(%x) -> (%y)
  }
}

// -----

fact.weight @w : tensor<64xf32>
program.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<64xf32>) {
  ^bb0(%x: tensor<64xf32>):
    %1 = fact.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    fact.yield %1 : tensor<64xf32>
  } : tensor<64xf32>
  program.return %0 : tensor<64xf32>
}
// expected-error @+1 {{(C4) it prepares or reads weights}}
program.model @m : (tensor<64xf32>) -> tensor<64xf32> inputs(["x"]) outputs(["y"]) replaces(@k) {
  %x = program.input 0 : tensor<64xf32>
  %w = program.weight @w : tensor<64xf32>
  %y = program.output 0 : tensor<64xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}

// -----

// Two kernels that write the same columns.
program.kernel @k(%a: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x8xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x8xf32>
    %1 = fact.concat %x, %n dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    fact.yield %1 : tensor<4x16xf32>
  } : tensor<4x16xf32>
  program.return %0 : tensor<4x16xf32>
}
program.model @m : (tensor<4x8xf32>) -> tensor<4x16xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x8xf32>
  %y = program.output 0 : tensor<4x16xf32>
  %a = program.part %y at 0 : tensor<4x16xf32>
  %b = program.part %y at 0 : tensor<4x16xf32>
  program.prepare {}
  program.run {
    // expected-note @+1 {{the other launch}}
    program.launch @k(%x) -> (%a)
    // expected-error @+1 {{(C4) another launch also writes result 0}}
    program.launch @k(%x) -> (%b)
  }
}

// -----

// Columns that one kernel writes, and another one may as unused ones of its own.
program.kernel @k(%a: tensor<4x7xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x7xf32>) {
  ^bb0(%x: tensor<4x7xf32>):
    %n = ub.poison : tensor<4x1xf32>
    %1 = fact.concat %x, %n dim 1 {fact.unused} : (tensor<4x7xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.kernel @l(%a: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x1xf32>) {
  ^bb0(%x: tensor<4x1xf32>):
    %n = ub.poison : tensor<4x7xf32>
    %1 = fact.concat %n, %x dim 1 : (tensor<4x7xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @m : (tensor<4x7xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> inputs(["x", "z"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x7xf32>
  %z = program.input 1 : tensor<4x1xf32>
  %y = program.output 0 : tensor<4x8xf32>
  program.prepare {}
  program.run {
    // expected-note @+1 {{the other launch}}
    program.launch @l(%z) -> (%y)
    // expected-error @+1 {{(C4) another launch also writes result 0}}
    program.launch @k(%x) -> (%y)
  }
}

// -----

// Columns that no kernel writes.
program.kernel @k(%a: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x8xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x8xf32>
    %1 = fact.concat %x, %n dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
    fact.yield %1 : tensor<4x16xf32>
  } : tensor<4x16xf32>
  program.return %0 : tensor<4x16xf32>
}
program.model @m : (tensor<4x8xf32>) -> tensor<4x16xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x8xf32>
  // expected-error @+1 {{(C3) launches write only parts of it}}
  %y = program.output 0 : tensor<4x16xf32>
  program.prepare {}
  program.run {
    program.launch @k(%x) -> (%y)
  }
}
