//===- PointwisePlan.h - Elementwise results in parts -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are computed in parts. One part computes all results that are neither
// concatenations nor rotary embeddings, over one index space; each input of a
// concatenation, and each half of a rotary embedding, is a part that writes its
// own piece of the result. So is what is computed of each input of a
// concatenation. Pieces whose elements take turns in memory, as real and
// imaginary numbers do, are one part, which writes whole vectors.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TARGET_HOST_POINTWISEPLAN_H
#define FACT_LIB_TARGET_HOST_POINTWISEPLAN_H

#include "Elements.h"

namespace fact::host {
struct PointwisePlan {
  struct Result {
    unsigned number;
    Elements elements;
    StridedView destination;
  };
  struct Part {
    std::vector<Result> results;
    /// The index space, with as few dimensions as possible. Loops over the last
    /// dimension are vectorized.
    llvm::SmallVector<int64_t> shape;

    int64_t getInner() const { return shape.back(); }
    int64_t getOuter() const {
      return llvm::product_of(llvm::ArrayRef(shape).drop_back());
    }
    mlir::LogicalResult shareIndexSpace(EmitError emitError);
    /// Puts dimensions in the order that the results have in memory, so that
    /// rows are written as a whole.
    void orderAsWritten();
    /// Makes results that take turns of a short last dimension, so that loops
    /// are over a longer one.
    void splitShortRows();
    /// The dimension along which elements of leaves are adjacent that are not
    /// so along the last; none if there is no such leaf.
    std::optional<size_t> findTransposed() const;

  private:
    /// Those of results and leaves.
    llvm::SmallVector<StridedView> getViews() const;
    /// Sets them, with as few dimensions as possible.
    void setViews(llvm::MutableArrayRef<StridedView> views);
  };
  std::vector<Part> parts;

  static mlir::FailureOr<PointwisePlan> get(FusedOp fused, EmitError emitError);

private:
  /// Whether the elements of a piece take turns with those of the last part.
  bool isInTurns(const Result &piece) const;
  /// Adds the computation of a result, or of a piece of it.
  mlir::LogicalResult add(unsigned number, const Destination &destination,
                          bool isPiece, EmitError emitError);
  mlir::LogicalResult addResult(unsigned number, Value yielded,
                                EmitError emitError);
};

/// The results at the front whose elements take turns in memory; one if its
/// neighbors are adjacent, or if there is something else between them.
llvm::ArrayRef<PointwisePlan::Result>
getInTurns(llvm::ArrayRef<PointwisePlan::Result> results);

/// Whether the leaf is transposed with the last dimension and `dim` swapped.
bool isTransposed(const Elements::Leaf &leaf, size_t dim);

/// Elements of a block along a dimension: a cache line of most types.
inline int64_t getBlockSize(int64_t extent) {
  return std::min<int64_t>(llvm::bit_floor<uint64_t>(extent), 16);
}
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_POINTWISEPLAN_H
