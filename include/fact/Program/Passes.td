//===- Passes.td - From a discovered function to a program -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_PASSES_TD
#define FACT_PROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineProgram : Pass<"fact-outline-program", "::mlir::ModuleOp"> {
  let summary = "Turn the discovered function into launches of kernels on buffers";
  let description = [{
    Each distinct `fact.fused` becomes a `program.kernel`, the function a
    `program.model`. A value that a kernel computes gets a buffer: the output's
    where the function returns it, prepared memory in `fact.prepare`, workspace
    elsewhere. A reshape is the same memory under another type and gets no
    buffer. A slice between kernels is a `program.part` of its operand's buffer;
    a concatenation between kernels is a buffer, of which each operand's kernel
    writes a part. The buffers have no offsets yet.

    ```mlir
    func.func @forward(%x: tensor<4x8xf32> {fact.name = "x"}) -> tensor<32xf32> {
      %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %3 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %3 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      %1 = fact.fused "pointwise" ins(%0 : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %3 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %3 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      %2 = fact.reshape %1 : (tensor<4x8xf32>) -> tensor<32xf32>
      return %2 : tensor<32xf32>
    }
    ```
    becomes
    ```mlir
    program.kernel @pointwise_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %1 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      program.return %0 : tensor<4x8xf32>
    }
    program.model @forward : (tensor<4x8xf32>) -> tensor<32xf32> inputs(["x"]) outputs(["output0"]) {
      %x = program.input 0 : tensor<4x8xf32>
      %a = program.alloc workspace : tensor<4x8xf32>
      %output0 = program.output 0 : tensor<32xf32>
      program.prepare {
      }
      program.run {
        program.launch @pointwise_0(%x) -> (%a)
        program.launch @pointwise_0(%a) -> (%output0)
      }
    }
    ```
  }];
  let dependentDialects = ["::fact::program::ProgramDialect"];
}

def PlanMemory : Pass<"fact-plan-memory", "::fact::program::ModelOp"> {
  let summary = "Assign offsets to the buffers of a program";
  let description = [{
    Buffers in prepared memory lie one after another. Those in workspace are
    placed first fit by decreasing size: a buffer takes the lowest offset at
    which it overlaps no placed buffer that is live at the same time. Offsets and
    sizes are multiples of 256 bytes.

    ```mlir
    program.kernel @pointwise_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %1 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      program.return %0 : tensor<4x8xf32>
    }
    program.model @forward : (tensor<4x8xf32>) -> tensor<4x8xf32> inputs(["x"]) outputs(["y"]) {
      %x = program.input 0 : tensor<4x8xf32>
      %a = program.alloc workspace : tensor<4x8xf32>
      %b = program.alloc workspace : tensor<4x8xf32>
      %c = program.alloc workspace : tensor<4x8xf32>
      %y = program.output 0 : tensor<4x8xf32>
      program.prepare {
      }
      program.run {
        program.launch @pointwise_0(%x) -> (%a)
        program.launch @pointwise_0(%a) -> (%b)
        program.launch @pointwise_0(%b) -> (%c)
        program.launch @pointwise_0(%c) -> (%y)
      }
    }
    ```
    becomes
    ```mlir
    program.kernel @pointwise_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %1 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      program.return %0 : tensor<4x8xf32>
    }
    program.model @forward : (tensor<4x8xf32>) -> tensor<4x8xf32> inputs(["x"]) outputs(["y"]) workspace(512) prepared(0) {
      %x = program.input 0 : tensor<4x8xf32>
      %a = program.alloc workspace at 0 : tensor<4x8xf32>
      %b = program.alloc workspace at 256 : tensor<4x8xf32>
      %c = program.alloc workspace at 0 : tensor<4x8xf32>
      %y = program.output 0 : tensor<4x8xf32>
      program.prepare {
      }
      program.run {
        program.launch @pointwise_0(%x) -> (%a)
        program.launch @pointwise_0(%a) -> (%b)
        program.launch @pointwise_0(%b) -> (%c)
        program.launch @pointwise_0(%c) -> (%y)
      }
    }
    ```
  }];
}

#endif // FACT_PROGRAM_PASSES_TD
