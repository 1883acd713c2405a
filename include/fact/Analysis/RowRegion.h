//===- RowRegion.h - A norm, softmax or reduction in a region ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The region reader for row kernels: pointwise ops, one op on the rows of a
// matrix, pointwise ops.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_ROWREGION_H
#define FACT_ANALYSIS_ROWREGION_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// A region with one row op over the last dimensions of its operand, which is
/// read as a matrix [rows, columns].
struct RowRegion {
  /// The norm, softmax or reduction.
  mlir::Operation *op;
  int64_t rows, columns;

  struct Result {
    mlir::Value yielded;
    /// Whether it has all columns, not one element per row.
    bool isFull;
  };
  llvm::SmallVector<Result> results;

  static mlir::FailureOr<RowRegion> read(FusedOp fused, EmitError emitError);

  mlir::Value getInput() const { return op->getOperand(0); }
  mlir::Value getOutput() const { return op->getResult(0); }
  /// Those of a norm, each with the elements of one row; null where there are
  /// none.
  mlir::Value getWeight() const;
  mlir::Value getBias() const;
  /// Whether the op's output has one element per row.
  bool isReduction() const { return mlir::isa<ReduceOp>(op); }
};
} // namespace fact

#endif // FACT_ANALYSIS_ROWREGION_H
