//===- FactDialect.td - The FACT dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTDIALECT_TD
#define FACT_DIALECT_FACT_FACTDIALECT_TD

include "mlir/IR/OpBase.td"

def Fact_Dialect : Dialect {
  let name = "fact";
  let cppNamespace = "::fact";
  let summary = "Tensor graphs, the subgraphs to fuse, and schedules of their kernels";
  let description = [{
    The FACT dialect represents a PyTorch module as a graph of ops on builtin
    ranked tensors (`fact.matmul`, `fact.attention`, `fact.gelu`), the subgraphs
    that become one kernel each (`fact.fused`), and the schedules of those
    kernels as attributes (`#fact.sm90_gemm`).

    Every tensor is row-major. A 16-bit element type is a storage type: inside
    of a `fact.fused` region values are f32, and they are rounded at
    `fact.yield`, at the operands of a contraction and at a narrowing
    `fact.cast`.
  }];
  // The mnemonic of a schedule or space is the name of its kind.
  let useDefaultAttributePrinterParser = 0;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasCanonicalizer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;

    /// Registers `#fact.<name>` and `#fact.<name>_space`. `kind` must outlive the
    /// context.
    void addScheduleKind(const ::fact::ScheduleKind &kind);

  private:
    ::llvm::StringMap<const ::fact::ScheduleKind *> scheduleKinds;

  public:
  }];
}

#endif // FACT_DIALECT_FACT_FACTDIALECT_TD
