//===- Bands.h - Matrices that are zero outside of a band -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Triangular factors, and products of which a triangle is used: which part of
// the last two dimensions of a value may differ from zero, and which part of it
// is used. Kernels multiply nothing elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_BANDS_H
#define FACT_ANALYSIS_BANDS_H

#include "fact/Dialect/Fact/Fact.h"
#include "llvm/ADT/DenseMap.h"
#include <array>

namespace fact {
/// The elements [i, j] of matrices with `lower <= j - i <= upper`.
struct Band {
  /// No bound. Sums of it and of extents of matrices fit into 32 bits.
  static constexpr int64_t none = 1 << 29;
  int64_t lower = -none, upper = none;

  bool isBounded() const { return lower > -none || upper < none; }
  bool isEmpty() const { return lower > upper; }
  bool operator==(const Band &other) const {
    return lower == other.lower && upper == other.upper;
  }
  bool operator!=(const Band &other) const { return !(*this == other); }

  /// The elements of both, and the smallest band with the elements of either.
  Band intersect(const Band &other) const;
  Band unite(const Band &other) const;
  Band transpose() const { return {-upper, -lower}; }
  /// The same elements, that many columns to the right.
  Band shift(int64_t columns) const;
  /// The band of a product of matrices with these bands.
  Band multiply(const Band &other) const;
  /// The elements outside, if they are a band: those of one bound.
  std::optional<Band> complement() const;
  /// How many elements of a matrix it has.
  double countElements(int64_t rows, int64_t columns) const;
};

/// Finds bands of values. Values outside of kernels are followed to constants
/// and to masks; the arguments of a marked kernel (`fact.bands`) are as it
/// says.
class BandAnalysis {
public:
  /// Where the last two dimensions of a value may differ from zero: an
  /// unbounded band if nothing is known. 0 times an infinity counts as 0.
  Band getNonzero(mlir::Value value);
  /// Where a boolean value is true, if it is false exactly elsewhere.
  std::optional<Band> getTrue(mlir::Value value);
  /// Which part of a value its kernel uses. The kernel may have any number that
  /// is no NaN or infinity in the rest, which a factor of 0 makes 0; where only
  /// `selects` count, any value.
  Band getUsed(mlir::Value value, bool selects = false);

  /// The weights whose data the band of a value follows from. Using the band
  /// means baking them.
  llvm::ArrayRef<mlir::Operation *> getWeights(mlir::Value value) {
    return get(value).weights;
  }

private:
  struct Known {
    Band band;
    /// Whether no element of the band is 0.
    bool isExact = false;
    llvm::SmallVector<mlir::Operation *, 1> weights = {};
  };
  const Known &get(mlir::Value value);
  Known compute(mlir::Value value);
  Known computeSelected(SelectOp select);
  Band getUsedBy(mlir::OpOperand &use, bool selects);
  /// The same of an operand, unless the op broadcasts its matrices.
  Known getOperand(mlir::Operation *op, unsigned number);

  llvm::DenseMap<mlir::Value, Known> known;
  /// By `selects`.
  std::array<llvm::DenseMap<mlir::Value, Band>, 2> knownUsed;
};

/// The bands of a product: those of its factors as [M, K] and [K, N], outside
/// of which they are 0, and the part of its result that is used and may differ
/// from 0. Batches that became rows leave only that of the rhs.
struct ProductBands {
  Band lhs, rhs, result;

  bool isBounded() const {
    return lhs.isBounded() || rhs.isBounded() || result.isBounded();
  }
  static ProductBands get(MatmulOp matmul, bool foldsBatches);
};

/// The bands of a kernel's operands, as `fact.bands` says: outside of it, an
/// operand is 0; a boolean one is true inside. Empty if the kernel has none.
llvm::SmallVector<Band> getOperandBands(FusedOp fused);
void setOperandBands(FusedOp fused, llvm::ArrayRef<Band> bands);
} // namespace fact

#endif // FACT_ANALYSIS_BANDS_H
