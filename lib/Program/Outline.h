//===- Outline.h - From a discovered function to launches -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_PROGRAM_OUTLINE_H
#define FACT_LIB_PROGRAM_OUTLINE_H

#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Replaces the one function of a discovered module by its kernels and a
/// `program.model`.
mlir::LogicalResult outlineProgram(mlir::ModuleOp module);
} // namespace fact

#endif // FACT_LIB_PROGRAM_OUTLINE_H
