// RUN: fact-opt %s | FileCheck %s
// RUN: fact-opt %s | fact-opt | FileCheck %s
// RUN: fact-opt %s --mlir-print-op-generic | fact-opt | FileCheck %s
// Buffers in memory that is not placed yet are not one buffer.
// RUN: fact-opt %s --canonicalize --cse | FileCheck %s

fact.weight @up.weight : tensor<2x3xf32>

// CHECK-LABEL: program.kernel @concat_0(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>) -> tensor<12xf32> {
program.kernel @concat_0(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<12xf32> {
  // CHECK-NEXT: %[[R:.*]] = fact.reshape %[[A]] : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = fact.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[F:.*]] = fact.fused "pointwise" ins(%[[R]], %[[B]], %[[B]] : tensor<6xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = fact.fused "pointwise" ins(%r, %b, %b : tensor<6xf32>, tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%x: tensor<6xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>):
    %1 = fact.concat %x, %y, %z dim 0 : (tensor<6xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<12xf32>
    fact.yield %1 : tensor<12xf32>
  } : tensor<12xf32>
  // CHECK: program.return %[[F]] : tensor<12xf32>
  program.return %0 : tensor<12xf32>
}

program.kernel @exp_1(%a: tensor<12xf32>) -> tensor<12xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<12xf32>) {
  ^bb0(%x: tensor<12xf32>):
    %1 = fact.exp %x : (tensor<12xf32>) -> tensor<12xf32>
    fact.yield %1 : tensor<12xf32>
  } : tensor<12xf32>
  program.return %0 : tensor<12xf32>
}

// Buffers are named after what they hold.
// CHECK-LABEL: program.model @forward : (tensor<12xf32>) -> (tensor<3x4xf32>, tensor<12xf32>)
// CHECK-SAME: inputs(["x"]) outputs(["y", "*/"]) {
program.model @forward : (tensor<12xf32>) -> (tensor<3x4xf32>, tensor<12xf32>) inputs(["x"]) outputs(["y", "*/"]) {
  // CHECK-NEXT: %[[X:x]] = program.input 0 : tensor<12xf32>
  %0 = program.input 0 : tensor<12xf32>
  // CHECK-NEXT: %[[W:up.weight]] = program.weight @up.weight : tensor<2x3xf32>
  %1 = program.weight @up.weight : tensor<2x3xf32>
  // CHECK-NEXT: %[[C:constant]] = program.constant dense<1.000000e+00> : tensor<3xf32>
  %2 = program.constant dense<1.0> : tensor<3xf32>
  // CHECK-NEXT: %[[P:prepared]] = program.alloc prepared : tensor<12xf32>
  %3 = program.alloc prepared : tensor<12xf32>
  // CHECK-NEXT: %[[S:workspace]] = program.alloc workspace : tensor<12xf32>
  %4 = program.alloc workspace : tensor<12xf32>
  // CHECK-NEXT: %[[T:workspace_0]] = program.alloc workspace : tensor<12xf32>
  %5 = program.alloc workspace : tensor<12xf32>
  // CHECK-NEXT: %[[Y:y]] = program.output 0 : tensor<3x4xf32>
  %6 = program.output 0 : tensor<3x4xf32>
  // CHECK-NEXT: %[[Z:[^ ]*]] = program.output 1 : tensor<12xf32>
  %7 = program.output 1 : tensor<12xf32>
  // CHECK-NEXT: program.prepare {
  // CHECK-NEXT: program.launch @concat_0(%[[W]], %[[C]]) -> (%[[P]])
  // CHECK-NEXT: }
  program.prepare {
    program.launch @concat_0(%1, %2) -> (%3)
  }
  // CHECK-NEXT: program.run {
  // CHECK-NEXT: program.launch @exp_1(%[[P]]) -> (%[[S]])
  // CHECK-NEXT: program.launch @exp_1(%[[X]]) -> (%[[T]])
  // CHECK-NEXT: program.launch @exp_1(%[[T]]) -> (%[[Y]])
  // CHECK-NEXT: program.launch @exp_1(%[[S]]) -> (%[[Z]])
  // CHECK-NEXT: }
  program.run {
    program.launch @exp_1(%3) -> (%4)
    program.launch @exp_1(%0) -> (%5)
    program.launch @exp_1(%5) -> (%6)
    program.launch @exp_1(%4) -> (%7)
  }
}

// CHECK-LABEL: program.model @planned
// CHECK-SAME: workspace(256) prepared(0) {
program.model @planned : (tensor<12xf32>) -> (tensor<12xf32>) inputs(["x"]) outputs(["y"]) workspace(256) prepared(0) {
  %0 = program.input 0 : tensor<12xf32>
  // CHECK: program.alloc workspace at 0 : tensor<12xf32>
  %1 = program.alloc workspace at 0 : tensor<12xf32>
  %2 = program.output 0 : tensor<12xf32>
  // CHECK: program.prepare {
  // CHECK-NEXT: }
  program.prepare {}
  program.run {
    program.launch @exp_1(%0) -> (%1)
    program.launch @exp_1(%1) -> (%2)
  }
}

// Launches on parts, which cover the output and the workspace.
// CHECK-LABEL: program.model @parts
program.model @parts : (tensor<3x12xf32>) -> (tensor<24xf32>) inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<3x12xf32>
  // CHECK: %[[PART:part]] = program.part %{{x}} at 96 : tensor<12xf32>
  %0 = program.part %x at 96 : tensor<12xf32>
  %w = program.alloc workspace : tensor<2x12xf32>
  %1 = program.part %w at 48 : tensor<12xf32>
  %2 = program.part %w at 0 : tensor<12xf32>
  %y = program.output 0 : tensor<24xf32>
  %3 = program.part %y at 0 : tensor<12xf32>
  %4 = program.part %y at 48 : tensor<12xf32>
  program.prepare {}
  // CHECK: program.launch @exp_1(%[[PART]]) ->
  program.run {
    program.launch @exp_1(%0) -> (%1)
    program.launch @exp_1(%1) -> (%2)
    program.launch @exp_1(%2) -> (%3)
    program.launch @exp_1(%3) -> (%4)
  }
}

program.kernel @fill(%a: tensor<f32>) -> tensor<12xf32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<f32>) {
  ^bb0(%x: tensor<f32>):
    %1 = fact.reshape %x : (tensor<f32>) -> tensor<1xf32>
    %2 = fact.expand %1 : (tensor<1xf32>) -> tensor<12xf32>
    fact.yield %2 : tensor<12xf32>
  } : tensor<12xf32>
  program.return %0 : tensor<12xf32>
}

// A kernel reads a single element that another one wrote.
// CHECK-LABEL: program.model @single
program.model @single : (tensor<f32>) -> tensor<12xf32> inputs(["x"]) outputs(["y"]) {
  %x = program.input 0 : tensor<f32>
  %w = program.alloc workspace : tensor<f32>
  %y = program.output 0 : tensor<12xf32>
  program.prepare {}
  // CHECK: program.launch @fill(%{{.*}}) ->
  program.run {
    program.launch @exp_single(%x) -> (%w)
    program.launch @fill(%w) -> (%y)
  }
}

program.kernel @exp_single(%a: tensor<f32>) -> tensor<f32> {
  %0 = fact.fused "pointwise" ins(%a : tensor<f32>) {
  ^bb0(%x: tensor<f32>):
    %1 = fact.exp %x : (tensor<f32>) -> tensor<f32>
    fact.yield %1 : tensor<f32>
  } : tensor<f32>
  program.return %0 : tensor<f32>
}
