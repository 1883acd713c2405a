//===- WindowedView.h - Rows of a product as windows of images --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_WINDOWEDVIEW_H
#define FACT_ANALYSIS_WINDOWEDVIEW_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// A tensor between equal elements along one dimension.
struct SplatPadding {
  mlir::Value source;
  int64_t dim, low;
  /// The element.
  mlir::TypedAttr fill;

  /// Reads a concatenation with splats of one element; none for other ops.
  static std::optional<SplatPadding> get(mlir::Operation *op);
};

/// A tensor between zeros along one dimension.
struct ZeroPadding : SplatPadding {
  /// Reads a concatenation with zeros; none for other ops.
  static std::optional<ZeroPadding> get(mlir::Operation *op);
};

/// What windows are of, without the equal elements around it.
struct PaddedImage {
  mlir::Value source;
  /// Dimension i of the windows' operand is dimension `order[i]` of the source,
  /// with `low[i]` elements of the padding before it.
  llvm::SmallVector<int64_t> order, low;
  /// The element of the padding; null: there is none.
  mlir::TypedAttr fill;

  static PaddedImage get(WindowsOp windows, bool onlyZeros);
};

/// The windows that a reduction reduces, through pointwise ops that combine
/// them with other values; null for other reductions.
WindowsOp getReducedWindows(ReduceOp reduce);

/// Windows of images between zeros, as the rows of a product, where strides
/// cannot say it: row (batch..., place...), column (tap..., channel).
struct WindowedView {
  /// [batch..., size..., channel] of an argument or a constant, without the
  /// zeros.
  StridedView image;
  /// For each dimension of a window: zeros before the first element, the number
  /// of windows, and their form.
  llvm::SmallVector<int64_t> zeros, counts, kernel, strides, dilations;

  /// Follows reshapes to `fact.windows`, and further to what they are of. Fails
  /// for other values, and if columns are not whole windows.
  static mlir::FailureOr<WindowedView> get(mlir::Value rows);

  size_t getBatchRank() const { return image.shape.size() - counts.size() - 1; }
  int64_t getChannels() const { return image.shape.back(); }
  int64_t getRows() const;
};
} // namespace fact

#endif // FACT_ANALYSIS_WINDOWEDVIEW_H
