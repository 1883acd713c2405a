//===- StridedView.h - Chains of views as base, offset, strides ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_STRIDEDVIEW_H
#define FACT_DIALECT_FACT_STRIDEDVIEW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace fact {
/// The elements of a tensor as positions in another, row-major one: element
/// (i0, i1, ...) is `base[offset + i0 * strides[0] + ...]`. Strides count
/// elements; a broadcast dimension has stride 0.
struct StridedView {
  mlir::Value base;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;

  /// `value` as itself.
  static StridedView identity(mlir::Value value);

  /// Reads through the view ops that define `value`, down to the first value
  /// that is computed or an argument. Fails where a chain cannot be written
  /// with strides (a reshape that merges dimensions apart in memory).
  static mlir::FailureOr<StridedView> get(mlir::Value value);

  /// Where the elements of `value` land in `result`, when all that happens to
  /// `value` until `result` is a chain of views: the inverse direction. `base`
  /// is `result`. Fails when a slice or a broadcast is on the way.
  static mlir::FailureOr<StridedView> getDestination(mlir::Value value,
                                                     mlir::Value result);

  /// The same elements under another shape; fails when strides cannot say it.
  mlir::FailureOr<StridedView> reshape(llvm::ArrayRef<int64_t> newShape) const;
  StridedView permute(llvm::ArrayRef<int64_t> dims) const;
  StridedView slice(int64_t dim, int64_t start, int64_t size,
                    int64_t step) const;
  StridedView expand(llvm::ArrayRef<int64_t> newShape) const;

  /// Broadcasts (with leading dimensions) to the shape of an index space.
  StridedView broadcastTo(llvm::ArrayRef<int64_t> newShape) const {
    return expand(newShape);
  }

  bool isRowMajor() const;
};

/// The row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Merges neighbouring dimensions that every view walks as one, and drops
/// dimensions of size 1; all views have the same shape. The smallest index
/// space for a pointwise kernel.
void collapseDimensions(llvm::MutableArrayRef<StridedView> views);
} // namespace fact

#endif // FACT_DIALECT_FACT_STRIDEDVIEW_H
