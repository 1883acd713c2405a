//===- SortedRows.h - The rows of an argsort --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_SORTEDROWS_H
#define FACT_TARGET_SORTEDROWS_H

#include "fact/Target/RowsOf.h"

namespace fact {
/// Rows, and which of the places in sorted order are the result.
struct SortedRows : RowsOf {
  bool descending;
  /// The first `count` places, or only the last of those.
  int64_t count;
  bool onlyLast;

  /// Reads a region of one `argsort` and at most a slice of its last place.
  static mlir::FailureOr<SortedRows> read(FusedOp fused, EmitError emitError) {
    auto op = getOnly<ArgsortOp>(fused);
    auto slice = getOnly<SliceOp>(fused);
    int64_t ops = llvm::range_size(fused.getBodyOps());
    if (!op || ops != (slice ? 2 : 1) || fused.getNumResults() != 1 ||
        !mlir::isa<mlir::BlockArgument>(op.getOperand()))
      return emitError() << "needs exactly one 'fact.argsort', and at most a "
                            "'fact.slice' of it";
    if (failed(requireElements(fused, emitError)))
      return mlir::failure();
    SortedRows rows{RowsOf::get(op), op.getDescending(),
                    op.getType().getDimSize(op.getDim()), bool(slice)};
    if (!slice)
      return rows;
    int64_t start = slice.getStart(), dim = slice.getDim();
    if (slice.getOperand() != op.getResult() ||
        fused.getYield()->getOperand(0) != slice.getResult() ||
        dim != int64_t(op.getDim()) || start + 1 != rows.count ||
        slice.getType().getDimSize(dim) != 1)
      return emitError() << "a slice must be of the last place, "
                         << rows.count - 1 << ", of dimension " << op.getDim();
    return rows;
  }
};
} // namespace fact

#endif // FACT_TARGET_SORTEDROWS_H
