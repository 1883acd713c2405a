//===- RowReducer.h - Reductions of the elements of a row -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_ROWREDUCER_H
#define FACT_LIB_TARGET_HOST_ROWREDUCER_H

#include "KernelBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fact::host {
/// Writes loops that reduce rows of `columns` elements of type `compute`: one
/// row in vectors of columns, or `together` neighboring rows in the lanes of a
/// vector, column by column.
class RowReducer {
public:
  /// The element at a column (`width` 0), or `width` neighbors: columns of one
  /// row, or rows.
  using Element = llvm::function_ref<Value(Value column, int64_t width)>;

  /// `together` is 0 for one row.
  RowReducer(KernelBuilder &b, Type compute, int64_t columns, int64_t together);

  Value reduce(ReduceKind kind, Element element);
  /// Several rows in one loop, so that their steps do not wait for each other.
  /// Not for positions.
  llvm::SmallVector<Value> reduceRows(ReduceKind kind,
                                      llvm::ArrayRef<Element> rows);
  Value sum(Element element);
  /// How elements are combined, and what changes none; not for positions.
  struct Arithmetic {
    mlir::vector::CombiningKind kind;
    Value initial;
  };
  Arithmetic getArithmetic(ReduceKind kind);
  /// The result of a row from all its elements combined.
  Value finish(ReduceKind kind, Value combined);

  Value combine(mlir::vector::CombiningKind kind, Value x, Value y);
  /// Elements per iteration of a loop over a row, and its columns.
  int64_t getLanes() const { return lanes; }
  int64_t getStep() const { return together ? 1 : lanes; }

private:
  Value scalar(double value) { return b.constant(value, compute); }
  llvm::SmallVector<Value> combineRows(const Arithmetic &arithmetic,
                                       llvm::ArrayRef<Element> rows);
  /// Loops over the columns of the rows in vectors, and over a remainder of
  /// one row one by one.
  llvm::SmallVector<Value> loopOverRow(
      ValueRange state,
      llvm::function_ref<llvm::SmallVector<Value>(Value, int64_t, ValueRange)>
          body,
      llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> joinLanes);
  /// The column of the first extreme element.
  Value findExtreme(bool largest, Element element);
  /// The largest or the smallest value of the type; infinity for floats.
  Value extreme(bool largest);
  mlir::vector::CombiningKind extremeKind(bool largest) const;
  mlir::arith::CmpIPredicate integerOrder(bool largest) const;

  KernelBuilder &b;
  Type compute;
  int64_t columns, together, lanes;
  bool isFloat;
  mlir::arith::FastMathFlags flags;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_ROWREDUCER_H
