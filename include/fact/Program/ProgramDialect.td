//===- ProgramDialect.td - The program dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_PROGRAMDIALECT_TD
#define FACT_PROGRAM_PROGRAMDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Program_Dialect : Dialect {
  let name = "program";
  let cppNamespace = "::fact::program";
  let summary = "Launches of kernels on buffers, and the offsets of the buffers";
  let description = [{
    The execution of a model. `program.kernel` holds one `fact.fused` per
    distinct kernel, `program.model` the buffers and the launches on them, in
    order: those of `program.prepare` run after weights are loaded, those of
    `program.run` on each call. A bundle is written from it.

    `--fact-outline-program` makes a program from a discovered function;
    `--fact-plan-memory` gives its buffers their offsets.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Program_Buffer
    : TypeDef<Program_Dialect, "Buffer">,
      BuildableType<"$_builder.getType<::fact::program::BufferType>()"> {
  let mnemonic = "buffer";
  let summary = "memory of one row-major tensor";
  let description = [{
    The op that defines a buffer says whose memory it is and which tensor it
    holds. A kernel may read the tensor under another shape.
  }];
}

def Program_Memory : I32EnumAttr<"Memory", "what the program allocates", [
    I32EnumAttrCase<"prepared", 0>, I32EnumAttrCase<"workspace", 1>]> {
  let cppNamespace = "::fact::program";
}

#endif // FACT_PROGRAM_PROGRAMDIALECT_TD
