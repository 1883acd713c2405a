//===- RowOperand.h - What a row kernel reads -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_ROWOPERAND_H
#define FACT_LIB_TARGET_CUDA_ROWOPERAND_H

#include "Emission.h"
#include "fact/Analysis/RowRegion.h"

namespace fact {
/// The least shape in which each reshape of the values around has dimensions of
/// its own; `shape` if there is none.
llvm::SmallVector<int64_t> getCommonShape(llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<mlir::Value> values);

/// The index space of rows: dimensions of a row's number, then of a column's.
struct RowSpace {
  llvm::SmallVector<int64_t> shape;
  size_t rowDims = 1;

  /// [rows, columns].
  static RowSpace getMatrix(const RowRegion &region) {
    return {{region.rows, region.columns}, 1};
  }
  /// The least space in which each full tensor around the row op has dimensions
  /// of its own: [n, group, channel, pixel] of a group norm.
  static RowSpace getCommon(const RowRegion &region);

  /// The strides that number the rows.
  llvm::SmallVector<int64_t> getRowStrides() const;
  /// The same rows with one element each.
  RowSpace dropColumns() const;
};

/// A matrix, a vector or a scalar of rows, or a table: a small one that rows
/// share, or contiguous rows at several strides, such as heads that are
/// permuted.
struct RowOperand {
  MatrixTensor tensor;
  /// Of a table: its view of the rows and of the columns.
  std::optional<std::pair<StridedView, StridedView>> table;
  /// Whether it has an element of its own for each of the rows'.
  bool isFull = false;
  /// Of its buffer.
  int64_t elements = 0;

  static mlir::FailureOr<RowOperand>
  get(const ScalarFunction::Argument &argument, const RowSpace &space,
      EmitError emitError);

  /// Whether vectors of so many elements are one access; small tables take any.
  bool allowsVector(int64_t vector) const;
  double countBytes(const RowRegion &region) const;
  /// Lines of the cache that an element's share of its load touches.
  double countLines(int64_t vector) const;
  /// A matrix is `Streamed<...>` if `streams`.
  void print(llvm::raw_ostream &os, bool streams) const;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_ROWOPERAND_H
