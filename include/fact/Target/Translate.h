//===- Translate.h - Kernels as text ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_TRANSLATE_H
#define FACT_TARGET_TRANSLATE_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
enum class KernelText { candidate, reference };

/// The target of a module's machine, else of `defaultMachine`; a module for
/// another kind of machine is an error.
mlir::FailureOr<std::unique_ptr<Target>>
createTranslationTarget(mlir::ModuleOp module, llvm::StringRef defaultMachine);

/// Emits the code of each `fact.fused` of a module, and passes it on with the
/// symbol that exports it: of the op's schedule, else of the best predicted one
/// of its space; or the reference.
mlir::LogicalResult emitKernels(
    mlir::ModuleOp module, const Target &target, KernelText text,
    llvm::function_ref<void(FusedOp, llvm::StringRef, const KernelCode &)>
        receive);

/// Prints what `emitKernels` emits.
mlir::LogicalResult translateKernels(mlir::ModuleOp module,
                                     llvm::raw_ostream &os,
                                     llvm::StringRef defaultMachine,
                                     KernelText text);

/// Writes CUDA kernels as a project of their own: a source of each, the headers
/// that these include, `kernels.h`, which declares the kernels, and a
/// `CMakeLists.txt` that builds a library of them with CUTLASS.
mlir::LogicalResult splitKernels(mlir::ModuleOp module, llvm::StringRef folder,
                                 llvm::StringRef defaultMachine);

/// Prints every kind of schedule and its parameters as a page of
/// docs/reference.
void printSchedulePage(mlir::MLIRContext *context, llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_TARGET_TRANSLATE_H
