//===- Diagonals.h - Matrices that are zero off the diagonal ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TRANSFORMS_DIAGONALS_H
#define FACT_LIB_TRANSFORMS_DIAGONALS_H

#include "mlir/IR/Builders.h"

namespace fact {
/// Whether the last two dimensions of `value` are those of square matrices that
/// are known to be zero off the diagonal: constants, a vector that is selected
/// where indices are equal (`torch.diag`), products with such matrices, and
/// views and casts of these. A matrix of one element is not counted.
bool isDiagonal(mlir::Value value);

/// The diagonals of such matrices, with a shape that broadcasts to
/// `[batch..., n]`.
mlir::Value buildDiagonal(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value);
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_DIAGONALS_H
