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

def AddAlternatives : Pass<"fact-add-alternatives", "::mlir::ModuleOp"> {
  let summary = "Add to kernels the programs that could take their place";
  let description = [{
    For each kernel with a contraction that the program launches, the ops of its
    region are grouped again by the rules with a narrower limit. Each grouping
    that differs becomes a `program.model` that `replaces` the kernel:

    - `single`: at most one contraction per kernel. A gated or grouped product
      becomes single products, each with its own epilogue.
    - `apart`: contractions have kernels of their own. Epilogues, and reductions
      of a product's rows or columns, become passes over the stored product.

    An alternative is added only if its kernels are predicted to take at most
    `factor` times as long as the kernel that it replaces. `fact-tune` measures
    it and decides. Kernels of alternatives follow those of the program, and are
    tuned after them.

    ```mlir
    module attributes {fact.target = #fact.machine<"neoverse-n1">} {
      program.kernel @gemm_epilogue_0(%x: tensor<256x512xf32>, %w: tensor<512x256xf32>) -> tensor<256x256xf32> {
        %0 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x512xf32>, tensor<512x256xf32>) {
        ^bb0(%a: tensor<256x512xf32>, %b: tensor<512x256xf32>):
          %1 = fact.matmul %a, %b : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32>
          %2 = fact.tanh %1 : (tensor<256x256xf32>) -> tensor<256x256xf32>
          fact.yield %2 : tensor<256x256xf32>
        } : tensor<256x256xf32>
        program.return %0 : tensor<256x256xf32>
      }
      program.model @forward : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32> inputs(["x", "w"]) outputs(["y"]) {
        %x = program.input 0 : tensor<256x512xf32>
        %w = program.input 1 : tensor<512x256xf32>
        %y = program.output 0 : tensor<256x256xf32>
        program.prepare {
        }
        program.run {
          program.launch @gemm_epilogue_0(%x, %w) -> (%y)
        }
      }
    }
    ```
    gets, with two more kernels,
    ```mlir
    program.model @gemm_epilogue_0_apart : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32> inputs(["input0", "input1"]) outputs(["output0"]) replaces(@gemm_epilogue_0) {
      %input0 = program.input 0 : tensor<256x512xf32>
      %input1 = program.input 1 : tensor<512x256xf32>
      %workspace = program.alloc workspace : tensor<256x256xf32>
      %output0 = program.output 0 : tensor<256x256xf32>
      program.prepare {
      }
      program.run {
        program.launch @gemm_epilogue_1(%input0, %input1) -> (%workspace)
        program.launch @pointwise_2(%workspace) -> (%output0)
      }
    }
    ```
  }];
  let options = [
    Option<"factor", "factor", "double", "1.2",
           "How much longer the kernels of an alternative may be predicted to "
           "take than the kernel that they replace">,
    Option<"keepProducts", "keep-products", "bool", "false",
           "Add no alternative that stores a 16-bit product which its kernel "
           "reads in f32">,
    ListOption<"patterns", "patterns", "std::string",
               "Folders of the registry, upper layers first; default: the user's "
               "and the built-in one">];
  let dependentDialects = ["::fact::program::ProgramDialect",
                           "::mlir::func::FuncDialect"];
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
