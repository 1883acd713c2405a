//===- TorchDialect.td - The import shim of torch-mlir -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_TORCH_TORCHDIALECT_TD
#define FACT_DIALECT_TORCH_TORCHDIALECT_TD

include "mlir/IR/OpBase.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::fact::torch";
  let summary = "Enough of torch-mlir's dialect to read its text";
  let description = [{
    Reads and prints the text that torch-mlir writes, in its pretty and in its
    generic form, without linking torch-mlir, whose LLVM is another one. Types
    are defined here; ops are unregistered, and one grammar covers them:

    ```mlir
    %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    ```

    What an op means is known only to the conversion to FACT.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Reads the pretty form of an op of this dialect.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;

    /// Prints what `getParseOperationHook` reads.
    ::llvm::unique_function<void(::mlir::Operation *, ::mlir::OpAsmPrinter &)>
    getOperationPrinter(::mlir::Operation *op) const override;
  }];
}

#endif // FACT_DIALECT_TORCH_TORCHDIALECT_TD
