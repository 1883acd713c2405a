//===- FactDialect.td - The FACT dialect --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTDIALECT_TD
#define FACT_DIALECT_FACT_FACTDIALECT_TD

include "mlir/IR/OpBase.td"

def Fact_Dialect : Dialect {
  let name = "fact";
  let cppNamespace = "::fact";
  let summary = "Tensor programs, the subgraphs to fuse in them, and how to run those";
  let description = [{
    The FACT dialect holds a PyTorch module as a graph of whole operations on
    builtin ranked tensors (`fact.matmul`, `fact.attention`, `fact.gelu`), the
    subgraphs that become one kernel each (`fact.fused`), and the schedules of
    those kernels as attributes (`#fact.sm90_gemm`).

    Every tensor is row-major. A 16-bit element type is a storage type: inside
    a `fact.fused` region values are f32 and round at `fact.yield`, at the
    operands of a contraction and at a narrowing `fact.cast`.
  }];
  // Schedules and spaces are written by the names of their kinds.
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

    /// Makes `#fact.<name>` and `#fact.<name>_space` known. `kind` lives as long
    /// as the context.
    void addScheduleKind(const ::fact::ScheduleKind &kind);

  private:
    ::llvm::StringMap<const ::fact::ScheduleKind *> scheduleKinds;

  public:
  }];
}

#endif // FACT_DIALECT_FACT_FACTDIALECT_TD
