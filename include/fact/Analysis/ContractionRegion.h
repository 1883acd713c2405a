//===- ContractionRegion.h - A region as products of one lhs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_CONTRACTIONREGION_H
#define FACT_ANALYSIS_CONTRACTIONREGION_H

#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Schedule.h"

namespace fact {
/// A region of matmuls that share their lhs, as every target reads it: the
/// factors, the reductions of values computed from the products, and the
/// results. How a kernel addresses the factors, how it computes the pointwise
/// ops, and what its hardware limits are is left to the target.
struct ContractionRegion {
  /// The number of products, and how results read them.
  enum class Kind {
    /// One product.
    Single,
    /// Two products of different weights that results combine.
    Gated,
    /// Two or more products, of which each result reads one.
    Grouped
  };

  struct Options {
    Kind kind = Kind::Single;
    /// Whether batches become rows where one rhs serves all of them, and how
    /// many of their leading dimensions stay batches nonetheless.
    bool foldBatches = true;
    size_t batchDims = 0;
    /// Whether batches that share the rhs become rows, and rows batches, unless
    /// batches are folded.
    bool swapBatches = false;
    /// Whether a factor may be a constant of the region.
    bool constantFactors = false;
    /// Whether the rows of the lhs may be windows that strides cannot describe.
    bool windows = false;
  };

  struct Product {
    mutable MatmulOp matmul;
    int64_t n;
    /// [batch..., k, n]; broadcast batches have stride 0.
    StridedView rhs;
  };

  /// A reduction over whole rows of a product-shaped value, with one element
  /// per row, or over whole columns.
  struct Reduction {
    mutable ReduceOp op;
    bool ofRows;
    /// The reduced value: the op's operand, before a permute that only brings
    /// the reduced dimensions to its end.
    mlir::Value input;
    int64_t n;
    /// The products that `input` reads, ascending.
    llvm::SmallVector<unsigned> products;
    /// For a sum of exponentials of `input` against its maximum, which is
    /// another reduction: the number of that one. `input` is not yet shifted.
    std::optional<unsigned> maximum = std::nullopt;
    /// Whether an infinite maximum counts as 0.
    bool isGuarded = false;
  };

  /// The elements of a result: one per element of the product, or one per
  /// reduced row or column.
  enum class Form { Full, PerRow, PerColumn };
  struct Result {
    unsigned number;
    mlir::Value yielded;
    Form form;
    int64_t n;
    /// The products that the result reads, ascending.
    llvm::SmallVector<unsigned> products;
  };

  /// Products of one width that results or reductions combine.
  struct Segment {
    int64_t n;
    llvm::SmallVector<unsigned> products, reductions, results;
  };

  /// Rows of one product, with all batches where they are folded, and the
  /// length of its sums.
  int64_t m = 0, k = 0;
  /// Products that have an rhs each; 1 where batches are folded.
  int64_t batches = 1;
  /// Whether these are the rows of the ops, and `m` their batches.
  bool isSwapped = false;
  /// [batch..., rows, k], with the batch sizes of the products; empty if the
  /// rows are `windows`.
  StridedView lhs;
  std::optional<WindowedView> windows;
  llvm::SmallVector<Product> products;
  /// In the order of the ops.
  llvm::SmallVector<Reduction> reductions;
  /// In the order of the results.
  llvm::SmallVector<Result> results;
  /// In the order of their first products.
  llvm::SmallVector<Segment> segments;

  /// Reads a region, or says what stands in the way.
  static mlir::FailureOr<ContractionRegion>
  get(FusedOp fused, const Options &options, EmitError emitError);

  mlir::Type getElementType() const {
    return products.front().matmul.getLhs().getType().getElementType();
  }
  /// Whether all batches have the same rhs.
  bool isShared() const;
  /// Rows of all products.
  int64_t getRows() const { return batches * m; }
  /// Whether the only result is the only product itself.
  bool isPlain() const {
    return products.size() == 1 && results.size() == 1 &&
           results.front().yielded == products.front().matmul.getResult();
  }
};

/// Whether all batches of a factor [batches..., rows, columns] read the same
/// matrix.
bool isShared(const StridedView &factor);
} // namespace fact

#endif // FACT_ANALYSIS_CONTRACTIONREGION_H
