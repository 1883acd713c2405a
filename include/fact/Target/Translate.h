//===- Translate.h - Kernels as text ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_TRANSLATE_H
#define FACT_TARGET_TRANSLATE_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
enum class KernelText { candidate, reference };

/// Prints the code of each `fact.fused` of a module: of the op's schedule, else
/// of the best predicted one of its space; or the reference. `defaultMachine`
/// is used if the module names none; a module for another kind is an error.
mlir::LogicalResult translateKernels(mlir::ModuleOp module,
                                     llvm::raw_ostream &os,
                                     llvm::StringRef defaultMachine,
                                     KernelText text);

/// Prints every kind of schedule and its parameters as a page of
/// docs/reference.
void printSchedulePage(mlir::MLIRContext *context, llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_TARGET_TRANSLATE_H
