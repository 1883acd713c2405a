//===- Translate.h - Kernels as text ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_TRANSLATE_H
#define FACT_TARGET_TRANSLATE_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
enum class KernelText { candidate, reference };

/// Prints what the emitters of a target write for each `fact.fused` of a
/// module: with the op's schedule, or the one of its space that promises most,
/// or its reference. `defaultMachine` stands in where the module names none;
/// one of another kind is an error.
mlir::LogicalResult translateKernels(mlir::ModuleOp module,
                                     llvm::raw_ostream &os,
                                     llvm::StringRef defaultMachine,
                                     KernelText text);

/// Prints every kind of schedule and its parameters as a page of docs/reference.
void printSchedulePage(mlir::MLIRContext *context, llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_TARGET_TRANSLATE_H
