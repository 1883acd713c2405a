//===- WindowedView.h - Rows of a product as windows of images --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_WINDOWEDVIEW_H
#define FACT_ANALYSIS_WINDOWEDVIEW_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// A tensor between zeros along one dimension.
struct ZeroPadding {
  mlir::Value source;
  int64_t dim, low;

  /// Reads a concatenation with zeros; none for other ops.
  static std::optional<ZeroPadding> get(mlir::Operation *op);
};

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
