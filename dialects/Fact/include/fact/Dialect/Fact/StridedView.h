//===- StridedView.h - Chains of views as base, offset, strides -*- C++ -*-===//
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

  /// The view of `value` that is `value` itself.
  static StridedView identity(mlir::Value value);

  /// Follows the view ops that define `value` to the first value that is
  /// computed or an argument. Fails if strides cannot express the chain, such
  /// as a reshape that merges dimensions that are not contiguous.
  static mlir::FailureOr<StridedView> get(mlir::Value value);

  /// The inverse: the position of each element of `value` in `result`, which is
  /// `value` after a chain of reshapes, permutes and placements (Placement.h).
  /// `base` is `result`. Fails if the chain has another op.
  static mlir::FailureOr<StridedView> getDestination(mlir::Value value,
                                                     mlir::Value result);

  /// The same elements under another shape; fails if strides cannot express it.
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

/// Merges adjacent dimensions that are contiguous in every view, and drops
/// dimensions of size 1, for the smallest index space of a pointwise kernel.
/// All views must have the same shape.
void collapseDimensions(llvm::MutableArrayRef<StridedView> views);
} // namespace fact

#endif // FACT_DIALECT_FACT_STRIDEDVIEW_H
