//===- ProgramOps.td - Kernels, buffers and launches -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_PROGRAMOPS_TD
#define FACT_PROGRAM_PROGRAMOPS_TD

include "fact/Program/ProgramDialect.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Program_Op<string mnemonic, list<Trait> traits = []>
    : Op<Program_Dialect, mnemonic, traits>;

def Program_Tensor : RankedTensorOf<[AnyFloat, AnyInteger],
    [HasStaticShapePred], "tensor of static sizes">;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Program_KernelOp : Program_Op<"kernel",
    [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "definition of one kernel";
  let description = [{
    Holds the `fact.fused` of one kernel, once for all launches. Its arguments
    are the buffers that a launch reads, its results those that it writes. Two
    operands of the region that are the same memory in every launch are one
    argument, reshaped where their types differ. An argument that is known once
    the weights are loaded, in every launch, has the attribute `fact.fixed`:
    what is packed from it is packed once.

    ```mlir
    program.kernel @pointwise_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = fact.fused "pointwise" ins(%x : tensor<4x8xf32>) {
      ^bb0(%a: tensor<4x8xf32>):
        %1 = fact.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
        fact.yield %1 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      program.return %0 : tensor<4x8xf32>
    }
    ```

    Constraints:
    - (C1) the body is any number of `fact.reshape`, one `fact.fused`, and a
      `program.return` of its results in order.
    - (C2) the returned types are the kernel's result types.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    ::fact::FusedOp getFused();
    /// The argument that each operand of the region is, by position.
    ::llvm::SmallVector<unsigned> getOperandArguments();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Program_ReturnOp : Program_Op<"return",
    [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "the results of a kernel";
  let arguments = (ins Variadic<Program_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Program_BufferOpInterface : OpInterface<"BufferOpInterface"> {
  let cppNamespace = "::fact::program";
  let description = [{
    An op that defines a buffer of a model.
  }];
  let methods = [
    InterfaceMethod<"The tensor that the buffer holds.",
                    "::mlir::RankedTensorType", "getTensor">];
}

class Program_BufferOp<string mnemonic, list<Trait> traits = []>
    : Program_Op<mnemonic, !listconcat(
          [Program_BufferOpInterface, HasParent<"ModelOp">,
           DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>],
          traits)> {
  let results = (outs Program_Buffer:$buffer);
}

def Program_InputOp : Program_BufferOp<"input", [Pure]> {
  let summary = "memory of an argument of the model";
  let description = [{
    ```mlir
    %x = program.input 0 : tensor<8x8xf32>
    ```

    Constraints:
    - (C1) the model has an input `index`, and this is its type.
  }];
  let arguments = (ins I64Attr:$index, TypeAttrOf<Program_Tensor>:$tensor);
  let assemblyFormat = "$index attr-dict `:` $tensor";
  let hasVerifier = 1;
}

def Program_OutputOp : Program_BufferOp<"output", [Pure]> {
  let summary = "memory of a result of the model";
  let description = [{
    ```mlir
    %y = program.output 0 : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) the model has an output `index`, and this is its type.
    - (C2) no other buffer is the same output.
    - (C3) a launch writes it, or launches write parts that cover it.
  }];
  let arguments = (ins I64Attr:$index, TypeAttrOf<Program_Tensor>:$tensor);
  let assemblyFormat = "$index attr-dict `:` $tensor";
  let hasVerifier = 1;
}

def Program_WeightOp : Program_BufferOp<"weight",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "memory of a weight";
  let description = [{
    ```mlir
    %up.weight = program.weight @up.weight : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `weight` names a `fact.weight` of this type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight,
                       TypeAttrOf<Program_Tensor>:$tensor);
  let assemblyFormat = "$weight attr-dict `:` $tensor";
}

def Program_ConstantOp : Program_BufferOp<"constant", [Pure]> {
  let summary = "memory of a tensor known at compile time";
  let description = [{
    ```mlir
    %half = program.constant dense<5.0e-01> : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `value` is a tensor.
  }];
  let arguments = (ins ElementsAttr:$value);
  let assemblyFormat = "$value attr-dict";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensor() {
      return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType());
    }
  }];
  let hasVerifier = 1;
}

def Program_AllocOp : Program_BufferOp<"alloc"> {
  let summary = "memory that the program owns";
  let description = [{
    Prepared memory holds functions of weights and keeps its contents between
    calls. Workspace holds values between two launches of one call. The offset
    is from the start of either.

    ```mlir
    %workspace = program.alloc workspace at 0 : tensor<4x8xf32>
    %prepared = program.alloc prepared at 256 : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) a launch writes it, or a part of it.
    - (C2) `offset` is present where the model has a size for this memory, and
      only there.
    - (C3) `offset` is a multiple of 256, and the buffer ends within the memory.
    - (C4) a buffer that shares memory with it is not live at the same time.
      Workspace is live from the first launch that writes it or a part of it to
      the last one that reads any of it, prepared memory always.
  }];
  let arguments = (ins Program_Memory:$memory, OptionalAttr<I64Attr>:$offset,
                       TypeAttrOf<Program_Tensor>:$tensor);
  let results = (outs Res<Program_Buffer, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "$memory (`at` $offset^)? attr-dict `:` $tensor";
  let extraClassDeclaration = [{
    /// Alignment of offsets and sizes, in bytes: enough for TMA and for a cache
    /// line of every machine.
    static constexpr int64_t alignment = 256;

    /// Size of the tensor, rounded up to a multiple of the alignment.
    int64_t getBytes();
  }];
}

def Program_PartOp : Program_BufferOp<"part", [Pure]> {
  let summary = "contiguous part of another buffer";
  let description = [{
    The tensor that begins `offset` bytes after the start of `whole`. A launch
    reads or writes the part as it does a buffer, so the steps of an unrolled
    loop, which differ in their parts alone, launch one kernel.

    ```mlir
    %rows = program.part %x at 128 : tensor<4x8xf32>
    ```

    Constraints:
    - (C1) `whole` is not a part itself, and its elements have the same type.
    - (C2) `offset` is a multiple of an element's size, and the part ends within
      `whole`.
  }];
  let arguments = (ins Program_Buffer:$whole, I64Attr:$offset,
                       TypeAttrOf<Program_Tensor>:$tensor);
  let assemblyFormat = "$whole `at` $offset attr-dict `:` $tensor";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

def Program_LaunchOp : Program_Op<"launch",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
     ParentOneOf<["PrepareOp", "RunOp"]>]> {
  let summary = "run a kernel on buffers";
  let description = [{
    Reads the buffers before the arrow and writes those after it.

    ```mlir
    program.launch @pointwise_0(%rows, %up.weight) -> (%workspace)
    ```

    Constraints:
    - (C1) `kernel` names a `program.kernel`.
    - (C2) there is a buffer for each of the kernel's arguments and results, and
      it holds as many elements of the same type.
    - (C3) an argument is an input, a weight, a constant, a part of one, or
      earlier launches wrote all of it that the kernel reads.
    - (C4) a result is workspace, prepared memory, an output or a part of one,
      and no other launch writes any of it.
    - (C5) launches in `program.prepare` read no input and write prepared memory,
      those in `program.run` write workspace and outputs.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
      Arg<Variadic<Program_Buffer>, "", [MemRead]>:$inputs,
      Arg<Variadic<Program_Buffer>, "", [MemWrite]>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

class Program_SequenceOp<string mnemonic>
    : Program_Op<mnemonic, [NoTerminator, SingleBlock, NoRegionArguments,
                            HasParent<"ModelOp">]> {
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Program_PrepareOp : Program_SequenceOp<"prepare"> {
  let summary = "launches after weights are loaded, in order";
  let description = [{
    Constraints:
    - (C1) the body holds nothing but launches.
  }];
}

def Program_RunOp : Program_SequenceOp<"run"> {
  let summary = "launches of each call, in order";
  let description = [{
    Constraints:
    - (C1) the body holds nothing but launches.
  }];
}

def Program_ModelOp : Program_Op<"model",
    [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "buffers and the launches over them";
  let description = [{
    The program of one model. `workspace` and `prepared` are the bytes of both
    memories, once the buffers in them have offsets.

    A model that `replaces` a kernel is an alternative of it: its launches may
    take the place of each launch of that kernel. Its inputs are the kernel's
    arguments, its outputs the kernel's results.

    ```mlir
    program.model @forward : (tensor<4x8xf32>) -> tensor<4x8xf32>
        inputs(["x"]) outputs(["output0"]) workspace(256) prepared(0) {
      %x = program.input 0 : tensor<4x8xf32>
      %workspace = program.alloc workspace at 0 : tensor<4x8xf32>
      %output0 = program.output 0 : tensor<4x8xf32>
      program.prepare {
      }
      program.run {
        program.launch @pointwise_0(%x) -> (%workspace)
        program.launch @pointwise_0(%workspace) -> (%output0)
      }
    }
    ```

    Constraints:
    - (C1) each input and each output has a name.
    - (C2) the body is the buffers, a `program.prepare` and a `program.run`.
    - (C3) workspace and prepared memory both have a size, or neither has.
    - (C4) `replaces` names a `program.kernel` of this signature. The model then
      prepares nothing, reads no weights and does not launch that kernel.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$signature,
                       StrArrayAttr:$input_names, StrArrayAttr:$output_names,
                       OptionalAttr<FlatSymbolRefAttr>:$replaces,
                       OptionalAttr<I64Attr>:$workspace_bytes,
                       OptionalAttr<I64Attr>:$prepared_bytes);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$signature,
                                 "::llvm::ArrayRef<::llvm::StringRef>":$inputNames,
                                 "::llvm::ArrayRef<::llvm::StringRef>":$outputNames)>];
  let assemblyFormat = [{
    $sym_name `:` $signature `inputs` `(` $input_names `)`
    `outputs` `(` $output_names `)` (`replaces` `(` $replaces^ `)`)?
    (`workspace` `(` $workspace_bytes^ `)`)?
    (`prepared` `(` $prepared_bytes^ `)`)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    PrepareOp getPrepare();
    RunOp getRun();
    /// In the order of the bundle's values.
    auto getBuffers() { return getBody().front().getOps<BufferOpInterface>(); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FACT_PROGRAM_PROGRAMOPS_TD
