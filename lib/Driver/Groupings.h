//===- Groupings.h - Groupings of one model beside each other ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_DRIVER_GROUPINGS_H
#define FACT_LIB_DRIVER_GROUPINGS_H

#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Whether the kernels of two modules compute the same groups of ops, in the
/// same order.
bool isSameGrouping(mlir::ModuleOp a, mlir::ModuleOp b);

/// Gives kernels that another module has too the search of that module, which
/// refinement may have continued.
void takeSearches(mlir::ModuleOp module, mlir::ModuleOp other);
} // namespace fact

#endif // FACT_LIB_DRIVER_GROUPINGS_H
