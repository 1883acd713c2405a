//===- RowPlaces.h - Gathers of one element of each row ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_ROWPLACES_H
#define FACT_DIALECT_FACT_ROWPLACES_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// On a gather of one element of each row of a matrix from its flattened
/// elements, the size n of a row: index k, in row-major order, is known to be
/// in `[k * p, k * p + n)`, where p is the number of elements for each index;
/// rows have padding behind them where it is larger than n. PyTorch refuses
/// other indices of `aten.gather`; those of `aten.index_select` may be in any
/// row, so that only import can tell. A gather that is built anew does not have
/// it.
inline constexpr llvm::StringLiteral rowSizeName = "fact.row_size";

std::optional<int64_t> getRowSize(GatherOp gather);
void setRowSize(GatherOp gather, std::optional<int64_t> size);

/// Whether an op may have the attribute with this value; if not, emits an
/// error.
mlir::LogicalResult verifyRowSize(mlir::Operation *op, mlir::Attribute size);
} // namespace fact

#endif // FACT_DIALECT_FACT_ROWPLACES_H
