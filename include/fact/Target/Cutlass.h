//===- Cutlass.h - Fused regions as CUDA sources ------------------*- C++ -*-===//

#ifndef FACT_TARGET_CUTLASS_H
#define FACT_TARGET_CUTLASS_H

#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Prints each fact.fused of a module as a kernel for the machine that
/// `fact.target` names (h200 without it): with the op's schedule, or with the
/// one of its space that promises most.
mlir::LogicalResult translateToCutlass(mlir::ModuleOp module,
                                       llvm::raw_ostream &os);

/// Prints each fact.fused as its naive reference.
mlir::LogicalResult translateToCutlassReference(mlir::ModuleOp module,
                                                llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_TARGET_CUTLASS_H
