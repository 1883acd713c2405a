// RUN: fact-opt %s -verify-diagnostics -split-input-file

// Rows of which a kernel reads what another one wrote.
program.kernel @pad(%a: tensor<4x8xf32>) -> tensor<4x12xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x8xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x4xf32>
    %1 = fact.concat %x, %n dim 1 : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
    fact.yield %1 : tensor<4x12xf32>
  } : tensor<4x12xf32>
  program.return %0 : tensor<4x12xf32>
}
program.kernel @crop(%a: tensor<4x12xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x12xf32>) {
  ^bb0(%x: tensor<4x12xf32>):
    %1 = fact.slice %x dim 1 start 0 : (tensor<4x12xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @m : (tensor<4x8xf32>) -> tensor<4x8xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x8xf32>
  %w = program.alloc workspace : tensor<4x12xf32>
  %y = program.output 0 : tensor<4x8xf32>
  program.prepare {}
  program.run {
    program.launch @pad(%x) -> (%w)
    program.launch @crop(%w) -> (%y)
  }
}

// -----

// One column too many.
program.kernel @pad(%a: tensor<4x8xf32>) -> tensor<4x12xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x8xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x4xf32>
    %1 = fact.concat %x, %n dim 1 : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
    fact.yield %1 : tensor<4x12xf32>
  } : tensor<4x12xf32>
  program.return %0 : tensor<4x12xf32>
}
program.kernel @crop(%a: tensor<4x12xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x12xf32>) {
  ^bb0(%x: tensor<4x12xf32>):
    %1 = fact.slice %x dim 1 start 1 : (tensor<4x12xf32>) -> tensor<4x8xf32>
    fact.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @m : (tensor<4x8xf32>) -> tensor<4x8xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x8xf32>
  // expected-note @+1 {{the buffer}}
  %w = program.alloc workspace : tensor<4x12xf32>
  %y = program.output 0 : tensor<4x8xf32>
  program.prepare {}
  program.run {
    program.launch @pad(%x) -> (%w)
    // expected-error @+1 {{(C3) no earlier launch writes all of argument 0}}
    program.launch @crop(%w) -> (%y)
  }
}

// -----

// All columns.
program.kernel @pad(%a: tensor<4x8xf32>) -> tensor<4x12xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x8xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %n = ub.poison : tensor<4x4xf32>
    %1 = fact.concat %x, %n dim 1 : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
    fact.yield %1 : tensor<4x12xf32>
  } : tensor<4x12xf32>
  program.return %0 : tensor<4x12xf32>
}
program.kernel @crop(%a: tensor<4x12xf32>) -> tensor<4x8xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<4x12xf32>) {
  ^bb0(%x: tensor<4x12xf32>):
    %1 = fact.slice %x dim 1 start 0 : (tensor<4x12xf32>) -> tensor<4x8xf32>
    %2 = fact.slice %x dim 1 start 4 : (tensor<4x12xf32>) -> tensor<4x8xf32>
    %3 = fact.add %1, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    fact.yield %3 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  program.return %0 : tensor<4x8xf32>
}
program.model @m : (tensor<4x8xf32>) -> tensor<4x8xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<4x8xf32>
  // expected-note @+1 {{the buffer}}
  %w = program.alloc workspace : tensor<4x12xf32>
  %y = program.output 0 : tensor<4x8xf32>
  program.prepare {}
  program.run {
    program.launch @pad(%x) -> (%w)
    // expected-error @+1 {{(C3) no earlier launch writes all of argument 0}}
    program.launch @crop(%w) -> (%y)
  }
}
